"""Links beside flows: they lead only to where their own names are, or to where the person who runs it allows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command_line import penstock

FLOW = """flow: F
nodes:
  In: {type: MQInput, queueName: IN, messageDomainProperty: XMLNSC, validateMaster: contentAndValue}
  C: {type: Compute, computeExpression: M}
  S: {type: Part}
  Out: {type: MQOutput, queueName: OUT}
wires: [In.out -> C, C.out -> S.In, S.Out -> Out]
"""
PART = "subflow: Part\nnodes:\n  In: {type: Input}\n  Out: {type: Output}\nwires: [In.out -> Out.in]\n"
PROGRAM = """CREATE COMPUTE MODULE M
CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN SET OutputRoot = InputRoot; RETURN TRUE; END;
END MODULE;
"""
SCHEMA = '<schema xmlns="http://www.w3.org/2001/XMLSchema"><element name="a" type="string"/></schema>'
SET = "messageSet: S\nmessages:\n  M:\n    members:\n    - {field: n, type: int}\n"
BESIDE = {
    "Part.yaml": PART,
    "program.esql": PROGRAM,
    "a.xsd": SCHEMA,
    "s.set.yaml": SET,
    "f.layout.yaml": "In: [1, 2]\n",
}


@pytest.fixture
def flow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A flow with all that may stand beside one, and a message."""
    monkeypatch.chdir(tmp_path)
    for folder in ("flows", "elsewhere"):
        Path(folder).mkdir()
    for name, text in {**BESIDE, "f.yaml": FLOW}.items():
        Path("flows", name).write_text(text)
    Path("in.xml").write_text("<a>x</a>")
    return Path("flows/f.yaml")


def run(capsys: pytest.CaptureFixture[str], flow: Path, *more: str) -> tuple[int, str]:
    """Runs the flow; the answer is the exit code and what was said."""
    ended = penstock(capsys, "run", str(flow), "--input", "in.xml", "--output", "out", *more)
    return ended.code, ended.out + ended.err


@pytest.mark.parametrize("name", [name for name in BESIDE if name != "f.layout.yaml"])
def test_a_link_beside_a_flow(name: str, flow: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a link beside a flow leads to is not read, unless its folder is allowed; a link in the folder is none."""
    assert 0 == run(capsys, flow)[0]
    Path("flows", name).rename(Path("elsewhere", name))
    Path("flows", name).symlink_to(Path("..", "elsewhere", name))
    code, said = run(capsys, flow)
    assert (1, True) == (code, f"{Path('flows', name)} leads to a file outside of " in said), said
    assert 0 == run(capsys, flow, "--allow-files", "elsewhere")[0]
    assert 1 == run(capsys, flow)[0]
    Path("flows", name).unlink()
    Path("elsewhere", name).rename(Path("flows", "other"))
    Path("flows", name).symlink_to("other")
    assert 0 == run(capsys, flow)[0]


def test_a_layout_that_is_a_link(flow: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A layout is not read through a link either."""
    Path("flows/f.layout.yaml").rename("elsewhere/layout")
    Path("flows/f.layout.yaml").symlink_to("../elsewhere/layout")
    ended = penstock(capsys, "flow", "show", str(flow), "--svg", "out.svg")
    assert "flows/f.layout.yaml leads to a file outside of " in ended.err


def test_a_folder_of_a_schema_that_is_a_link(flow: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Programs of a schema are not read through a link at its folder."""
    flow.write_text(FLOW.replace("computeExpression: M", "computeExpression: lib.M"))
    Path("flows/program.esql").unlink()
    Path("elsewhere/program.esql").write_text(f"BROKER SCHEMA lib\n{PROGRAM}")
    Path("flows/lib").symlink_to("../elsewhere")
    code, said = run(capsys, flow)
    assert (1, True) == (code, "flows/lib/program.esql leads to a file outside of " in said), said
    assert 0 == run(capsys, flow, "--allow-files", "elsewhere")[0]


def test_a_subflow_that_a_flow_names_elsewhere(flow: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A flow may name a file that is elsewhere: that is no link."""
    flow.write_text(FLOW.replace("{type: Part}", "{subflow: ../elsewhere/Part.yaml}"))
    Path("flows/Part.yaml").rename("elsewhere/Part.yaml")
    assert 0 == run(capsys, flow)[0]
