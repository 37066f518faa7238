"""The ExceptionList: what went wrong, as a tree that flows can read."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

from engine.errors import NOWHERE, BrokerError, Insert, Place
from engine.tree.element import Element
from engine.tree.source import NAME, NAME_VALUE

_THROWING: Final = 2230
_LABEL: Final = 14  # the insert type of a node's label


class _Link(NamedTuple):
    """One exception of the list: its class, its fields in the product's order, and its inserts."""

    kind: str
    fields: dict[str, object]
    inserts: tuple[Insert, ...]


def exception_list(error: BaseException) -> Element:
    """The ExceptionList of an error: the nodes it passed on its way up, then what caused it, each inside the last.

    >>> tree = exception_list(BrokerError(2450, "divide by zero"))
    >>> tree.at("RecoverableException", "RecoverableException", "Number").value
    2450
    """
    top = at = Element("ExceptionList")
    for link in _chain(error):
        at = at.add(link.kind, type_=NAME)
        for name, value in link.fields.items():
            at.add(name, value, type_=NAME_VALUE)
        for insert in link.inserts:
            folder = at.add("Insert")
            folder.add("Type", insert.type, type_=NAME_VALUE)
            folder.add("Text", insert.text, type_=NAME_VALUE)
    return top


def _chain(error: BaseException) -> list[_Link]:
    """The exceptions from the outermost in: the first is always one of a node that threw."""
    links: list[_Link] = []
    seen: set[int] = set()
    where = NOWHERE  # a cause that does not know its node is of the one that it was in
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        if isinstance(at, BrokerError):
            links += _around(at, is_top=not links)
            where = at.place if at.place.node else replace(where, file=at.place.file, line=at.place.line)
            links.append(_Link(at.kind, _fields(at, where), at.inserts))
        elif not links:
            links.append(_Link(BrokerError.kind, _fields(BrokerError(_THROWING, str(at)), Place()), ()))
        at = at.__cause__
    return links


def _around(error: BrokerError, *, is_top: bool) -> list[_Link]:
    """The nodes that an error has passed and what was thrown around it there; the first is always of a node."""
    node = error.place
    links = []
    if is_top and not isinstance(next(iter(error.passed), None), Place) and error.number != _THROWING:
        links.append(_passed(node))
    for one in error.passed:
        if isinstance(one, Place):
            node = one
            links.append(_passed(one))
        else:
            place = replace(one.place, flow=node.flow, node=node.node, type=node.type)
            links.append(_Link(one.kind, _fields(one, place), one.inserts))
    return links


def _passed(place: Place) -> _Link:
    error = BrokerError(_THROWING, "Node throwing exception", Insert(_label(place), _LABEL))
    return _Link(error.kind, _fields(error, replace(place, file="", line=0)), error.inserts)


def _label(place: Place) -> str:
    return ".".join(part for part in (place.flow, place.node) if part)


def _fields(error: BrokerError, place: Place) -> dict[str, object]:
    label = _label(place)
    return {
        "File": place.file,
        "Line": place.line,
        "Function": "evaluate",
        "Type": place.type,
        "Name": label,
        "Label": label,
        "Text": error.text,
        "Catalog": error.catalog,
        "Severity": error.severity,
        "Number": error.number,
    }
