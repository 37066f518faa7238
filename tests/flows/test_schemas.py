"""Schemas of a flow: which are found, what is told of them, and that a flow that is shipped has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.files import load_flow
from flows.programs import binder, files_of, problems_of
from tests.parsers.test_xml_schema import FILES

FLOW = """flow: F
nodes:
  In: {type: MQInput, queueName: IN, messageDomainProperty: XMLNSC, validateMaster: %s}
  Out: {type: MQOutput, queueName: OUT}
wires:
  - In.out -> Out
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A flow beside its schemas, one of which is in a folder below."""
    for name, content in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    (tmp_path / "x" / "f.yaml").write_text(FLOW % "contentAndValue", "utf-8")
    return tmp_path / "x"


def test_they_are_found(folder: Path) -> None:
    """Those beside the flow, and those that they name."""
    flow = load_flow(str(folder / "f.yaml"))
    found = [str(Path(name).relative_to(folder)) for name, _ in files_of(flow)]
    assert found == ["order.xsd", "plain.xsd", "types/t.xsd"]
    assert problems_of(flow) == ()
    assert list(binder(flow).parsers) == ["XMLNSC"]


def test_a_flow_that_is_shipped(folder: Path) -> None:
    """Where the files are given they are not looked for."""
    flow = load_flow(str(folder / "f.yaml"))
    files = files_of(flow)
    (folder / "order.xsd").unlink()
    assert list(binder(flow, files=files).parsers) == ["XMLNSC"]
    assert dict(binder(flow, files=[]).parsers) == {}


@pytest.mark.parametrize(("asks", "told"), [("contentAndValue", [("plain.xsd", 1)]), ("none", [])])
def test_a_broken_schema(asks: str, told: list[tuple[str, int]], folder: Path) -> None:
    """What is wrong with a schema is told where a node asks for validation."""
    (folder / "f.yaml").write_text(FLOW % asks, "utf-8")
    (folder / "plain.xsd").write_text("<schema", "utf-8")
    found = problems_of(load_flow(str(folder / "f.yaml")))
    assert [(Path(problem.file).name, problem.line) for problem in found] == told
