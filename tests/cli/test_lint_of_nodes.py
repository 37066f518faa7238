"""What `penstock flow lint` says of nodes whose properties are right each by itself, and wrong together."""

import re
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


OUTPUT = """\
flow: F
properties: PROPERTIES
promote: {target: [Out.queueName]}
nodes:
  In: {type: MQInput, queueName: A}
  Out: NODE
wires: [In.out -> Out]
"""


@pytest.mark.parametrize(
    ("node", "properties", "said"),
    [
        (
            "MQOutput}",
            "{}",
            (6, 3, "Out: destinationMode fixed needs a queueName: give one, or another destinationMode"),
        ),
        ("MQOutput, destinationMode: fixed}", "{}", (6, 42, "Out: destinationMode fixed needs a queueName: give one,")),
        ("MQOutput, destinationMode: reply}", "{}", None),
        ("MQOutput, queueName: B}", "{}", None),
        ("MQOutput}", "{target: B}", None),
    ],
)
def test_an_output_has_a_queue(node: str, properties: str, said: tuple[int, int, str] | None, tmp_path: Path) -> None:
    """An MQOutput to a fixed destination names its queue, itself or as a property that the flow promotes."""
    file = tmp_path / "f.yaml"
    file.write_text(OUTPUT.replace("NODE", "{type: " + node).replace("PROPERTIES", properties))
    found = load(str(file)).lint()
    if said is None:
        assert [] == list(found)
    else:
        assert [(said[0], said[1])] == [(problem.line, problem.column) for problem in found]
        assert found[0].text.startswith(said[2])


NAMES = [
    (
        "MQInput, queueName: A B",
        "queueName is text that is the name of a queue: up to 48 ASCII characters, .* not 'A B'",
    ),
    ("MQInput, queueName: ''", "queueName is text that is the name of a queue: .* not ''"),
    (f"MQInput, queueName: {'A' * 49}", "queueName is text that is the name of a queue: "),
    ("MQInput, queueName: 'A '", "queueName is text that is the name of a queue: .* not 'A '"),
    ("MQInput, queueName: Ä", "queueName is text that is the name of a queue: .* not 'Ä'"),
    ("MQInput, queueName: A, convertEncoding: 99", "In: convertEncoding 99 is no MQ encoding: 546 is little endian"),
    ("MQInput, queueName: a.B_1/2%, convertEncoding: 785", None),
    (f"MQInput, queueName: {'A' * 48}", None),
]
MORE = [
    ("MQOutput, queueName: A B", "queueName is text that is the name of a queue: "),
    ("MQOutput, queueName: A, queueManagerName: Q M", "queueManagerName is text that is the name of a queue manager: "),
    ("MQOutput, queueName: A, replyToQ: '*'", "replyToQ is text that is the name of a queue: "),
    ("MQOutput, queueName: A, replyToQMgr: ä", "replyToQMgr is text that is the name of a queue manager: "),
    ("MQGet, queueName: A B", "queueName is text that is the name of a queue: "),
    ("MQGet, queueName: A, convertEncoding: 99", "Out: convertEncoding 99 is no MQ encoding: "),
    ("MQGet, queueName: A, convertEncoding: 0", None),
]


@pytest.mark.parametrize(
    ("source", "target", "said"),
    [(one, "MQReply", said) for one, said in NAMES] + [("MQInput, queueName: A", one, said) for one, said in MORE],
)
def test_names_that_a_queue_manager_takes(source: str, target: str, said: str | None, tmp_path: Path) -> None:
    """Names of queues and of queue managers are such as MQ takes, and encodings those that it has."""
    file = tmp_path / "f.yaml"
    text = f"flow: F\nnodes:\n  In: {{type: {source}}}\n  Out: {{type: {target}}}\nwires: [In.out -> Out]\n"
    file.write_text(text, "utf-8")
    found = [problem.text for problem in load(str(file)).lint()]
    assert len(found) == (said is not None)
    assert said is None or re.match(said, found[0])
