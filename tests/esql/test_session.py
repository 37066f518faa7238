"""A conversation in ESQL, line by line."""

from __future__ import annotations

import pytest

from esql.runtime.activation import Surroundings
from esql.runtime.interactive_session import Session
from esql.runtime.limits import Limits
from tests.limits import bounded

CASES = [
    (["1 + 1"], ["2"]),
    (["SET Environment.a = 5;", "Environment.a + 1"], ["6"]),
    (["SET Environment.a =", "  5;", "Environment.a"], ["5"]),
    (["IF TRUE THEN", "SET Environment.z = 1;", "ELSE", "SET Environment.z = 2;", "END IF;", "Environment.z"], ["1"]),
    (["BEGIN DECLARE i INTEGER 3;", "SET Environment.i = i; END;", "Environment.i"], ["3"]),
    (
        ["IF TRUE THEN", "SET Environment.z = 1;", "", "2"],
        ["BIP2401 entry:2:23: END IF is missing for the IF at line 1", "2"],
    ),
    (["SET Environment.a = ;", "3"], ["BIP2401 entry:1:21: expected an expression after '=', found ';'", "3"]),
    (["SET Environment.a", ""], ["BIP2401 entry:1:18: expected"]),
    (["", "  ", "'a'"], ["'a'"]),
    (["1 / 0"], ["BIP2450 entry:1:1: 1 was divided by zero: test the divisor first"]),
    (["PROPAGATE;"], ["-> out"]),
    (["SET OutputRoot.XMLNSC.a = 1;", "SET OutputRoot.XMLNSC.b = 2;", "OutputRoot.XMLNSC.a"], ["1"]),
]


@pytest.mark.parametrize(("lines", "expected"), CASES)
def test_conversation(lines: list[str], expected: list[str]) -> None:
    """An expression is answered with its line; a statement goes on until it has its end, or up to an empty line."""
    session = Session(None, "")
    said = [answer for line in lines for answer in session.answer(line)]
    assert len(expected) == len(said)
    for wanted, found in zip(expected, said, strict=True):
        assert found.split("\n")[0].startswith(wanted)


def test_an_entry_without_end() -> None:
    """Lines that end no statement are gathered as far as a program may be long, and each takes as long as the first."""
    session = Session(None, "", Surroundings(limits=Limits(text=200_000)))
    with bounded(seconds=5):
        said = [answer for _ in range(50_000) for answer in session.answer("BEGIN")]
    assert ["an entry has more than 200000 characters: end its statements, each by a semicolon"] == said
