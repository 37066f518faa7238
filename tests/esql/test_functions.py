"""Every function: its examples run, and its declaration is complete."""

from __future__ import annotations

import re

import pytest

from engine.errors import BrokerError
from esql.functions import function_catalog
from esql.read import read_expression
from tests.esql.evaluator import evaluate, sample

FAILS = re.compile(r"(.+) fails(?: (\w+))?")
EXAMPLES = [
    pytest.param(example, id=f"{name}-{number}")
    for name in function_catalog
    for number, example in enumerate(function_catalog.find(name).examples)
    if function_catalog.find(name).name == name
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_example(example: str) -> None:
    """An example in a docstring is true, or fails as it says."""
    failing = FAILS.fullmatch(example)
    if failing is None:
        assert evaluate(read_expression(example, "example"), sample()) is True
        return
    with pytest.raises(BrokerError) as raised:
        evaluate(read_expression(failing[1], "example"), sample())
    if failing[2]:
        assert failing[2] == raised.value.sqlstate


# The functions of the manual that are neither syntax (CASE, CAST, SELECT …) nor need a database or the compiler.
MANUAL = """
    LENGTH SUBSTRING POSITION OVERLAY TRIM LTRIM RTRIM UPPER UCASE LOWER LCASE LEFT RIGHT REPLACE REPLICATE SPACE
    TRANSLATE CONTAINS STARTSWITH ENDSWITH ABS ABSVAL BITAND BITNOT BITOR BITXOR CEIL CEILING FLOOR MOD ROUND SQRT
    TRUNCATE ACOS ASIN ATAN ATAN2 COS COSH COT DEGREES EXP LN LOG LOG10 POWER RADIANS RAND SIGN SIN SINH TAN TANH
    EXTRACT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_GMTDATE CURRENT_GMTTIME CURRENT_GMTTIMESTAMP
    LOCAL_TIMEZONE ASBITSTREAM BITSTREAM FIELDNAME FIELDNAMESPACE FIELDTYPE FIELDVALUE LASTMOVE SAMEFIELD CARDINALITY
    EXISTS SINGULAR THE COALESCE NULLIF UUIDASBLOB UUIDASCHAR SLEEP
"""


def test_every_function_of_the_manual_is_there() -> None:
    """The catalogue holds the manual's functions and no others."""
    assert sorted(MANUAL.split()) == list(function_catalog)


@pytest.mark.parametrize("name", list(function_catalog))
def test_declaration(name: str) -> None:
    """A function has a summary of one sentence and at least one example."""
    found = function_catalog.find(name)
    assert found.summary.endswith(".")
    assert found.examples


@pytest.mark.parametrize(
    ("name", "fewest", "most", "strict"),
    [
        ("SUBSTRING", 2, 3, True),
        ("POSITION", 2, 2, True),
        ("COALESCE", 2, None, False),
        ("BITAND", 2, None, True),
        ("RAND", 0, 1, True),
        ("CURRENT_DATE", 0, 0, True),
        ("NULLIF", 2, 2, False),
    ],
)
def test_signature(name: str, fewest: int, most: int | None, strict: bool) -> None:
    """How many arguments a function takes, and whether NULL makes it NULL, is read from the Python signature."""
    found = function_catalog.find(name)
    assert (fewest, most, strict) == (found.fewest, found.most, found.strict)


def test_functions_without_parentheses() -> None:
    """The functions that are written without parentheses say so."""
    bare = [name for name in function_catalog if function_catalog.find(name).bare]
    assert [name for name in function_catalog if name.startswith(("CURRENT_", "LOCAL_"))] == bare


def test_unknown_function_is_suggested() -> None:
    """A misspelt name is answered with a close one."""
    assert function_catalog.suggest("SUBSTRNG") == "; did you mean SUBSTRING?"
