"""DESIGN.md tells the truth: the layout that it draws is the tree's."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("engine", "nodes", "esql", "parsers", "flows", "spark_exec")


def _rows() -> dict[str, str]:
    """Returns the packages of DESIGN.md's layout, each with what its lines say."""
    layout = (ROOT / "DESIGN.md").read_text("utf-8").partition("## 1. Layout")[2].partition("## 2.")[0]
    rows: dict[str, str] = {}
    folder = ""
    for line in re.findall(r"^    (.*)$", layout, re.MULTILINE):
        named = re.match(r"([\w/<>]+)/ +(.*)", line)
        folder, text = (named[1], named[2]) if named else (folder, line)
        rows[folder] = f"{rows.get(folder, '')} {text}"
    return rows


def test_every_folder_and_module_of_the_layout_is_there() -> None:
    """A folder or module that the layout names exists."""
    missing = [row for row in _rows() if "<" not in row and not (ROOT / row).is_dir()]
    modules = [(row, name) for row, text in _rows().items() for name in re.findall(r"\b\w+\.py\b", text)]
    missing += [f"{row}/{name}" for row, name in modules if not (ROOT / row / name).is_file()]

    assert missing == []
    assert len(modules) > 50


def test_every_file_of_the_walks_is_there() -> None:
    """A path that the walks of DESIGN.md name exists."""
    walks = (ROOT / "DESIGN.md").read_text("utf-8").partition("### Five walks")[2].partition("## 4.")[0]
    named = re.findall(rf"\b(?:{'|'.join(PACKAGES)})/[\w/.]+\w/?", walks)

    assert [path for path in named if not (ROOT / path).exists()] == []
    assert len(named) > 40


def test_every_package_stands_in_the_layout() -> None:
    """A package of the product has a line in the layout."""
    packages = {
        path.parent.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("__init__.py")
        if "generated" not in path.parts
    }

    assert sorted(packages - set(_rows())) == []
