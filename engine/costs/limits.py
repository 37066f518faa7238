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
