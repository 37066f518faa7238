"""Steps into headers: by name, by type, by number and by `*`, without all fields being made first."""

from collections.abc import Callable

import pytest

from engine.descriptor import Descriptor
from engine.message.received import Received
from engine.tree.element import Element
from engine.tree.source import KIND, NAME, NAME_VALUE
from engine.tree.states import EXPANDED
from engine.tree.step import Step, step
from tests.parsers.folder_samples import rfh2
from tests.parsers.samples import BIG, SAMPLES, Writer, tree
from tests.parsers.test_mqcfh import every_kind, pcf
from tests.parsers.test_mqrfh import mqrfh


def received(name: str) -> Element:
    found = Received(Descriptor(), b"body").root().at(name)
    assert found is not None
    return found


HEADERS: dict[str, Callable[[], Element]] = {
    "Properties": lambda: received("Properties"),
    "MQMD": lambda: received("MQMD"),
    "BLOB": lambda: received("BLOB"),
    "MQDLH": lambda: tree("MQDLH", SAMPLES[0].bytes(BIG, 500), BIG, 500),
    "MQRFH": lambda: tree("MQRFH", mqrfh("A 1 A 2", BIG, 500), BIG, 500),
    "MQRFH2": lambda: rfh2("<mcd/>", "<usr><a>1</a></usr>", "<usr/>"),
    "MQPCF": lambda: tree("MQPCF", pcf(Writer(BIG, 500), *every_kind(Writer(BIG, 500))), BIG, 500),
}
PARAMETERS = {"Parameter", "Parameter64", "ParameterList", "ParameterList64", "Filter", "Group"}
FIELDS_ONLY = ((KIND, NAME_VALUE),)
STEPS = [
    step(None),
    step(None, None),
    step(None, "", FIELDS_ONLY),
    step(None, "", ((KIND, NAME),)),
    step(None, "urn:x"),
    *(step(name) for name in ("Format", "Encoding", "BLOB", "Priority", "A", "usr", "Parameter", "Nothing")),
    step("Format", None, FIELDS_ONLY),
    step("Format", "", ((KIND, NAME),)),
    step("usr", "", ((KIND, NAME),)),
    step("StrucId"),
    step("StrucLength"),
]


@pytest.mark.parametrize("name", HEADERS)
@pytest.mark.parametrize("wanted", STEPS, ids=repr)
def test_steps(name: str, wanted: Step) -> None:
    """A step leads to what it would lead to if all children were looked through; by name it makes no others."""
    matching = [(child.name, child.value) for child in HEADERS[name]() if wanted.matches(child)]
    header = HEADERS[name]()
    first = header.child(wanted)
    assert (first and (first.name, first.value)) == (matching[0] if matching else None)
    assert header.count(wanted) == len(matching)
    assert [(child.name, child.value) for child in header.every(wanted)] == matching
    last = header.nth_last(wanted, 1)
    assert (last and (last.name, last.value)) == (matching[-1] if matching else None)
    assert wanted.name is None or not header.state & EXPANDED


@pytest.mark.parametrize("name", HEADERS)
def test_fields_have_nothing_below(name: str) -> None:
    """A field has no children, by any step."""
    header = HEADERS[name]()
    for child in header.every(step(None, "", FIELDS_ONLY)):
        if child.name not in PARAMETERS:
            below = (child.child(step("a")), child.child(step(None)), child.count(step(None)), list(child))
            assert below == (None, None, 0, [])
