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
