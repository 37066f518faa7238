"""Filters of contents that subscriptions have: conditions in ESQL on publications and their bodies."""

from __future__ import annotations

import pytest

from engine.descriptor import Descriptor
from engine.errors import MessageException
from engine.mq import QueueManager
from engine.mq.properties import join, with_folders
from flows.content_filters import compile_content

ORDER = Descriptor(format="MQSTR", priority=4), b"<Order><Total>120</Total><Item>a</Item></Order>"
WITH_PROPERTIES = join({"colour": "red", "mcd.Msd": "JSON"}, Descriptor(format="MQSTR"), b'{"n": 5}')

RED = join({"colour": "red"}, *ORDER)
TWICE = with_folders(["<psc><Command>Publish</Command></psc>"], *RED)

CONDITIONS = (
    ("Body.Order.Total > 100", RED, True),
    ("Body.Order.Total > 100 AND Root.MQRFH2.usr.colour = 'red'", RED, True),
    ("Body.Order.Total > 200", RED, False),
    ("Body.Order.Total > 100", TWICE, True),
    ("Body.Data.n = 5", join({"colour": "red"}, Descriptor(format="MQSTR"), b'  {"n": 5}'), True),
    ("Body.Order.Total > 100", ORDER, True),
    ("Body.Order.Total > 200", ORDER, False),
    ("Body.Order.Nothing > 200", ORDER, None),
    ("Body.Order.Item || 'b' = 'ab' AND Root.MQMD.Priority = 4", ORDER, True),
    ("SUBSTRING(Body.Order.Item FROM 1 FOR 1) IN ('a', 'b')", ORDER, True),
    ("Body.Order.Total", ORDER, None),
    ("CAST(Body.Order.Item AS INTEGER) = 1", ORDER, None),
    ("Root.MQRFH2.usr.colour = 'red'", WITH_PROPERTIES, True),
    ("Body.Data.n = 5", WITH_PROPERTIES, True),
    ("Body.Order.Total > 100", (Descriptor(), b"\x00\x01"), None),
    ("CAST(Body.BLOB AS CHARACTER CCSID 500) LIKE 'AB%'", (Descriptor(), b"\xc1\xc2\xc3"), True),
)


@pytest.mark.parametrize(("text", "publication", "expected"), CONDITIONS)
def test_conditions(text: str, publication: tuple[Descriptor, bytes], expected: bool | None) -> None:
    """A condition sees a publication as a flow does; what cannot be calculated is unknown."""
    assert expected is compile_content(text)(*publication)


def test_refused() -> None:
    """What is neither a selector nor ESQL is refused."""
    with pytest.raises(MessageException) as caught:
        compile_content("Body.Order.Total >")
    assert 2459 == caught.value.reason


def test_subscriptions() -> None:
    """A subscription with a filter of contents gets the publications that it fits."""
    queues = QueueManager("A")
    queues.topics.objects.compile_content = compile_content
    queues.define("SUB", "S", {"TOPICSTR": "#", "DEST": "A", "SELECTOR": "Body.Order.Total > 100"})
    queues.publish("orders", *ORDER)
    queues.publish("orders", Descriptor(), b"<Order><Total>5</Total></Order>")
    assert ([ORDER[1]], "EXTENDED") == (
        [arrival.body for arrival in queues.browse("A")],
        queues.display("SUB", "S")[0]["SELTYPE"],
    )
