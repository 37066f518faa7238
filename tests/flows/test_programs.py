"""The ESQL of flows: which files belong to a flow, what names a module, and how problems are placed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.errors import BrokerError, ConfigurationException, Problem
from engine.flow.definition import Flow, NodeUse, Setting
from engine.message.writer import write_message
from engine.runtime.deployment import DeployedFlow, deploy
from flows.esql_files import name_of
from flows.files import load, load_flow
from flows.programs import binder, files_of, problems_of
from tests.nodes.esql_nodes import message, sent

FLOW = """flow: F
schema: {schema}
userProperties: {{limit: 42}}
nodes:
  In: {{type: MQInput, queueName: IN, messageDomainProperty: XMLNSC}}
  C: {{type: {type}, {property}: {value}}}
wires:
  - In.out -> C
"""
MODULE = """{head}CREATE {kind} MODULE {name}
  CREATE FUNCTION Main() RETURNS BOOLEAN
  BEGIN
    {body}
    RETURN TRUE;
  END;
END MODULE;
"""
Write = Callable[[str, str], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file below the folder of the test."""

    def written(name: str, text: str) -> str:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        return str(file)

    return written


def flow(value: str, node_type: str = "Compute", schema: str = "none") -> str:
    name = {"Compute": "computeExpression", "Filter": "filterExpression"}[node_type]
    return FLOW.format(type=node_type, property=name, value=value, schema=schema)


def module(body: str, name: str = "M", kind: str = "COMPUTE", head: str = "") -> str:
    return MODULE.format(body=body, name=name, kind=kind, head=head)


def says(text: str) -> str:
    return f"SET OutputRoot.XMLNSC.m = {text};"


def problems(file: str) -> list[tuple[str, int, int, str]]:
    """The problems of a flow file's programs: file, line, column, text."""
    return [(Path(p.file).name, p.line, p.column, p.text) for p in found(file)]


def found(file: str) -> tuple[Problem, ...]:
    return problems_of(*load(file).flows)


def deployed(file: str) -> DeployedFlow:
    loaded = load_flow(file)
    return deploy(loaded, bind=binder(loaded))


def outcome(file: str) -> str:
    """What the node C of a flow writes."""
    ((_, one),) = sent(deployed(file).stations["C"].node, message())
    return write_message(one.root)[1].decode()


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("M", "COMPUTE", "M"),
        (" M \n", "COMPUTE", "M"),
        ("M.Main", "COMPUTE", "M.Main"),
        ("com.acme.M.Main", "COMPUTE", "com.acme.M.Main"),
        ("esql://routine/#M.Main", "COMPUTE", "M.Main"),
        ("esql://routine/com.acme#M.Main", "FILTER", "com.acme.M.Main"),
        ("esql://routine/Body#M.Main", "FILTER", "Body.M.Main"),
        ("SET OutputRoot = InputRoot;", "COMPUTE", None),
        ("RETURN;", "COMPUTE", None),
        ("M N", "COMPUTE", None),
        ("M = 1", "FILTER", None),
        ("Body.Urgent", "FILTER", None),
        ("Environment.x", "FILTER", None),
        ("TRUE", "FILTER", None),
        ("True", "COMPUTE", "True"),
        ("", "COMPUTE", None),
        ("esql://routine/M", "COMPUTE", ""),
        ("esql://routine/../..#M", "FILTER", ""),
    ],
)
def test_what_names_a_module(text: str, kind: str, name: str | None) -> None:
    """One dotted name names a module; everything else is a program, and a Filter's fields and truths are."""
    assert name == name_of(text, kind)


@pytest.mark.parametrize("name", ["M", "M.Main", "a.b.M", "a.b.M.Main", "'esql://routine/a.b#M.Main'", "m"])
def test_names_of_a_module(name: str, write: Write) -> None:
    """A module is known by its name, with or without its schema and Main."""
    write("m.esql", module(says("'found'"), head="BROKER SCHEMA a.b\n"))
    assert outcome(write("f.yaml", flow(name))) == "<m>found</m>"


def test_the_schema_of_the_flow_comes_first(write: Write) -> None:
    """Of two modules of one name, the one of the flow's own schema is meant."""
    write("1.esql", module(says("'one'"), head="BROKER SCHEMA one\n"))
    write("2.esql", module(says("'two'"), head="BROKER SCHEMA two\n"))
    assert outcome(write("f.yaml", flow("M", schema="two"))) == "<m>two</m>"
    assert outcome(write("g.yaml", flow("one.M", schema="two"))) == "<m>one</m>"


