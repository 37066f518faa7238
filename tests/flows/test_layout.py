"""Layout files: positions of nodes, apart from the flow."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from flows.layout import FARTHEST, layout_file, layout_of, read_layout
from tests.flows.strategies import names

places = st.integers(-FARTHEST, FARTHEST)


@given(st.dictionaries(names, st.tuples(places, places)))
def test_written_layouts_are_read_back(layout: dict[str, tuple[int, int]]) -> None:
    """Reading what was written gives the same positions."""
    places_of = {label: list(place) for label, place in layout.items()}
    written = yaml.safe_dump(places_of, allow_unicode=True, width=1 << 30) if layout else ""
    assert read_layout(written, "") == (layout, ())


@pytest.mark.parametrize(
    ("text", "layout", "problems"),
    [
        ("", {}, []),
        ("In: [1, 2]\nOut 1: [-3, 4]\n", {"In": (1, 2), "Out 1": (-3, 4)}, []),
        ("In: [1]\nOut: [1, 2]", {"Out": (1, 2)}, ["BIP2087 x:1:1: In must have a position, [x, y]"]),
        ("In: [1, b]", {}, ["BIP2087 x:1:1: In must have a position, [x, y]"]),
        ("In: [1, 999999]", {}, ["BIP2087 x:1:1: In must have a position, [x, y]"]),
        ("- In", {}, ["BIP2087 x:1:1: a layout must be a table, `Label: [x, y]`"]),
        ("In: &a [1, 2]\nOut: *a", {}, ["BIP2087 x:1:5: &a is an anchor; flow files have none"]),
    ],
)
def test_layout_files(text: str, layout: dict[str, tuple[int, int]], problems: list[str]) -> None:
    """Good lines count, the others are problems."""
    found, complaints = read_layout(text, "x")
    assert (found, [str(problem) for problem in complaints]) == (layout, problems)


def test_a_layout_file_stands_beside_its_flow(tmp_path: Path) -> None:
    """Its name says whose it is; it need not be there."""
    assert layout_file("a/b.c.yaml") == "a/b.c.layout.yaml"
    assert layout_of(str(tmp_path / "a.yaml")) == ({}, ())
    (tmp_path / "a.layout.yaml").write_bytes(b"\xef\xbb\xbfIn: [1, 2]\r\n")
    assert layout_of(str(tmp_path / "a.yaml")) == ({"In": (1, 2)}, ())


def test_a_layout_file_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    """It is said where, and what to do; nothing is placed by half of a file."""
    layout = tmp_path / "a.layout.yaml"
    layout.write_bytes(b"In: [1, 2]\nB\xff: [1]\n")
    found, (problem,) = layout_of(str(tmp_path / "a.yaml"))
    assert ({}, f"BIP2087 {layout}:2:2: not UTF-8; save the file as UTF-8") == (found, str(problem))
    layout.unlink()
    layout.mkdir()
    found, (problem,) = layout_of(str(tmp_path / "a.yaml"))
    assert ({}, f"BIP2087 {layout}: cannot be read: Is a directory; name a file in it") == (found, str(problem))
