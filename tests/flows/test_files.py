"""Flow files with the subflows that they use, up to a flow that can be deployed."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import ConfigurationException
from flows.files import load, load_flow
from tests.flows.samples import sample_nodes

FILES = {
    "orders.yaml": """\
flow: Orders
nodes:
  In: {type: MQInput, queueName: ORDERS.IN}
  Audit: {type: Audit, queueName: AUDIT}
wires: [In.out -> Audit.First]
""",
    "Audit.yaml": """\
subflow: Audit
promote: {queueName: [Put.target]}
nodes:
  First: {type: Input}
  Put: {subflow: parts/put.yaml}
wires: [First.out -> Put.Enter]
""",
    "parts/put.yaml": """\
subflow: Put
promote: {target: [Out.queueName]}
nodes:
  Enter: {type: Input}
  Out: {type: MQOutput}
wires: [Enter.out -> Out]
""",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_subflows_are_found(folder: Path) -> None:
    """A subflow is the file that a node names, or a file of the node's type beside it; all is expanded."""
    flow = load_flow("./orders.yaml", catalog=sample_nodes)
    assert [(use.label, use.type, use.values) for use in flow.nodes] == [
        ("In", "MQInput", {"queueName": "ORDERS.IN"}),
        ("Audit.Put.Out", "MQOutput", {"queueName": "AUDIT"}),
    ]
    assert [str(wire) for wire in flow.wires] == ["In.out -> Audit.Put.Out.in"]


def test_problems_of_all_files_are_reported_at_once(folder: Path) -> None:
    """What is wrong in a subflow is found with what is wrong in the flow; what may come of it is not told as well."""
    (folder / "orders.yaml").write_text(FILES["orders.yaml"].replace("In.out", "In.oot"), "utf-8")
    (folder / "parts/put.yaml").write_text(FILES["parts/put.yaml"].replace("MQOutput", "MQOutptu"), "utf-8")
    with pytest.raises(ConfigurationException) as caught:
        load_flow("orders.yaml", catalog=sample_nodes)
    places = [(problem.file, problem.line) for problem in caught.value.problems]
    assert places == [("orders.yaml", 5), ("parts/put.yaml", 5)]


def test_a_subflow_is_not_deployed(folder: Path) -> None:
    """A subflow by itself is no flow."""
    with pytest.raises(ConfigurationException, match="holds a subflow; name a flow that uses it"):
        load_flow("Audit.yaml", catalog=sample_nodes)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nowhere.yaml", "BIP2087 nowhere.yaml: cannot be read: No such file or directory; name one that exists"),
        ("parts", "BIP2087 parts: cannot be read: Is a directory; name a file in it"),
    ],
)
def test_files_that_cannot_be_read(folder: Path, name: str, expected: str) -> None:
    """A file that is not there is a problem like any other."""
    assert [str(problem) for problem in load(name).lint(sample_nodes)] == [expected]


@pytest.mark.parametrize("subflow", ["/etc/passwd", "/etc/passwd.yaml", "secret.txt", "nowhere.yaml", "parts"])
def test_only_flow_files_are_opened(folder: Path, subflow: str) -> None:
    """A flow file cannot have other files read, whose lines would be shown."""
    (folder / "secret.txt").write_text("password: x", "utf-8")
    (folder / "orders.yaml").write_text(
        f"flow: A\nnodes:\n  In: {{type: MQInput, queueName: a}}\n  S: {{subflow: {subflow}}}\nwires: [In.out -> S.a]",
        "utf-8",
    )
    problems = load("orders.yaml").lint(sample_nodes)
    assert [problem.text for problem in problems] == [
        f"{subflow} holds no subflow that can be read: name a file, from here, with `subflow: Name` in it"
    ]


def test_only_subflows_are_found_by_type(folder: Path) -> None:
    """A flow that happens to be named after a node type is left alone; a subflow may not be named so."""
    (folder / "MQInput.yaml").write_text("flow: MQInput\nwires: 1", "utf-8")
    assert load("orders.yaml").lint(sample_nodes) == ()
    (folder / "MQInput.yaml").write_text(FILES["parts/put.yaml"].replace("Put", "MQInput"), "utf-8")
    assert "there is a node type MQInput; give the subflow another name" in [
        problem.text for problem in load("orders.yaml").lint(sample_nodes)
    ]