def test_folders_of_schemas(write: Write) -> None:
    """Schemas that names, PATH and calls speak of are found below where the flow's own schema starts, and no others."""
    head = "BROKER SCHEMA com.acme PATH com.tools;\n"
    write("com/acme/m.esql", module(says("hail() || com.more.again()"), head=head))
    write(
        "com/tools/t.esql", "BROKER SCHEMA com.tools\nCREATE FUNCTION hail() RETURNS CHARACTER BEGIN RETURN 'a'; END;\n"
    )
    write(
        "com/more/t.esql", "BROKER SCHEMA com.more\nCREATE FUNCTION again() RETURNS CHARACTER BEGIN RETURN 'b'; END;\n"
    )
    write("com/other/broken.esql", "CREATE")
    file = write("com/acme/f.yaml", flow("M", schema="com.acme"))
    assert (problems(file), outcome(file)) == ([], "<m>ab</m>")
    write("flows/g.yaml", flow("com.acme.M"))
    write("flows/com/acme/n.esql", module(says("'below'"), head="BROKER SCHEMA com.acme\n"))
    assert outcome(write("flows/g.yaml", flow("com.acme.M"))) == "<m>below</m>"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("Ordres", "no .esql file here has a module Ordres; did you mean Orders?"),
        ("Zzz.Main", "no .esql file here has a module Zzz; the modules are Orders, Check"),
        ("esql://routine/M", "esql://routine/M names no module: write esql://routine/schema#Module.Main"),
        ("Check", "Check is a FILTER module; computeExpression needs a COMPUTE module"),
    ],
)
def test_names_that_lead_nowhere(value: str, text: str, write: Write) -> None:
    """A name without a module is a problem where the flow has it, with what may be meant; so is a wrong kind."""
    write("m.esql", module("", "Orders") + module("", "Check", "FILTER"))
    assert problems(write("f.yaml", flow(value))) == [("f.yaml", 6, 41, text)]


def test_two_files_with_one_module(write: Write) -> None:
    """The second is a problem, and names the first; in two schemas they are two modules."""
    first = write("a.esql", module(""))
    write("b.esql", module(""))
    file = write("f.yaml", flow("M"))
    assert problems(file) == [
        ("b.esql", 1, 1, f"{first} has a module M too: rename one of them, or put them into two schemas")
    ]
    write("b.esql", module("", head="BROKER SCHEMA b\n"))
    assert problems(file) == []


def test_problems_of_files(write: Write) -> None:
    """What is wrong with .esql files is shown with their places: all that cannot be read, then all that is unknown."""
    write("a.esql", module("SET = 1;"))
    write("b.esql", module("SET OutputRoot.XMLNSC.a = ;", "N"))
    file = write("f.yaml", flow("M"))
    assert [row[:2] for row in problems(file)] == [("a.esql", 4), ("b.esql", 4)]
    write("a.esql", module("SET OutputRoot.XMLNSC.a = y;"))
    write("b.esql", module("SET x = 1;", "N"))
    assert [row[:3] for row in problems(file)] == [("a.esql", 4, 31), ("b.esql", 4, 9)]
    shown = found(file)[0]
    assert (shown.source_line.strip()[:3], shown.number > 2400) == ("SET", True)
    with pytest.raises(ConfigurationException) as raised:
        binder(load(file).flows[0])
    assert raised.value.problems == found(file)


def test_files_of_a_flow_that_names_no_module(write: Write) -> None:
    """Files are not looked at where nothing asks for a module."""
    write("broken.esql", "CREATE")
    assert problems(write("f.yaml", flow('"SET OutputRoot = InputRoot;"'))) == []


LONG = """flow: F
nodes:
  In: {{type: MQInput, queueName: IN}}
  C:
    type: Compute
    computeMode: all
    computeExpression: {}
"""
BLOCK = "|\n      SET OutputRoot = InputRoot;\n\n      SET OutputRoot.XMLNSC.m = {};\n"


