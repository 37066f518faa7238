"""Programs do the same wherever they stand: in a branch, a loop, a handler, a routine, a module, a text of EVAL."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.esql.programs import FOLDER, Expected, gives, programs

WRAPPINGS = {
    "if": "IF TRUE THEN\n{}\nEND IF;",
    "else": "IF FALSE THEN\nELSE\n{}\nEND IF;",
    "case": "CASE WHEN 1 = 1 THEN\n{}\nEND CASE;",
    "block": "BEGIN\n{}\nEND;",
    "loop": "around: LOOP BEGIN\n{}\nEND; LEAVE around; END LOOP around;",
    "while": "DECLARE turns INTEGER 0; WHILE turns < 1 DO SET turns = turns + 1; BEGIN\n{}\nEND; END WHILE;",
    "repeat": "REPEAT\n{}\nUNTIL TRUE END REPEAT;",
    "for": "FOR turn AS LIST{{1}} DO\n{}\nEND FOR;",
    "exit": "BEGIN DECLARE EXIT HANDLER FOR SQLSTATE LIKE 'Q%' BEGIN END;\n{}\nEND;",
    "continue": "BEGIN DECLARE CONTINUE HANDLER FOR SQLSTATE LIKE 'Q%' BEGIN END;\n{}\nEND;",
    "procedure": "CREATE PROCEDURE wrapped() BEGIN\n{}\nEND;\nCALL wrapped();",
    "module": "CREATE COMPUTE MODULE M CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN\n{}\nRETURN TRUE; END; END MODULE;",
    "routine of a module": """CREATE COMPUTE MODULE M
        CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN CALL wrapped(); RETURN TRUE; END;
        CREATE PROCEDURE wrapped() BEGIN\n{}\nEND; END MODULE;""",
    "routine of the schema": """CREATE PROCEDURE wrapped() BEGIN\n{}\nEND;
        CREATE COMPUTE MODULE M CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN CALL wrapped(); RETURN TRUE; END;
        END MODULE;""",
    "text": "EVAL('{}');",
    "text in a routine": "CREATE PROCEDURE wrapped() BEGIN EVAL('{}'); END;\nCALL wrapped();",
}
# what can stand only where it is: declarations of files, and what leaves the program itself
OF_FILES = re.compile(r"\b(MODULE|FUNCTION|PROCEDURE|RETURN|SCHEMA|SHARED|EXTERNAL|PATH)\b", re.IGNORECASE)
MODULES = ("module", "routine of a module", "routine of the schema")


def wrapped(text: str, kind: str) -> str | None:
    """A program inside something else; None where it cannot be."""
    lines = text.splitlines(keepends=True)
    count = sum(line.startswith("-- ") for line in lines)
    head, body = "".join(lines[:count]), "".join(lines[count:])
    expected = Expected.of(text)
    fails = any(line.startswith("error") for line in expected.gives)
    if OF_FILES.search(body) or fails or expected.kind == "FILTER" or (expected.kind and kind in MODULES):
        return None
    return head + WRAPPINGS[kind].format(body.replace("'", "''") if kind.startswith("text") else body)


def pairs() -> list[tuple[Path, str]]:
    """Each program with one wrapping, so that each wrapping has some of every chapter."""
    kinds = list(WRAPPINGS)
    chosen = [(path, kinds[number % len(kinds)]) for number, path in enumerate(programs())]
    return [(path, kind) for path, kind in chosen if wrapped(path.read_text("utf-8"), kind)]


@pytest.mark.parametrize(("path", "kind"), pairs(), ids=lambda one: str(one) if isinstance(one, str) else one.stem)
def test_a_wrapped_program(path: Path, kind: str) -> None:
    """What a program sends does not depend on where its statements stand."""
    text = path.read_text("utf-8")
    given = wrapped(text, kind)
    assert given is not None
    assert list(Expected.of(text).gives) == gives(given, str(path.relative_to(FOLDER)))
