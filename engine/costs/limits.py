"""Limits: the same work written by hand with lxml, as fast as a programmer would write it."""

from __future__ import annotations

import struct
from collections import deque
from typing import Final

from lxml import etree

_LENGTH: Final = struct.Struct("<i")  # of an MQRFH2, behind its StrucId and its Version
_PARSER = etree.XMLParser(resolve_entities=False, no_network=True)


def change_one_field(body: bytes) -> bytes:
    """Parse an order, change its status, write it."""
    root = etree.fromstring(body, _PARSER)
    status = root.find("Status")
    assert status is not None
    status.text = "DONE"
    return etree.tostring(root)


def complex_path_by_hand(body: bytes) -> bytes:
    """Parse a test case, give it a processing path made of another one, write it."""
    root = etree.fromstring(body, _PARSER)
    case = root.find("TestCase")
    assert case is not None
    out = etree.SubElement(case, "ProcessingPath")
    for element in case.findall("Stack/ProcessingPath/Element"):
        component = etree.SubElement(out, "Component")
        etree.SubElement(component, "Name").text = element.findtext("COMPONENT")
        transport = etree.SubElement(component, "Transport", Type="A")
        etree.SubElement(transport, "Queue").text = element.findtext("QUEUE")
    return etree.tostring(root)


def pass_on(body: bytes) -> bytes:
    """Take a message from one queue and put it on another."""
    source, target = deque((body,)), deque[bytes]()
    target.append(source.popleft())
    return target[0]


def pass_on_if_north(body: bytes) -> bytes:
    """Find the document behind an MQRFH2, parse it, and pass the message on if its tag says so."""
    (length,) = _LENGTH.unpack_from(body, 8)
    root = etree.fromstring(body[length:], _PARSER)
    return body if root.findtext("Region") == "north" else b""


def pass_on_by_list(entries: int, body: bytes) -> bytes:
    """Make a list of destinations, and pass the message on to the last of them."""
    destinations = [f"DESTINATION.{number:03d}" for number in range(1, entries + 1)]
    known = {destinations[-1]: pass_on}
    return known[destinations[-1]](body)
