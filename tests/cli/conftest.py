"""What tests of commands have in common: the file of a flow."""

from __future__ import annotations

from pathlib import Path

import pytest

FLOW = """
flow: Pass
nodes:
  In: {type: MQInput, queueName: IN, messageDomainProperty: XMLNSC}
  Look: {type: Trace, pattern: "id ${Root.XMLNSC.a.id}"}
  Out: {type: MQOutput, queueName: OUT}
wires:
  - In.out -> Look
  - Look.out -> Out
"""


@pytest.fixture
def flow(tmp_path: Path) -> str:
    """The file of a flow that passes messages on."""
    file = tmp_path / "pass.yaml"
    file.write_text(FLOW)
    return str(file)
