"""What `penstock flow lint` says of nodes whose properties are right each by itself, and wrong together."""

from pathlib import Path

import pytest

from flows.files import load


@pytest.mark.parametrize(
    ("node", "said"),
    [
        ("{type: Trace, destination: file}", "destination file needs a filePath"),
        ('{type: Trace, pattern: "${Rot}"}', "begins with Rot"),
        ("{type: Trace, pattern: fine}", ""),
    ],
)
def test_nodes_are_built_to_be_examined(node: str, said: str, tmp_path: Path) -> None:
    """A node that would refuse its properties at deploy is a problem of the flow file."""
    file = tmp_path / "f.yaml"
    file.write_text(f"flow: F\nnodes:\n  In: {{type: MQInput, queueName: A}}\n  T: {node}\nwires: [In.out -> T]\n")
    problems = load(str(file)).lint()
    assert bool(said) == bool(problems)
    assert all(said in problem.text and problem.line == 4 for problem in problems)
