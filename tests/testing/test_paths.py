"""Paths and values of test files."""

from __future__ import annotations

from datetime import date

import pytest

from engine.testing.case import Text, Tree
from engine.testing.paths import fill, find, nearest, read_path
from engine.testing.verdict import agrees
from engine.tree.element import Element


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("OutputRoot.XMLNSC.a[2].b", ("Root", ("XMLNSC", "a[2]", "b"), False)),
        ("MQMD.Priority", ("Root", ("MQMD", "Priority"), False)),
        ("DestinationList", ("LocalEnvironment", (), False)),
        ("Environment.a[]", ("Environment", ("a",), True)),
        ('Root."a.b".{urn:x}c[>]', ("Root", ('"a.b"', "{urn:x}c[>]"), False)),
    ],
)
def test_reading(text: str, expected: object) -> None:
    """A path has a tree, steps, and maybe a count."""
    assert expected == read_path(text, ["MQMD"])


def test_filling_and_finding() -> None:
    """What is put at a path is found there: tables, lists and values of the types that they look like."""
    top = Element("Environment")
    given: Tree = {"b": (Text("1"), Text("1", is_plain=False)), "c": Text("true"), "d": {"e": Text("X'0a'")}}
    fill(top, ("a",), given)
    paths = ["b[1]", "b[2]", "b[<]", "c", "e", "d.e"]
    found = [find(top, ("a", *path.split("."))) for path in paths]
    assert [1, "1", "1", True, None, b"\n"] == [None if one is None else one.value for one in found]
    assert nearest(top, ("a", "x", "y")) == "a has b, c, d"


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("7", 7, True),
        ("7", "7", True),
        ("7.0", 7, True),
        ("7.0", "7", False),
        ("a", "a  ", True),
        ("a", " a", False),
        ("0.1", 0.1, True),
        ("x", 7, False),
        ("TRUE", True, True),
        ("X'0A'", b"\n", True),
        ("2026-01-02", date(2026, 1, 2), True),
        ("DATE '2026-01-02'", date(2026, 1, 2), True),
        (None, None, True),
        ("", None, False),
        (None, "", False),
    ],
)
def test_agreement(text: str | None, value: object, expected: bool) -> None:
    """What is written agrees with a value of any type that is the same in that type."""
    assert expected == agrees(Text(text), value)
