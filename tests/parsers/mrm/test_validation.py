"""Validation: what is said of trees that are not what their model says, and when."""

from __future__ import annotations

import doctest
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pytest

import parsers.mrm
from engine.errors import ParserException
from engine.parser import NO_OPTIONS, Options
from parsers.mrm import problems_of
from parsers.mrm.cwf.properties import CwfField
from parsers.mrm.model import Field, Group, SimpleType
from tests.parsers.mrm.records import TEMPLATE, built, field, parser, read

INNER = Group((field("x", "byte"), field("y", "byte", min_occurs=0)))
MRM = parser(
    field("a", "byte"),
    field("b", "string", {"length": 1}, min_occurs=0, max_occurs=2),
    Group((field("c", "byte"), field("d", "byte")), "choice"),
    Field("inner", INNER, min_occurs=0),
    field("n", "byte", nullable=True, min_occurs=0),
)

TREES: list[tuple[dict[str, Any], str]] = [
    ({"a": 1, "c": 2}, ""),
    ({"a": 1, "b": ["x", "y"], "d": 2, "inner": {"x": 1}, "n": None}, ""),
    ({"c": 2}, "M.a occurs 0 times, and must 1 times"),
    ({"a": 1, "b": ["x", "y", "z"], "c": 2}, "M.b occurs 3 times, and may 2 times"),
    ({"a": 1, "c": 2, "d": 3}, "M is a choice, and more than one of it is there: c, d"),
    ({"a": 1, "c": 2, "z": 3}, "M has no field called z"),
    ({"a": 1, "c": 2, "inner": {"y": 3}}, "M.inner.x occurs 0 times"),
    ({"c": 2, "a": 1}, "M.a is out of order"),
    ({"a": None, "c": 2}, "M.a is NULL, and may not be"),
    ({"a": 128, "c": 2}, "M.a is 128, and does not fit into type byte"),
    ({"a": "one", "c": 2, "z": 1}, "M.a is 'one', and must be of type byte (and 1 more)"),
]


@pytest.mark.parametrize(("values", "said"), TREES)
def test_trees(values: dict[str, Any], said: str) -> None:
    """What is missing, too much, unknown or out of order in a tree is said with its path."""
    tree = built(MRM, **values)
    if not said:
        MRM.validate(tree, TEMPLATE, values=True)
        return
    with pytest.raises(ParserException) as caught:
        MRM.validate(tree, TEMPLATE, values=True)
    assert caught.value.text.startswith(said)


@pytest.mark.parametrize(
    ("kind", "default", "value", "other"),
    [
        ("boolean", "true", True, False),
        ("int", "07", 7, 8),
        ("decimal", "1.5", Decimal("1.50"), Decimal("1.51")),
        ("double", "1", 1.0, 1.5),
        ("binary", "0A", b"\n", b"\r"),
        ("dateTime", "2004-10-07T11:16:56", datetime(2004, 10, 7, 11, 16, 56), datetime(2004, 10, 7, 11, 16, 57)),
        ("string", "AB", "AB  ", "AC"),
    ],
)
def test_fixed_values(kind: Any, default: str, value: Any, other: Any) -> None:
    """A value that is fixed may be written otherwise than the model has it."""
    fixed = parser(Field("a", SimpleType(kind), default=default, fixed=True, physical={"CWF": CwfField(length=4)}))
    fixed.validate(built(fixed, a=value), TEMPLATE, values=True)
    with pytest.raises(ParserException, match=f"must be {default}"):
        fixed.validate(built(fixed, a=other), TEMPLATE, values=True)


def test_content_without_values() -> None:
    """Content alone is validated whatever the values are."""
    MRM.validate(built(MRM, a=128, c=2), TEMPLATE, values=False)


VALUES: list[tuple[SimpleType, Any, str]] = [
    (SimpleType("string", length=2), "AB", ""),
    (SimpleType("string", length=2), "A", "is 'A', and must be 2 long"),
    (SimpleType("string", min_length=2), "A", "is 'A', and must be 2 long at least"),
    (SimpleType("binary", max_length=1), b"AB", "is b'AB', and may be 1 long at most"),
    (SimpleType("string", enumeration=("A", "B")), "A  ", ""),
    (SimpleType("string", enumeration=("A", "B")), "C", "is 'C', and must be one of A, B"),
    (SimpleType("decimal", enumeration=("1.0",)), Decimal("1.00"), ""),
    (SimpleType("string", pattern="[A-Z]+"), "AB1", "is 'AB1', and must match [A-Z]+"),
    (SimpleType("string", pattern="(a+)+b"), "a" * 64, "and must match (a+)+b"),
    (SimpleType("int", min_inclusive="5"), 5, ""),
    (SimpleType("int", min_inclusive="5"), 4, "is 4, and must be at least 5"),
    (SimpleType("decimal", max_exclusive="1.5"), Decimal("1.5"), "is 1.5, and must be less than 1.5"),
    (SimpleType("double", min_exclusive="0"), 0.0, "is 0.0, and must be more than 0"),
    (SimpleType("date", max_inclusive="2004-02-29"), date(2004, 3, 1), "is 2004-03-01, and must be at most 2004-02-29"),
    (SimpleType("dateTime", max_inclusive="2004-02-29T11:16:56.5"), datetime(2004, 2, 29, 11, 16, 56, 500_000), ""),
    (SimpleType("time", enumeration=("09:00:00Z",)), time(9, tzinfo=UTC), ""),
    (SimpleType("time", min_inclusive="09:00:00Z"), time(8, 59, tzinfo=UTC), "and must be at least 09:00:00Z"),
    (SimpleType("gYear", min_inclusive="2005"), date(2004, 1, 1), "is 2004-01-01, and must be at least 2005"),
    (SimpleType("boolean", enumeration=("1",)), True, ""),
    (SimpleType("decimal", total_digits=3), Decimal("12.34"), "is 12.34, and may have 3 digits"),
    (SimpleType("decimal", total_digits=3, fraction_digits=1), Decimal("12.30"), ""),
    (SimpleType("decimal", fraction_digits=1), Decimal("12.34"), "is 12.34, and may have 1 digits behind"),
    (SimpleType("int"), True, "is True, and must be of type int"),
    (SimpleType("unsignedByte"), -1, "is -1, and does not fit into type unsignedByte"),
]


@pytest.mark.parametrize(("type_", "value", "said"), VALUES)
def test_values(type_: SimpleType, value: Any, said: str) -> None:
    """What a value is that its type does not allow is said."""
    found = list(problems_of(value, type_))
    assert bool(said) == bool(found)
    assert said in "".join(found)


@pytest.mark.parametrize("how", ["content", "contentAndValue"])
def test_when_it_is_read(how: str) -> None:
    """A message that is to be validated is so when it is first looked at."""
    mrm = parser(field("a", SimpleType("string", enumeration=("A",)), {"length": 1}))
    assert read(mrm, b"B", options=NO_OPTIONS).at("a") is not None
    tree = read(mrm, b"B", options=Options(validation=how))
    if how == "content":
        assert tree.at("a") is not None
        return
    with pytest.raises(ParserException, match=r"M\.a is 'B', and must be one of A"):
        tree.at("a")


def test_examples() -> None:
    """The examples of the module do what they show."""
    assert (0, 1) == tuple(doctest.testmod(parsers.mrm))
