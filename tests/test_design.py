"""DESIGN.md tells the truth: the layout that it draws is the tree's."""

import re

from tests.sources import PACKAGES, ROOT


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


def test_sizes_of_rooms() -> None:
    """Every room has a line in the table of sizes, which is right within a tenth."""
    table = (ROOT / "DESIGN.md").read_text("utf-8").partition("## 11. ")[2]
    rows = re.findall(r"^\| ([\w/]+)(?: \([^|]*\))? \| ([\d,]+) \|", table, re.MULTILINE)
    told = {room: int(lines.replace(",", "")) for room, lines in rows}
    sizes = dict.fromkeys(told, 0)
    for path in (path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        folders = path.relative_to(ROOT).parts[:-1]
        if "generated" not in folders:
            room = "/".join(folders[:2] if folders[0] == "engine" else folders[:1])
            sizes[room] = sizes.get(room, 0) + path.read_text("utf-8").count("\n")

    assert {
        room: (lines, told.get(room)) for room, lines in sizes.items() if not 0.9 < told.get(room, 0) / lines < 1.1
    } == {}
