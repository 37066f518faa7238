"""Which Labels programs send to, and what lint and drawings make of that."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.flow.definition import Flow, NodeUse, Setting
from flows.label_names import label_names
from tests.cli.command_line import penstock

MODULES = """
CREATE PROCEDURE shared() BEGIN %s END;
CREATE COMPUTE MODULE One
    CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN CALL send(); RETURN FALSE; END;
    CREATE PROCEDURE send() BEGIN IF TRUE THEN PROPAGATE TO LABEL 'a'; END IF; END;
END MODULE;
CREATE COMPUTE MODULE Two
    CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN PROPAGATE TO LABEL InputRoot.XMLNSC.a; RETURN FALSE; END;
END MODULE;
CREATE COMPUTE MODULE Three CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN RETURN TRUE; END; END MODULE;
"""
NAMES: list[tuple[str, str, frozenset[str] | None]] = [
    ("One", "", frozenset({"a"})),
    ("esql://routine/#One.Main", "", frozenset({"a"})),
    ("Two", "", None),
    ("Three", "", frozenset()),
    ("Three", "PROPAGATE TO LABEL 'b';", frozenset({"b"})),
    ("One", "EVAL('PROPAGATE');", None),
    ("Nix", "", None),
    ("PROPAGATE TO LABEL 'x'; PROPAGATE TO LABEL 'y' DELETE NONE;", "", frozenset({"x", "y"})),
    ("PROPAGATE TO LABEL 'x' || 'y';", "", None),
    ("PROPAGATE TO TERMINAL 'out1';", "", frozenset()),
    ("SET OutputRoot =", "", frozenset()),
]


@pytest.mark.parametrize(("program", "shared", "expected"), NAMES)
def test_names(program: str, shared: str, expected: frozenset[str] | None, tmp_path: Path) -> None:
    """A program sends to the labels that it and what it may call name; one that computes a name may send to any."""
    (tmp_path / "m.esql").write_text(MODULES % shared, "utf-8")
    use = NodeUse("N", "Compute", (Setting("computeExpression", program),))
    flow = Flow("F", nodes=(use,), file=str(tmp_path / "f.yaml"))
    assert expected == label_names(flow).get("N")


FLOW = """
flow: Routed
nodes:
  In: {type: MQInput, queueName: IN}
  Send: {type: Compute, computeExpression: One}
  A: {type: Label, labelName: a}
  B: {type: Label, labelName: b}
  Out: {type: MQOutput, queueName: OUT}
wires:
  - In.out -> Send
  - A.out -> Out
  - B.out -> Out
"""


def test_lint_and_drawings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A Label that no program names is never reached, and no way is drawn to it."""
    (tmp_path / "m.esql").write_text(MODULES % "", "utf-8")
    file = tmp_path / "f.yaml"
    file.write_text(FLOW, "utf-8")
    linted = penstock(capsys, "flow", "lint", str(file))
    assert (linted.code, "B is never reached: no node that routes to labels is reached" in linted.out) == (1, True)
    assert "A is never reached" not in linted.out
    shown = penstock(capsys, "flow", "show", "--ascii", str(file))
    assert shown.code == 0
    file.write_text(FLOW.replace("One", "Two"), "utf-8")
    assert penstock(capsys, "flow", "lint", str(file)).code == 0
    assert penstock(capsys, "flow", "show", "--ascii", str(file)).out != shown.out


MAIN = """
flow: Main
nodes:
  In: {type: MQInput, queueName: IN}
  Sub: {subflow: sub.yaml}
  Out: {type: MQOutput, queueName: OUT}
  Far: {type: Label, labelName: Far}
wires:
  - In.out -> Sub.in
  - Sub.ok -> Out
  - Far.out -> Out
"""
SUB = """
subflow: Sub
promote: {labelName: [Near.labelName]}
nodes:
  in: {type: Input}
  Send: {type: RouteToLabel}
  Near: {type: Label, labelName: Near}
  ok: {type: Output}
wires:
  - in.out -> Send
  - Near.out -> ok
"""
TWICE = MAIN.replace("  Out:", "  Again: {subflow: sub.yaml}\n  Out:") + "  - Out.out -> Again.in\n"
CLASH = "Again.Near: labelName Near is that of Sub.Near too; a message can go to one only: promote it, and give each"
PLAIN = SUB.replace("RouteToLabel", "Passthrough").replace("> Send", "> Send\n  - Send.out -> ok")
SUBFLOWS = [
    (MAIN, SUB, ""),
    (MAIN, PLAIN, "Far is never reached: no node that routes to labels is reached"),
    (TWICE, SUB, CLASH),
    (TWICE.replace("Again: {subflow: sub.yaml}", "Again: {subflow: sub.yaml, labelName: Third}"), SUB, ""),
]  # fmt: skip


@pytest.mark.parametrize(("main", "sub", "problem"), SUBFLOWS)
def test_labels_of_subflows(
    main: str, sub: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Labels are one for a flow and its subflows: either routes to those of the other, and no two have a name."""
    for name, text in (("f.yaml", main), ("sub.yaml", sub)):
        (tmp_path / name).write_text(text, "utf-8")
    linted = penstock(capsys, "flow", "lint", str(tmp_path / "f.yaml"), str(tmp_path / "sub.yaml"))
    assert (linted.code, problem in linted.out) == (int(bool(problem)), True)
