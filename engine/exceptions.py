"""The ExceptionList: what went wrong, as a tree that flows can read."""

from __future__ import annotations

from typing import Final

from engine.errors import BrokerError
from engine.source import NAME, NAME_VALUE
from engine.tree import Element

_CATALOG: Final = "BIPmsgs"
_THROWING: Final = 2230


def exception_list(error: BaseException) -> Element:
    """The ExceptionList of an error: the nodes it passed on its way up, then what caused it, each inside the last.

    >>> tree = exception_list(BrokerError(2450, "divide by zero"))
    >>> tree.at("RecoverableException", "Number").value
    2450
    """
    top = Element("ExceptionList")
    at = top
    for kind, fields, inserts in _chain(error):
        at = at.add(kind, type_=NAME)
        for name, value in fields.items():
            at.add(name, value, type_=NAME_VALUE)
        for insert_type, text in inserts:
            insert = at.add("Insert")
            insert.add("Type", insert_type, type_=NAME_VALUE)
            insert.add("Text", text, type_=NAME_VALUE)
    return top


def _chain(error: BaseException) -> list[tuple[str, dict[str, object], list[tuple[int, str]]]]:
    links: list[tuple[str, dict[str, object], list[tuple[int, str]]]] = []
    at: BaseException | None = error
    while at is not None:
        if isinstance(at, BrokerError):
            if not links and at.number != _THROWING:
                links.append(_passed(at))
            links.append((at.kind, _fields(at), [(i.type, i.text) for i in at.inserts]))
        elif not links:
            links.append(("RecoverableException", _fields(BrokerError(2230, str(at))), []))
        at = at.__cause__
    return links


def _passed(error: BrokerError) -> tuple[str, dict[str, object], list[tuple[int, str]]]:
    passed = BrokerError(_THROWING, "Node throwing exception", error.place.node).at(error.place)
    return ("RecoverableException", _fields(passed), [(i.type, i.text) for i in passed.inserts])


def _fields(error: BrokerError) -> dict[str, object]:
    place = error.place
    label = ".".join(part for part in (place.flow, place.node) if part)
    return {
        "File": place.file,
        "Line": place.line,
        "Function": "evaluate",
        "Type": "",
        "Name": label,
        "Label": label,
        "Text": error.text,
        "Catalog": _CATALOG,
        "Severity": error.severity,
        "Number": error.number,
    }
