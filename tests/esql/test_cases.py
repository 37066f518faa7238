"""Tables of cases: `expression => literal`, or the word `error` and a SQLSTATE or a number; # begins a comment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.errors import BrokerError
from esql.literals import to_literal
from esql.read import read_expression
from tests.esql.evaluator import EVALUATORS, evaluate, sample
from tests.esql.product import PRODUCT

FOLDER = Path(__file__).parent / "cases"
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
        return f"error {getattr(error, 'sqlstate', error.number)}"


@pytest.mark.parametrize(("expression", "expected"), CASES)
def test_case(expression: str, expected: str) -> None:
    """An expression has the value, of the type, that the table says: by the oracle, and by the product's operators."""
    assert expected == result(expression, EVALUATORS)
    assert expected == result(expression, PRODUCT)


def test_there_are_enough_cases() -> None:
    """The tables cover the rules: at least 800 cases, none of them twice."""
    expressions = [case.values[0] for case in CASES]
    assert len(expressions) >= 800
    assert len(set(expressions)) == len(expressions)
