"""docs/flow_files.md: what it shows as YAML is a flow and its subflow, and they work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.command_line import ROOT, penstock

DOCUMENT = ROOT / "docs" / "flow_files.md"


@pytest.mark.parametrize(("total", "queue"), [("7", "SMALL"), ("700", "LARGE")])
def test_the_document(total: str, queue: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The flow of the document keeps a copy of each order by its subflow, and tells large from small."""
    flow, subflow = re.findall(r"^```yaml\n(.*?)^```$", DOCUMENT.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (tmp_path / "orders.yaml").write_text(flow, "utf-8")
    (tmp_path / "Archive.yaml").write_text(subflow, "utf-8")
    body = f"<Order><Total>{total}</Total></Order>"
    (tmp_path / "1.xml").write_text(body, "utf-8")
    assert penstock(capsys, "flow", "lint", str(tmp_path / "orders.yaml")).out == ""
    out = tmp_path / "out"
    ended = penstock(
        capsys, "run", str(tmp_path / "orders.yaml"), "--input", str(tmp_path / "1.xml"), "--output", str(out)
    )
    assert (ended.code, ended.err) == (0, "")
    assert {f"ORDERS.{queue}/1.xml": body, "ORDERS.ARCHIVE/1.xml": body} == {
        str(file.relative_to(out)): file.read_text("utf-8") for file in out.rglob("*.xml")
    }
