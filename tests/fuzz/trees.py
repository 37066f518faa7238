"""Trees: what targets do with what was read: look at all of it, change one value to itself, write it again."""

from __future__ import annotations

from datetime import date, time
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import Any, Final

from engine.dates.patterns import written_iso
from engine.message.received import Part
from engine.parser import Follow, Form, Parser, Portion
from engine.tree.element import Element
from engine.tree.sharing import copy
from engine.tree.source import NAME

_MOST: Final = 20_000
_EXACT: Final = Context(prec=11_000, Emax=MAX_EMAX, Emin=MIN_EMIN)


class Anything(Parser):
    """The parser of one codec, which reads without a template."""

    __slots__ = ("_codec",)
    name = "MRM"

    def __init__(self, codec: Any) -> None:
        self._codec = codec

    def read(self, portion: Portion) -> Any:
        return self._codec.read(portion)


def opened(parser: Parser, data: bytes, encoding: int, ccsid: int) -> Element:
    """The tree of some bytes."""
    portion = Portion(data, 0, len(data), Follow("", encoding, ccsid))
    return Element(parser.name, "", NAME, Part(parser, portion))


def seen(element: Element) -> list[Any]:
    """All of a tree, as lists of names, namespaces and values."""
    left = _MOST

    def look(at: Element, depth: int) -> list[Any]:
        nonlocal left
        found = []
        for child in at:
            left -= 1
            if left < 0 or depth > 200:
                break
            found.append((child.name, child.namespace, shown(child.value), look(child, depth + 1)))
        return found

    return look(element, 0)


def shown(value: Any) -> str:
    """A value such that equal ones are shown alike."""
    if isinstance(value, Decimal):
        return f"Decimal {value.normalize(_EXACT)}"
    if isinstance(value, date | time):
        return f"{type(value).__name__} {written_iso(value)}"
    return f"{type(value).__name__} {value!r}"


def rewritten(write: Any, element: Element, encoding: int, ccsid: int, which: int) -> bytes:
    """The bytes of a copy of which one value was set to what it was."""
    tree = copy(element)
    leaves = [leaf for leaf in _leaves(tree) if leaf.value is not None]
    if leaves:
        leaf = leaves[which % len(leaves)]
        leaf.value = leaf.value
    made: bytes = write(tree, Form(encoding, ccsid))
    return made


def rebuilt(element: Element, name: str = "MRM") -> Element:
    """A tree with the same names and values that nothing was read for."""
    made = Element(name)
    _fill(made, element)
    return made


def _fill(made: Element, element: Element) -> None:
    for child in element:
        if child.first_child is None:
            made.add(child.name, child.value, namespace=child.namespace)
        else:
            _fill(made.add(child.name, namespace=child.namespace), child)


def _leaves(element: Element) -> list[Element]:
    found, pending = [], [element]
    while pending and len(found) < _MOST:
        at = pending.pop()
        below = list(at)
        pending += below
        if not below and at is not element:
            found.append(at)
    return found
