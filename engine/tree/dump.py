"""The dump of a tree, as a Trace node of WebSphere Message Broker 8 and its successors writes it.

    ( ['MQROOT' : 0x7f0260190fe0]
      (0x01000000:Name  ):Properties = ( ['MQPROPERTYPARSER' : 0x7f02601910a0]
        (0x03000000:NameValue):MessageSet = '' (CHARACTER)

Type names and names are as wide as the widest among siblings. An element with a value and children shows the value
first and the children in parentheses of their own; a folder without anything ends behind the equals sign. The part of
each parser says in brackets whose it is and where it lives. Characters stand as they are, quotes and control
characters among them: a dump is for people, and cannot be read back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, datetime, time
from decimal import Decimal
from types import MappingProxyType
from typing import Final, NamedTuple

from engine.budget import pay
from engine.tree.element import Element
from engine.tree.source import GENERIC, NAME, NAME_VALUE, Domain, Value, leading

# What the product calls the parser of a domain in dumps, where that is not the domain's name.
_PARSERS: Final = MappingProxyType(
    {
        "": "MQROOT",
        "Properties": "MQPROPERTYPARSER",
        "MQMD": "MQHMD",
        "MQMDE": "MQHMDE",
        "MQRFH": "MQHRF",
        "MQRFH2": "MQHRF2",
        "MQRFH2C": "MQHRF2C",
        "MQDLH": "MQDEAD",
        "MQCIH": "MQCICS",
        "MQIIH": "MQIMS",
        "MQCFH": "MQPCF",
        "XML": "xml",
        "XMLNS": "xmlns",
        "XMLNSC": "xmlnsc",
        "JSON": "json",
        "BLOB": "none",
    }
)


class _Level(NamedTuple):
    """A level of a dump: the children of one element that are left, their layout, and the domain that owns them."""

    children: Iterator[tuple[Element, Domain]]
    depth: int
    type_width: int
    name_width: int
    owner: Domain


def dump(element: Element, *, address: Callable[[Element], int] = id) -> str:
    """The dump of a tree or a part of one; a field without children is its bare value.

    `address` says where the part of a parser is to be shown to live.

    >>> order = Element("Environment")
    >>> _ = order.add("Order").add("Id", 7)
    >>> print(dump(order, address=lambda _: 0x7F10))
    ( ['MQROOT' : 0x7f10]
      (0x01000000:Name):Order = (
        (0x03000000:NameValue):Id = 7 (INTEGER)
      )
    )
    >>> print(dump(order.at("Order", "Id")))
    7
    """
    return "\n".join(lines(element, address=address))


def lines(element: Element, *, address: Callable[[Element], int] = id) -> Iterator[str]:
    """The lines of a dump, one by one: those of a deep tree are long."""
    owner = element.owner
    own, children = _content(element)
    if not children and (own is not None or not _is_folder(element)):
        yield literal(own)
        return
    if own is not None:
        yield literal(own)
    yield "(" + _bracket(element, owner, address)
    levels = [_level(element, children, owner, 1)]
    while levels:
        level = levels[-1]
        pay(1)
        following = next(level.children, None)
        if following is None:
            levels.pop()
            yield "  " * (level.depth - 1) + ")"
            continue
        child, owner = following
        indent = "  " * level.depth
        text = f"{indent}{_name(child, owner, level)} ="
        own, children = _content(child)
        bracket = _bracket(child, owner, address) if owner is not level.owner else ""
        if not children and not bracket:
            yield text if own is None and _is_folder(child) else f"{text} {typed(own)}"
            continue
        if own is not None or not _is_folder(child):
            yield f"{text} {typed(own)}"
            text = indent[:-1]
        yield f"{text} ({bracket}"
        levels.append(_level(child, children, owner, level.depth + 1))


def _level(element: Element, children: list[Element], owner: Domain, depth: int) -> _Level:
    owners = [_owner(element, child, owner) for child in children]
    return _Level(
        iter(list(zip(children, owners, strict=True))),
        depth,
        max((len(_type_name(c, o)) for c, o in zip(children, owners, strict=True)), default=0),
        max((len(child.namespace) + 1 + len(child.name) for child in children), default=0),
        owner,
    )


def _owner(parent: Element, child: Element, above: Domain) -> Domain:
    """Returns what `child.owner` answers, without the way up."""
    inner = None if parent.domain is None else parent.domain.inner(child.name)
    return child.domain or inner or above


def _content(element: Element) -> tuple[Value, list[Element]]:
    """An element's own value and its children; a value that stands in the first child is not its own."""
    children = list(element)
    value, leads = element.value, leading(element)
    if (leads is not None and value is leads.value) or (value == "" and _is_folder(element)):
        value = None
    return value, children


def _is_folder(element: Element) -> bool:
    return element.type & NAME_VALUE == NAME


def _name(element: Element, owner: Domain, level: _Level) -> str:
    type_name = _type_name(element, owner).ljust(level.type_width)
    name = f"{element.namespace}:{element.name}".ljust(level.name_width)
    return f"(0x{element.type:08X}:{type_name}){name}"


def _type_name(element: Element, owner: Domain) -> str:
    """Returns the domain's name of the type; of a type that it does not know, one that tells name, value or both."""
    kind = element.type
    return owner.type_names.get(kind) or GENERIC.type_names.get(kind & NAME_VALUE, "Unknown")


def _bracket(element: Element, owner: Domain, address: Callable[[Element], int]) -> str:
    return f" ['{_PARSERS.get(owner.name, owner.name)}' : 0x{address(element):x}]"


def typed(value: Value) -> str:
    """A value as dumps show it in a tree.

    >>> typed(b"{"), typed(None)
    ("X'7b' (BLOB)", 'NULL')
    """
    return "NULL" if value is None else f"{literal(value)} ({_type_of(value)})"


def literal(value: Value) -> str:
    """A value as dumps show it alone: an ESQL literal, though quotes are not doubled.

    >>> literal("it's"), literal(44.72), literal(time(12, 40, 0, 500000))
    ("'it's'", '4.472E+1', "TIME '12:40:00.500'")
    """
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, datetime | date | time):
        return f"{_type_of(value)} '{_moment(value)}'"
    return str(value)


def _type_of(value: Value) -> str:
    if isinstance(value, datetime | time):
        name = "TIMESTAMP" if isinstance(value, datetime) else "TIME"
        return name if value.tzinfo is None else f"GMT{name}"
    return _TYPES.get(type(value)) or type(value).__name__.upper()


_TYPES: Final = MappingProxyType(
    {
        str: "CHARACTER",
        bool: "BOOLEAN",
        int: "INTEGER",
        bytes: "BLOB",
        float: "FLOAT",
        Decimal: "DECIMAL",
        date: "DATE",
    }
)


def _float(value: float) -> str:
    mantissa, exponent, power = f"{value:.14E}".partition("E")
    if not exponent:
        return {"INF": "INFINITY", "-INF": "-INFINITY"}.get(mantissa, mantissa)
    return f"{mantissa.rstrip('0').rstrip('.')}E{int(power):+d}"


def _moment(value: date | time) -> str:
    """A date or time with the fraction of its seconds that it has: none, three digits or six."""
    if not isinstance(value, datetime | time):
        return value.isoformat()
    fraction = value.microsecond
    spec = "seconds" if not fraction else "microseconds" if fraction % 1000 else "milliseconds"
    bare = value.replace(tzinfo=None)
    return bare.isoformat(" ", spec) if isinstance(bare, datetime) else bare.isoformat(spec)
