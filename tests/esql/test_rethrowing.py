"""Which statements a failure has left: by their routine, position and text, outermost first."""

from __future__ import annotations

import pytest

from engine.descriptor import Descriptor
from engine.errors import BrokerError
from engine.message.assembly import Message
from esql.cache import from_bytes, to_bytes
from esql.compile import compile_sources, parts_of_sources
from esql.runtime.linker import link

MODULE = """BROKER SCHEMA shop
CREATE COMPUTE MODULE M
    CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN
        %s
        RETURN TRUE;
    END;
    CREATE FUNCTION half(IN n INTEGER) RETURNS INTEGER BEGIN
        RETURN n / 0;
    END;
    CREATE FUNCTION down(IN n INTEGER) RETURNS INTEGER BEGIN
        IF n = 0 THEN RETURN half(1); END IF;
        RETURN down(n - 1);
    END;
END MODULE;"""

LEFT = {
    "a statement": ("SET Environment.x = 1 / 0;", [("shop.M.Main", "2.9", "SET Environment.x = 1 / 0;")]),
    "over several lines": (
        "SET Environment.x =\n\t1 /  0;",
        [("shop.M.Main", "2.9", "SET Environment.x = 1 / 0;")],
    ),
    "inside others": (
        "WHILE TRUE DO BEGIN IF TRUE THEN SET Environment.x = 1 / 0; END IF; END; END WHILE;",
        [("shop.M.Main", "2.42", "SET Environment.x = 1 / 0;")],
    ),
    "a condition": (
        "IF 1 / 0 = 1 THEN RETURN FALSE; END IF;",
        [("shop.M.Main", "2.9", "IF 1 / 0 = 1 THEN RETURN FALSE; END IF;")],
    ),
    "a list": (
        "SET Environment.y = 1; SET Environment.x = THE(SELECT ITEM 1 / 0 FROM Environment.y[] AS y);",
        [("shop.M.Main", "2.32", "SET Environment.x = THE(SELECT ITEM 1 / 0 FROM Environment.y[] AS y);")],
    ),
    "a routine": (
        "SET Environment.x = half(1);",
        [("shop.M.Main", "2.9", "SET Environment.x = half(1);"), ("shop.M.half", "2.9", "RETURN n / 0;")],
    ),
    "a routine that calls itself": (
        "SET Environment.x = down(3);",
        [
            ("shop.M.Main", "2.9", "SET Environment.x = down(3);"),
            ("shop.M.down", "3.9", "RETURN down(n - 1);"),
            ("shop.M.down", "2.23", "RETURN half(1);"),
            ("shop.M.half", "2.9", "RETURN n / 0;"),
        ],
    ),
    "a throw": ("THROW USER EXCEPTION;", [("shop.M.Main", "2.9", "THROW USER EXCEPTION;")]),
    "a handler that fails": (
        "DECLARE EXIT HANDLER FOR SQLSTATE LIKE '%' BEGIN SET Environment.x = 2 / 0; END; SET Environment.x = 1 / 0;",
        [("shop.M.Main", "2.58", "SET Environment.x = 2 / 0;")],
    ),
}


def failed(statement: str) -> BrokerError | None:
    """What a program with this statement fails with."""
    try:
        list(compile_sources([("m.esql", MODULE % statement)]).evaluate(Message.received(Descriptor(), b"")))
    except BrokerError as error:
        return error
    return None


def left(error: BrokerError) -> list[tuple[str, ...]]:
    return [
        tuple(i.text for i in one.inserts)
        for one in error.passed
        if isinstance(one, BrokerError) and one.number == 2488
    ]


@pytest.mark.parametrize("name", LEFT)
def test_statements(name: str) -> None:
    """Each routine that was at work adds the innermost statement that it was at."""
    statement, expected = LEFT[name]
    error = failed(statement)
    assert expected == ([] if error is None else left(error))


def test_the_expression() -> None:
    """An operation on values adds where its expression stands; what is thrown, or cannot be cast, does not."""
    numbers = {}
    for statement in (
        "SET Environment.x = 1 / 0;",
        "THROW USER EXCEPTION;",
        "SET Environment.x = CAST('x' AS INTEGER);",
    ):
        error = failed(statement)
        assert error is not None
        numbers[error.number] = [one.number for one in error.passed if isinstance(one, BrokerError)]
    assert numbers == {2450: [2488, 2439], 2951: [2488], 2521: [2488]}


def test_a_long_statement_is_cut() -> None:
    """A statement of a megabyte does not make an insert of one."""
    error = failed(f"SET Environment.x = '{'y' * 100_000}' || CAST(1 / 0 AS CHARACTER);")
    assert error is not None
    ((*_, text),) = left(error)
    assert (len(text), text[-3:]) == (1003, "...")


def test_a_program_from_the_cache_knows_its_statements() -> None:
    """Where statements stand is kept with the code."""
    sources = [("m.esql", MODULE % "SET Environment.x = 1 / 0;")]
    parts = parts_of_sources(sources)
    kept = from_bytes("key", to_bytes("key", parts), dict(parts.texts))
    assert kept is not None
    with pytest.raises(BrokerError) as caught:
        list(link(kept).evaluate(Message.received(Descriptor(), b"")))
    assert left(caught.value) == LEFT["a statement"][1]
