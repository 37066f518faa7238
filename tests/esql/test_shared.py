"""SHARED variables: they live as long as what was deployed, wherever they are declared."""

from __future__ import annotations

import threading

import pytest

from esql.compile import compile_sources, compile_text
from esql.problems import SyntaxProblems
from esql.program import Compiled
from esql.trial import message_of, outcomes

COUNT = "SET n = n + 1; SET OutputRoot.XMLNSC.n = n;"
MODULE = "CREATE COMPUTE MODULE {name} {declared} CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN {body} END; END MODULE;"
IN_MODULE = MODULE.format(name="A", declared="DECLARE n SHARED INTEGER 0;", body=COUNT)
IN_SCHEMA = "DECLARE n SHARED INTEGER 0;" + "".join(MODULE.format(name=m, declared="", body=COUNT) for m in "AB")


def numbers(program: Compiled, *modules: str) -> list[str]:
    """What each run of a module says."""
    sent = [line for module in modules for line in outcomes(program, message_of(None, ""), module)]
    return [line.removeprefix("out|<n>").removesuffix("</n>") for line in sent]


TEXTS = {
    "scalar": f"DECLARE n SHARED INTEGER 0; {COUNT}",
    "in a routine": f"DECLARE n SHARED INTEGER 0; CALL p(); CREATE PROCEDURE p() BEGIN {COUNT} END;",
    "in EVAL": "DECLARE n SHARED INTEGER 0; EVAL('SET n = n + 1;'); SET OutputRoot.XMLNSC.n = n;",
    "row": "DECLARE r SHARED ROW; SET r.n = COALESCE(r.n, 0) + 1; SET OutputRoot.XMLNSC.n = r.n;",
    "atomic": f"DECLARE n SHARED INTEGER 0; BEGIN ATOMIC {COUNT} END;",
    "of others": f"DECLARE c CONSTANT INTEGER 2; DECLARE m SHARED INTEGER c; DECLARE n SHARED INTEGER m - 2; {COUNT}",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_text(text: str) -> None:
    """A SHARED variable of a node's text starts once, and keeps what messages before left in it."""
    assert numbers(compile_text(text, "COMPUTE"), "", "", "") == ["1", "2", "3"]


def test_each_deployment_has_its_own() -> None:
    """What is deployed twice has its variables twice."""
    first, second = (compile_text(TEXTS["scalar"], "COMPUTE") for _ in "12")
    assert numbers(first, "", "") == ["1", "2"]
    assert numbers(second, "") == ["1"]


def test_modules() -> None:
    """A module's SHARED variable is its own; one of the schema is one for all its modules."""
    own = IN_MODULE + MODULE.format(name="B", declared="DECLARE n SHARED INTEGER 10;", body=COUNT)
    assert numbers(compile_sources([("a.esql", own)]), "A", "A", "B", "A", "B") == ["1", "2", "11", "3", "12"]
    assert numbers(compile_sources([("a.esql", IN_SCHEMA)]), "A", "B", "A") == ["1", "2", "3"]


def test_schema_of_two_files() -> None:
    """Files of one schema share the variables that one of them declares."""
    files = [(f"{m}.esql", MODULE.format(name=m, declared="", body=COUNT)) for m in "AB"]
    program = compile_sources([*files, ("c.esql", "DECLARE n SHARED INTEGER 0;")])
    assert numbers(program, "A", "B", "B") == ["1", "2", "3"]


def test_starts_alone() -> None:
    """What a SHARED variable starts with cannot be a variable that each message has anew."""
    with pytest.raises(SyntaxProblems) as caught:
        compile_text("DECLARE x INTEGER 1; DECLARE n SHARED INTEGER x; SET n = 1;", "COMPUTE")
    assert caught.value.problems[0].text.startswith("a SHARED variable starts before x has a value")


def test_atomic() -> None:
    """Inside BEGIN ATOMIC no other thread counts in between."""
    text = """DECLARE n SHARED INTEGER 0; DECLARE i INTEGER 0;
    WHILE i < 200 DO BEGIN ATOMIC DECLARE m INTEGER n; DECLARE done BOOLEAN SLEEP(0); SET n = m + 1; END; SET i = i + 1;
    END WHILE; SET OutputRoot.XMLNSC.n = n;"""
    program = compile_text(text, "COMPUTE")
    threads = [threading.Thread(target=numbers, args=(program, "")) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert numbers(program, "") == ["1000"]
