"""Limits: the same work written by hand with lxml, as fast as a programmer would write it."""

from __future__ import annotations

from lxml import etree

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
