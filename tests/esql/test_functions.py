"""Every function: its examples run, and its declaration is complete."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from engine.errors import BrokerError
from engine.parser import parser_catalog
from engine.tree.element import Element
from esql.functions import function_catalog
from esql.functions.field import FOLDER, ROOT, as_bitstream
from esql.read import read_expression
from esql.runtime.invocation import Invocation
from esql.values.errors import sqlstate_of
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
        assert failing[2] == sqlstate_of(raised.value)


# The functions of the manual that are neither syntax (CASE, CAST, SELECT …) nor need a database or the compiler.
MANUAL = """
    LENGTH SUBSTRING POSITION OVERLAY TRIM LTRIM RTRIM UPPER UCASE LOWER LCASE LEFT RIGHT REPLACE REPLICATE SPACE
    TRANSLATE CONTAINS STARTSWITH ENDSWITH ABS ABSVAL BITAND BITNOT BITOR BITXOR CEIL CEILING FLOOR MOD ROUND SQRT
    TRUNCATE ACOS ASIN ATAN ATAN2 COS COSH COT DEGREES EXP LN LOG LOG10 POWER RADIANS RAND SIGN SIN SINH TAN TANH
    EXTRACT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_GMTDATE CURRENT_GMTTIME CURRENT_GMTTIMESTAMP
    LOCAL_TIMEZONE ASBITSTREAM BITSTREAM FIELDNAME FIELDNAMESPACE FIELDTYPE FIELDVALUE LASTMOVE SAMEFIELD CARDINALITY
    EXISTS SINGULAR THE COALESCE NULLIF UUIDASBLOB UUIDASCHAR SLEEP BASE64ENCODE BASE64DECODE URLENCODE URLDECODE
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
    bare = [name for name in function_catalog if function_catalog.find(name).written.parentheses == "never"]
    assert [name for name in function_catalog if name.startswith(("CURRENT_", "LOCAL_"))] == bare


def test_unknown_function_is_suggested() -> None:
    """A misspelt name is answered with a close one."""
    assert function_catalog.suggest("SUBSTRNG") == "; did you mean SUBSTRING?"


def xmlnsc() -> Element:
    """InputRoot.XMLNSC with `<Order><Id>7</Id><Item>pen</Item></Order>`, built in memory."""
    top = Element("InputRoot").add("XMLNSC")
    top.domain = parser_catalog.find("XMLNSC")
    order = top.add("Order")
    order.add("Id", 7)
    order.add("Item", "pen")
    return top


def test_bitstream_of_a_message() -> None:
    """The top of a message is written as it would go out."""
    assert b"<Order><Id>7</Id><Item>pen</Item></Order>" == as_bitstream(xmlnsc())


def test_bitstream_in_a_ccsid() -> None:
    """CCSID and ENCODING say which bytes characters become."""
    written = as_bitstream(xmlnsc(), ccsid=1200, encoding=273)
    assert "<Order><Id>7</Id><Item>pen</Item></Order>" == written.decode("utf-16-be").removeprefix("\ufeff")


def test_bitstream_of_a_folder() -> None:
    """FolderBitStream writes a folder itself, RootBitStream what is in it."""
    order = xmlnsc().at("Order")
    assert order is not None
    assert b"<Order><Id>7</Id><Item>pen</Item></Order>" == as_bitstream(order, options=FOLDER)
    inner = xmlnsc()
    inner.at("Order", "Id").clear()
    inner.at("Order", "Id").add("Part", "x")
    assert b"<Part>x</Part>" == as_bitstream(inner.at("Order", "Id"), options=ROOT)


def test_bitstream_of_a_folder_leaves_the_tree_alone() -> None:
    """Writing a folder by itself neither moves nor changes it."""
    top = xmlnsc()
    order = top.at("Order")
    as_bitstream(order, options=FOLDER)
    assert order is top.at("Order")
    assert top is order.parent


def test_one_moment_for_one_invocation() -> None:
    """CURRENT_TIMESTAMP stays the same within an invocation, and the clock is read once."""
    readings = iter([datetime(2000, 1, 1, tzinfo=UTC), datetime(2000, 1, 2, tzinfo=UTC)])
    here = Invocation(lambda: next(readings), timedelta)
    now = function_catalog.find("CURRENT_TIMESTAMP")
    assert now.body(here=here) == now.body(here=here) == datetime(2000, 1, 1)


def test_random_sequences_belong_to_routines() -> None:
    """A seed starts the sequence of its routine, and of no other."""
    rand, here = function_catalog.find("RAND"), Invocation()
    first = [rand.body(5, here=here, routine="a"), rand.body(here=here, routine="a")]
    rand.body(6, here=here, routine="b")
    assert first == [rand.body(5, here=here, routine="a"), rand.body(here=here, routine="a")]


def test_sleep_asks_the_invocation() -> None:
    """SLEEP waits by what the invocation gives it, in seconds."""
    waited: list[float] = []
    function_catalog.find("SLEEP").body(1500, here=Invocation(doze=waited.append))
    assert [1.5] == waited
