"""Edits of a tree outlive its copies: what a node changed is still changed when a later node has changed more."""

import pytest

from engine.descriptor import Descriptor
from engine.message.received import Received
from engine.message.writer import write_message
from engine.tree.element import Element
from engine.tree.sharing import copy, read_only

EDITS = (("MsgType", 1), ("Persistence", 1), ("MsgFlags", 8))


def received() -> Element:
    return read_only(Received(Descriptor(), b"body").root())


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("appended", [False, True])
def test_every_node_adds_its_edit(ordered: bool, appended: bool) -> None:
    """Three nodes that each copy the message and change one field send on all three changes."""
    root = received()
    for name, value in EDITS:
        mine = copy(root)
        header = mine.at("MQMD")
        assert header is not None
        if ordered:
            assert header.first_child is not None
        field = header.at(name)
        assert field is not None
        if appended and name == EDITS[0][0]:
            header.add("Report", 5)
        field.value = value
        root = read_only(mine)
    descriptor, _ = write_message(root)
    assert (descriptor.msg_type, descriptor.persistence, descriptor.msg_flags) == (1, 1, 8)
    assert descriptor.report == (5 if appended else 0)
