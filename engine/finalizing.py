"""Finalizing: a Root's headers announce what stands behind them, and its Properties say what its headers say."""

from __future__ import annotations

from typing import Final

from engine.descriptor import FIELDS, LENGTHS, PERSISTENT, Descriptor
from engine.errors import BrokerError
from engine.parser import NO_TEMPLATE, Follow, Header, format_catalog
from engine.received import Received
from engine.sharing import written
from engine.source import Value
from engine.state import EDITED
from engine.step import step
from engine.tree import Element
from engine.writing import Link, announcements, descriptor_of, links_of, sorted_links, wanted_of, with_own_format

_OF_DESCRIPTOR: Final = ("Format", "Encoding", "CodedCharSetId", "Priority", "Persistence", "CorrelId")


def finalize(root: Element) -> None:
    """Change a Root to say of itself what its bytes will say; they stay the same.

    What cannot be written yet is left as it is: nodes further on may mend it, and writing tells of it if they do not.
    """
    held = written(root)
    if not held.state & EDITED and held.source.__class__ is Received:
        return
    try:
        _finalize(root, links_of(held))
    except BrokerError:
        return


def _finalize(root: Element, links: list[Link]) -> None:
    properties, header, chain = sorted_links(links)
    descriptor = descriptor_of(header, properties)
    alone = len(chain) == 1 and not isinstance(chain[0].owner, Header)
    is_as_received = all(link is None or link.part is not None for link in (header, properties))
    if alone and is_as_received and (header is None or format_catalog.get(descriptor.format) is None):
        return
    elements = dict(zip(map(id, links), root, strict=True))
    for link, wanted in wanted_of(chain, properties):
        if isinstance(link.owner, Header) and wanted != NO_TEMPLATE:
            link.owner.describe(elements[id(link)], wanted)
    follows = announcements(chain, descriptor)
    descriptor = with_own_format(chain[0], descriptor) if alone else _announcing(descriptor, follows)
    for link, follow in zip(chain, follows[1:], strict=False):
        if isinstance(link.owner, Header):
            _say(elements[id(link)], "Format", follow.format, 8)
    if header is not None:
        _describe(elements[id(header)], descriptor)
        if properties is not None:
            own = Follow("", descriptor.encoding, descriptor.coded_char_set_id)
            body = follows[-1] if follows and not alone else own
            if body[1:3] != own[1:3]:  # what Properties say of the body is from now on not meant for the MQMD
                _insist(elements[id(header)], own)
            _agree(elements[id(properties)], body, descriptor)


def _announcing(descriptor: Descriptor, follows: list[Follow]) -> Descriptor:
    return descriptor._replace(format=follows[0].format) if follows else descriptor


def _describe(element: Element, descriptor: Descriptor) -> None:
    """Have the MQMD say what the descriptor says; what is not in the tree and as by default stays out of it."""
    for name in _OF_DESCRIPTOR:
        held = FIELDS[name]
        value, default = getattr(descriptor, held), Descriptor._field_defaults[held]
        field = element.child(step(name))
        if field is not None or value != default:
            _say(element, name, value, LENGTHS.get(held, 0))


def _say(element: Element, name: str, value: Value, length: int) -> None:
    """Give a field of a header a value, if it has another."""
    field = element.ensure(step(name))
    if _plain(field.value) != _plain(value):
        field.value = value.ljust(length) if isinstance(value, str) else value


def _plain(value: Value) -> Value:
    return value.rstrip() if isinstance(value, str) else value


def _insist(element: Element, own: Follow) -> None:
    """Have the MQMD itself say what it announces, whatever Properties say."""
    element.ensure(step("Encoding")).value = own.encoding
    element.ensure(step("CodedCharSetId")).value = own.ccsid


def _agree(element: Element, body: Follow, descriptor: Descriptor) -> None:
    """Have Properties say what the headers say; what is not in the tree stays out of it."""
    for name, value in (
        ("Encoding", body.encoding),
        ("CodedCharSetId", body.ccsid),
        ("Priority", descriptor.priority),
        ("Persistence", descriptor.persistence == PERSISTENT),
        ("ReplyIdentifier", descriptor.correl_id),
    ):
        field = element.child(step(name))
        if field is not None and field.value != value:
            field.value = value
