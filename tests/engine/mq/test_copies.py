"""Messages for subscribers: their form, what they tell of the topic, their priority and persistence."""

from __future__ import annotations

from typing import Any

import pytest

from engine.descriptor import Descriptor
from engine.mq.properties import folders_of, opened, split, with_folders
from tests.engine.mq.test_publishing import RED, manager

FORMS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("", {"mqps.Top": "T", "colour": "red"}),
    ("PSPROP(NONE)", {"colour": "red"}),
    ("PSPROP(MSGPROP) USERDATA('me')", {"mqps.Top": "T", "mqps.Sud": "me", "colour": "red"}),
    ("PSPROP(RFH2)", {"psc.Command": "Publish", "psc.Topic": "T", "colour": "red"}),
)


@pytest.mark.parametrize(("attributes", "expected"), FORMS)
def test_forms(attributes: str, expected: dict[str, Any]) -> None:
    """A subscription says whether its messages tell the topic, and how."""
    queues = manager(f"DEFINE SUB(ONE) TOPICSTR(T) DEST(A) {attributes}")
    queues.publish("T", *RED)
    properties, descriptor, body = split(*queues.browse("A")[0])
    assert (expected, "MQSTR", b"body") == (properties, descriptor.format, body)


COMMAND = "<psc><Command>Publish</Command><Topic>T</Topic></psc>"
CONTROLLED = (
    ("", ("COMPAT", "ALL"), "", ("", "mqps")),
    (COMMAND, ("COMPAT", "FORCE"), "", ("", "mqps")),
    (f"{COMMAND}<mine><a>1</a></mine>", ("COMPAT", "ALL"), "", ("mine", "mqps mine")),
    ("<mine><a>1</a></mine>", ("COMPAT", "ALL"), "USERDATA('u')", ("mine", "mqps mine")),
    ("<mcd><Msd>xml</Msd></mcd>", ("COMPAT", "ALL"), "", ("mqps mcd", "mqps mcd")),
    ("<usr><a>1</a></usr>", ("COMPAT", "COMPAT"), "PSPROP(NONE)", ("usr", "usr")),
    ("", ("COMPAT", "COMPAT"), "PSPROP(RFH2)", ("psc", "psc")),
)


@pytest.mark.parametrize(("folders", "controls", "form", "expected"), CONTROLLED)
def test_property_control(folders: str, controls: tuple[str, str], form: str, expected: tuple[str, str]) -> None:
    """A message tells its topic beside properties of the publication alone, unless its queue gives all properties."""
    queues = manager(
        *(f"DEFINE QLOCAL({name}) REPLACE PROPCTL({control})" for name, control in zip("AB", controls, strict=True)),
        *(f"DEFINE SUB({name}) TOPICSTR(T) DEST({name}) {form}" for name in "AB"),
    )
    own = (Descriptor(format="MQSTR"), b"body")
    queues.publish("T", *(with_folders([folders], *own) if folders else own))
    for queue, names in zip("AB", expected, strict=True):
        (arrival,) = queues.browse(queue)
        assert (names.split(), b"body") == ([name for name, _ in folders_of(*arrival)], opened(*arrival)[2])
        assert ("MQHRF2" if names else "MQSTR") == arrival.descriptor.format


@pytest.mark.parametrize(("control", "expected"), [({}, {}), ({"PROPCTL": "ALL"}, {"mqps.Top": "T", "mqps.Ret": True})])
@pytest.mark.parametrize("durable", ["YES", "NO"])
def test_properties_of_own_queues(control: dict[str, str], expected: dict[str, object], durable: str) -> None:
    """A queue that is made for a subscription gives the properties that a program asks for."""
    queues = manager()
    queues.publish("T", Descriptor(format="MQSTR"), b"body", retain=True)
    queues.define("SUB", "S", {"TOPICSTR": "T", "DESTCLAS": "MANAGED", "DURABLE": durable, **control})
    properties, _, body = split(*queues.browse(str(queues.display("SUB", "S")[0]["DEST"]))[0])
    assert (expected, b"body") == (properties, body)


PRIORITIES = (("", 3), ("PUBPRTY(ASPUB)", 3), ("PUBPRTY(8)", 8), ("PUBPRTY(ASQDEF)", 5))


@pytest.mark.parametrize(("attributes", "expected"), PRIORITIES)
def test_priorities(attributes: str, expected: int) -> None:
    """The priority is the publication's, the queue's or the subscription's."""
    queues = manager("DEFINE QLOCAL(D) DEFPRTY(5)", f"DEFINE SUB(ONE) TOPICSTR(T) DEST(D) {attributes}")
    queues.publish("T", Descriptor(priority=3), b"")
    assert expected == queues.browse("D")[0].descriptor.priority


def test_defaults_of_aliases() -> None:
    """A message put by an alias of a topic has the alias' defaults, the first on its way, otherwise the topic's."""
    queues = manager(
        "DEFINE TOPIC(T) TOPICSTR('t') DEFPRTY(3) DEFPSIST(YES)",
        "DEFINE QALIAS(AL) TARGTYPE(TOPIC) TARGET(T) DEFPRTY(7)",
        "DEFINE SUB(ONE) TOPICSTR('t') DEST(A)",
    )
    left = Descriptor(priority=-1, persistence=2)
    for name, own, expected in (
        ("AL", left, (7, 0)),
        ("topic://t", left, (3, 1)),
        ("AL", Descriptor(priority=5, persistence=1), (5, 1)),
    ):
        work = queues.work()
        put = work.put(name, own, b"")
        work.commit()
        (arrival,) = queues.browse("A")
        queues.purge("A")
        assert [expected] * 2 == [(one.priority, one.persistence) for one in (put, arrival.descriptor)]
