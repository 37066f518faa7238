"""Tables of cases: `expression => literal`, or the word `error` and a SQLSTATE; # begins a comment."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from engine.errors import BrokerError
from esql.read import read_expression
from esql.values.errors import sqlstate_of
from esql.values.literals import to_literal
from tests.esql.evaluator import evaluate, sample
from tests.esql.lists import ORACLE
from tests.esql.product import PRODUCT

FOLDER = Path(__file__).parent / "cases"
DOCUMENT = Path(__file__).parents[2] / "docs" / "esql.md"
CASES = [
    pytest.param(*(part.strip() for part in line.split("=>")), id=f"{path.stem}-{number}")
    for path in sorted(FOLDER.glob("*.txt"))
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
    if "=>" in line and not line.startswith("#")
]


def result(expression: str, rules: dict[type, Any]) -> str:
    """The value of an expression as a literal, or its error."""
    try:
        return to_literal(evaluate(read_expression(expression, "case"), sample(rules)))
    except BrokerError as error:
        return f"error {sqlstate_of(error)}"


@pytest.mark.parametrize(("expression", "expected"), CASES)
def test_case(expression: str, expected: str) -> None:
    """An expression has the value, of the type, that the table says: by the oracle, and by the product's operators."""
    assert expected == result(expression, ORACLE)
    assert expected == result(expression, PRODUCT)


CHOICES = [
    tuple(part.strip() for part in example.replace("\\|", "|").split(" => "))
    for example in re.findall(r"`([^`]+ => [^`]+)` \|$", DOCUMENT.read_text("utf-8"), re.MULTILINE)
]


@pytest.mark.parametrize(("expression", "expected"), CHOICES)
def test_choice(expression: str, expected: str) -> None:
    """What docs/esql.md says of a question that the manuals leave open is what happens."""
    assert expected == result(expression, ORACLE)
    assert expected == result(expression, PRODUCT)


def test_every_choice_has_an_example() -> None:
    """No row of the tables of choices is without its example."""
    rows = [line for line in DOCUMENT.read_text("utf-8").splitlines() if line.startswith("|") and line.count("?") > 0]
    assert len(rows) == len(CHOICES)


def test_there_are_enough_cases() -> None:
    """The tables cover the rules: at least 800 cases, none of them twice."""
    expressions = [case.values[0] for case in CASES]
    assert len(expressions) >= 800
    assert len(set(expressions)) == len(expressions)
