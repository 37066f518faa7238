"""SHARED variables: they live as long as what was deployed, wherever they are declared."""

from __future__ import annotations

import sys
import threading

import pytest

from esql.compile import compile_sources, compile_text
from esql.runtime.interactive_session import message_of, outcomes
from esql.runtime.program import Compiled
from esql.text import SyntaxProblems

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


CHANGING = """DECLARE r SHARED ROW; DECLARE i INTEGER 0; DECLARE p REFERENCE TO r;
WHILE i < 60 DO SET i = i + 1;
  SET r.a.b = i; CREATE LASTCHILD OF r.a NAME 'b' VALUE i; CREATE FIRSTCHILD OF r.a NAME 'f' VALUE i; SET r.x.y = i;
  SET r.c = r.a; DELETE FIELD r.a.f; SET r.a = NULL; SET p.d.e = i; MOVE p TO r;
  SET r.x.z[] = SELECT t.* FROM r.c.b[] AS t;
  IF EXISTS(r.c.b[]) AND CARDINALITY(r.*[]) > 0 THEN SET Environment.n = r.c.b; END IF;
  FOR t AS r.c.b[] DO SET Environment.q = t; END FOR;
  SET OutputRoot.XMLNSC.o = r; SET OutputRoot.XMLNSC = NULL;
END WHILE;"""


def test_trees_stay_whole() -> None:
    """A SHARED ROW that threads change without ATOMIC is whole for each statement: none fails or goes on for ever."""
    program = compile_text(CHANGING, "COMPUTE")
    failures: list[BaseException] = []

    def run() -> None:
        try:
            for _ in range(4):
                list(outcomes(program, message_of(None, "")))
        except BaseException as error:
            failures.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=run, daemon=True) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(before)
    assert ([], [False] * 4) == (failures, [thread.is_alive() for thread in threads])


def test_only_shared_trees_are_guarded() -> None:
    """Each statement and condition that may look into a SHARED tree is alone with it; what has none pays nothing."""
    text = "DECLARE r {} ROW; SET r.a = 1; IF r.a = 1 THEN SET Environment.b = r.a; END IF; SET Environment.c = 1;"
    shared, own = (compile_text(text.format(word), "COMPUTE").text for word in ("SHARED", ""))
    assert (2, 1) == (shared.count("with here.atomic()"), shared.count("here.alone(lambda"))
    assert "atomic" not in own
    assert "alone" not in own