@pytest.mark.parametrize(
    ("value", "line", "column"),
    [
        ("SET OutputRoot.XMLNSC.m = x;", 7, 50),
        ("'SET OutputRoot.XMLNSC.m = x;'", 7, 51),
        (BLOCK.format("x"), 10, 33),
        (BLOCK.format("'it''s' || x"), 10, 44),
        (BLOCK.format("x; -- don't"), 10, 27),
        (BLOCK.format("x").replace("|", "|-", 1), 10, 33),
        (BLOCK.format("x").replace("|", ">", 1), 7, 24),
        ('"SET OutputRoot.XMLNSC.\\x6d = x;"', 7, 24),
    ],
)
def test_places_in_texts(value: str, line: int, column: int, write: Write) -> None:
    """A problem of a text is placed in the YAML file; where YAML has changed the text, at the property."""
    (row,) = problems(write("f.yaml", LONG.format(value)))
    assert row[:3] == ("f.yaml", line, column)
    assert ("line" in row[3]) == (column == 24)


def test_places_at_run_time(write: Write) -> None:
    """A text that fails says its line in the YAML file; a module its own file and line."""
    text = BLOCK.format("1 / CARDINALITY(InputRoot.x[])")
    inline = write(
        "f.yaml",
        LONG.format(text) + "wires:\n  - In.out -> C\n",
    )
    own = write("m.esql", module(says("1 / CARDINALITY(InputRoot.x[])")))
    for file, place in ((inline, (inline, 10, 33)), (write("g.yaml", flow("M")), (own, 4, 31))):
        with pytest.raises(BrokerError) as raised:
            sent(deployed(file).stations["C"].node, message())
        assert (raised.value.place.file, raised.value.place.line, raised.value.place.column) == place


def test_a_file_that_cannot_be_read(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a problem, not a failure."""
    write("m.esql", module(""))
    monkeypatch.setattr("flows.esql_files.LARGEST", 10)
    texts = [row[3] for row in problems(write("f.yaml", flow("M")))]
    assert "cannot be read: the file has more than 10 bytes" in texts


def test_user_properties(write: Write) -> None:
    """EXTERNAL variables are given the flow's user properties, and keep their own value without one."""
    head = "DECLARE limit EXTERNAL INTEGER 1;\nDECLARE other EXTERNAL INTEGER 2;\n"
    write("m.esql", module(says("limit + other"), head=head))
    assert outcome(write("f.yaml", flow("M"))) == "<m>44</m>"


def test_a_flow_without_files(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A flow that goes elsewhere takes its .esql files along as data; without them, none are looked for anywhere."""
    file = write("m.esql", module(says("'data'")))
    loaded = load_flow(write("f.yaml", flow("M")))
    files = files_of(loaded)
    assert files == [(file, Path(file).read_bytes())]
    Path(file).unlink()
    node = deploy(loaded, bind=binder(loaded, files=files)).stations["C"].node
    assert write_message(sent(node, message())[0][1].root)[1] == b"<m>data</m>"
    monkeypatch.chdir(tmp_path)
    write("m.esql", module(""))
    made = Flow("F", nodes=(NodeUse("C", "Compute", (Setting("computeExpression", "M"),)),))
    (problem,) = problems_of(made)
    assert str(problem) == "BIP2087 F.C.computeExpression: no .esql file here has a module M; there are no modules"


def test_what_the_broker_gives(write: Write) -> None:
    """Properties of the broker are those that the binder is given."""
    loaded = load_flow(write("f.yaml", flow('"SET OutputRoot.XMLNSC.m = BrokerName;"')))
    node = deploy(loaded, bind=binder(loaded, given={"BrokerName": "BRK"})).stations["C"].node
    assert write_message(sent(node, message())[0][1].root)[1] == b"<m>BRK</m>"


SHARED = """DECLARE n SHARED INTEGER 0;
CREATE COMPUTE MODULE M
  CREATE FUNCTION Main() RETURNS BOOLEAN
  BEGIN
    BEGIN ATOMIC
      DECLARE old INTEGER n;
      SET n = old + 1;
      SET OutputRoot.XMLNSC.m = old + 1;
    END;
    RETURN TRUE;
  END;
END MODULE;
"""


def test_two_instances_at_once(write: Write) -> None:
    """Instances of one binder have their SHARED variables in common, one inside BEGIN ATOMIC at a time."""
    write("m.esql", SHARED)
    loaded = load_flow(write("f.yaml", flow("M")))
    bind = binder(loaded)
    seen: list[Any] = []

    def run(instance: DeployedFlow) -> None:
        for _ in range(200):
            ((_, one),) = sent(instance.stations["C"].node, message())
            seen.append(write_message(one.root)[1])

    threads = [threading.Thread(target=run, args=(deploy(loaded, bind=bind),)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {b"<m>%d</m>" % n for n in range(1, 401)} == set(seen)
    assert outcome(str(loaded.file)) == "<m>1</m>", "another binder has variables of its own"
