"""What `penstock flow lint` says of nodes whose properties are right each by itself, and wrong together."""

from pathlib import Path

import pytest

from flows.files import load

FLOW = """\
flow: F
nodes:
  In: {type: MQInput, queueName: A, messageDomainProperty: DOMAIN}
  T: TRACE
wires: [In.out -> T]
"""


@pytest.mark.parametrize(
    ("domain", "trace", "said"),
    [
        ("XMLNSC", "{type: Trace, pattern: fine}", []),
        ("XMLNSC", "{type: Trace, destination: file}", ["T: destination file needs a filePath"]),
        ("XMLNCSC", "{type: Trace}", ["In: messageDomainProperty names no parser: XMLNCSC; did you mean XMLNSC?"]),
    ],
)
def test_nodes_are_built_to_be_examined(domain: str, trace: str, said: list[str], tmp_path: Path) -> None:
    """A node that would refuse its properties at deploy is a problem of the flow file."""
    file = tmp_path / "f.yaml"
    file.write_text(FLOW.replace("DOMAIN", domain).replace("TRACE", trace))
    assert said == [problem.text for problem in load(str(file)).lint()]


def test_a_rule_points_to_the_property_that_it_speaks_of(tmp_path: Path) -> None:
    """What is said of a property's value stands at the value, and marks it."""
    file = tmp_path / "f.yaml"
    file.write_text(FLOW.replace("DOMAIN", "XMLNCS").replace("TRACE", "{type: Trace}"))
    (found,) = load(str(file)).lint()
    assert (found.line, found.column, found.width) == (3, 60, 6)
    assert found.text.endswith("did you mean XMLNSC?")
