"""The flow files of docs/flow_files.md: nothing is wrong with them, and messages take the ways that it says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from flows.layout import layout_of
from tests.cli.command_line import ROOT, penstock

PAGE = ROOT / "docs" / "flow_files.md"
BLOCK = re.compile(r"```yaml\n# (?P<name>[a-z.]+)\n(?P<text>.*?)```", re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files of the page, in a folder."""
    for block in BLOCK.finditer(PAGE.read_text("utf-8")):
        (tmp_path / block["name"]).write_text(block["text"], "utf-8")
    return tmp_path


def test_nothing_is_wrong(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The flow and its subflow pass lint, and the positions are read."""
    flow = str(folder / "payments.yaml")
    assert penstock(capsys, "flow", "lint", flow) == (0, "", "")
    assert layout_of(flow) == ({"In": (40, 60), "Audit": (240, 60)}, ())


@pytest.mark.parametrize(("amount", "queue"), [("99", "PAYMENTS.OUT"), ("100", "PAYMENTS.REST")])
def test_the_ways(amount: str, queue: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A payment is copied by the subflow, to the queue that the flow gives it, and goes on by its amount."""
    body = f"<payment><id>1</id><amount>{amount}</amount></payment>".encode()
    (folder / "in.xml").write_bytes(body)
    ran = penstock(
        capsys, "run", str(folder / "payments.yaml"), "--input", str(folder / "in.xml"), "--output", str(folder / "out")
    )
    assert ran.code == 0
    found = {file.parent.name: file.read_bytes() for file in (folder / "out").rglob("*.xml")}
    assert found == {"PAYMENTS.AUDIT": body, queue: body}


def test_a_subflow_by_its_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the subflow is given along with the flow, or its file has its name, its name is a type."""
    flow = folder / "payments.yaml"
    flow.write_text(flow.read_text("utf-8").replace("{subflow: audit.yaml}", "{type: Audit}"), "utf-8")
    assert penstock(capsys, "flow", "lint", str(flow), str(folder / "audit.yaml")) == (0, "", "")
    (folder / "audit.yaml").rename(folder / "Audit.yaml")
    assert penstock(capsys, "flow", "lint", str(flow)) == (0, "", "")


def test_a_drawing_says_what_it_may_lack(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What can be read of a flow file is drawn; that the rest is missing is said on stderr."""
    flow = folder / "payments.yaml"
    flow.write_text(flow.read_text("utf-8").replace("Small enough.true -> Out", "Small enough.true Out"), "utf-8")
    shown = penstock(capsys, "flow", "show", str(flow))
    assert (shown.code, "Small enough" in shown.out) == (0, True)
    said = f"penstock: {flow} cannot be read as a whole, so that something may be missing here: see penstock flow lint"
    assert shown.err == f"{said} {flow}\n"


def test_folders(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a folder every flow file is checked by itself, all problems at once; other YAML files are passed over."""
    (tmp_path / "sets.yaml").write_text("messageSet: Orders\n", "utf-8")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "cases.yaml").write_text("flow: ../payments.yaml\ncases: []\n", "utf-8")
    assert penstock(capsys, "flow", "lint", str(tmp_path)) == (0, "", "")
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "flow.yaml").write_text("flow: Same\nnodes:\n  In: {type: MQInput}\n", "utf-8")
    found = penstock(capsys, "flow", "lint", "--json", str(tmp_path))
    places = [(Path(problem["file"]).parent.name, problem["text"]) for problem in json.loads(found.out)]
    missing = "MQInput In needs queueName: The queue that messages are got from."
    assert (found.code, [place for place in places if place[1] == missing]) == (1, [("a", missing), ("b", missing)])


def test_a_folder_without_flows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder that holds no flow file is an error, not a folder without problems."""
    found = penstock(capsys, "flow", "lint", str(tmp_path))
    assert (found.code, "holds no flow file" in found.err) == (1, True)


@pytest.mark.parametrize("command", ["check", "format", "show"])
def test_a_folder_without_esql(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder that holds no .esql file is an error, not a folder without problems."""
    found = penstock(capsys, "esql", command, str(tmp_path))
    assert (1, f"penstock: BIP2066: {tmp_path} holds no .esql file: name one, or a folder of them\n") == (
        found.code,
        found.err,
    )
