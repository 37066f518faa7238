"""JSON documents as lazy sources of trees, and trees as text: what was read and not changed stays as it was read."""

from __future__ import annotations

import json
import math
import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, time
from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import partial
from typing import Any, Final

from engine.budget import pay
from engine.errors import ParserException
from engine.tree.element import Element
from engine.tree.sharing import appended_children, changed_children, written
from engine.tree.source import EXPAND, KIND, NAME, NAME_VALUE, VALUE, Handle, Source, Value, kept
from engine.tree.states import EDITED, RESTRUCTURED
from engine.tree.step import Step

_LARGEST: Final = (1 << 63) - 1
_DIGITS: Final = Context(prec=34, rounding=ROUND_HALF_EVEN, traps=[])


class Node:
    """A place in a document: a name and what stands there; its children are made when they are asked for."""

    __slots__ = ("_all", "_made", "content", "name", "type")
    namespace: str = ""

    def __init__(self, name: str, content: Any) -> None:
        self.name = name
        self.content = content
        self.type = type_of(content)
        self._all: Sequence[Node] | None = None
        self._made: dict[str, Node] | None = None

    @property
    def nodes(self) -> Sequence[Node]:
        """The places below it, in order."""
        return kept(self, "_all", self._every_node()) if self._all is None else self._all

    def _every_node(self) -> Sequence[Node]:
        content = self.content
        if content.__class__ is list:
            return [Node(ITEM, item) for item in content]
        if content.__class__ is dict:
            return [self._member(name) for name in content]
        return [Node(name, value) for name, value in content.items()] if isinstance(content, dict) else ()

    def _member(self, name: str) -> Node:
        made = self._made
        if made is None:
            empty: dict[str, Node] = {}
            made = kept(self, "_made", empty)
        node = made.get(name)
        return made.setdefault(name, Node(name, self.content[name])) if node is None else node

    def first(self, wanted: Step) -> Node | None:
        """The first place below it that a step matches."""
        content, name = self.content, wanted.name
        if content.__class__ is dict:
            if name not in content:
                return None
            assert name is not None
            node = self._member(name)
            return node if (wanted.namespace == "" and not wanted.types) or wanted.matches(node) else None
        return next((node for node in self.nodes if wanted.matches(node)), None)

    def every(self, wanted: Step) -> Sequence[Node]:
        """All places below it that a step matches."""
        if self.content.__class__ is dict:
            node = self.first(wanted)
            return () if node is None else (node,)
        if wanted.name == ITEM and not wanted.types and not wanted.namespace and self.content.__class__ is list:
            return self.nodes
        return [node for node in self.nodes if wanted.matches(node)]


class Document(Source):
    """A document as the source of a tree; all there is to know stands in the handles, which are nodes."""

    __slots__ = ()

    def value(self, handle: Node) -> Value:
        content = handle.content
        kind = content.__class__
        if kind is str:
            return content
        if kind is int:
            return content if -_LARGEST - 1 <= content <= _LARGEST else _decimal(Decimal(content))
        if kind is Decimal:
            return number(content)
        return None if isinstance(content, dict | list) else content

    def children(self, handle: Node) -> Iterable[Node]:
        return handle.nodes

    def element(self, handle: Node, parent: Element) -> Element:
        return Element(handle.name, "", handle.type, self, handle, parent)

    def first(self, handle: Node, wanted: Step) -> Handle:
        return handle.first(wanted) if wanted.name else EXPAND

    def every(self, handle: Node, wanted: Step) -> Any:
        return handle.every(wanted) if wanted.name else EXPAND


DOCUMENT: Final = Document()


def number(exact: Decimal) -> float | Decimal:
    """A number with a fraction or an exponent: a FLOAT where that says the same, otherwise a DECIMAL of 34 digits.

    >>> number(Decimal("9.810")), number(Decimal("12345678901234567.89"))
    (9.81, Decimal('12345678901234567.89'))
    """
    near = float(exact)
    return near if Decimal(repr(near)) == exact else _decimal(exact)


def _decimal(exact: Decimal) -> Decimal:
    return exact if len(exact.as_tuple().digits) <= _DIGITS.prec else _DIGITS.plus(exact)


OBJECT: Final = NAME
ARRAY: Final = 0x01001000
ITEM: Final = "Item"


class Pairs(dict[str, Any]):
    """An object whose members stand in a list of pairs, for names may repeat; it is true when it has any.

    >>> Pairs([("a", 1), ("a", 2)]).items()
    [('a', 1), ('a', 2)]
    """

    __slots__ = ("pairs",)

    def __init__(self, pairs: Iterable[tuple[str, Any]] = ()) -> None:
        self.pairs = list(pairs)
        super().__init__(self.pairs)

    def append(self, name: str, value: Any) -> None:
        """Put one more member last."""
        self.pairs.append((name, value))
        self[name] = None  # encoders take an empty dict for an empty object

    def items(self) -> list[tuple[str, Any]]:  # type: ignore[override]  # more than a view: names repeat
        """The members, in order."""
        return self.pairs


def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of these members.

    >>> type(members([("a", 1)])).__name__, type(members([("a", 1), ("a", 1)])).__name__
    ('dict', 'Pairs')
    """
    made = dict(pairs)
    return made if len(made) == len(pairs) else Pairs(pairs)


def type_of(content: object) -> int:
    """The element type of a value: an object, an array, or a name with a scalar.

    >>> hex(type_of([])), hex(type_of("text"))
    ('0x1001000', '0x3000000')
    """
    if isinstance(content, dict):
        return OBJECT
    return ARRAY if content.__class__ is list else NAME_VALUE


MAX_DEPTH: Final = 512
_LARGEST_EXPONENT: Final = 6144  # of numbers that are written without one
_TOKEN: Final = f"penstock-{secrets.token_hex(8)} "  # no message can hold what was chosen after it was made
_NUMBER: Final = re.compile(f'"{_TOKEN}([^"]*)"')

_Put = Callable[[Any], object]


class Unwritable(ValueError):
    """A value or structure that JSON cannot hold, with what to do about it."""


class _Digits:
    """A number in the form it is to be written in."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


def text_of(document: Any) -> str:
    r"""A plain document as text, without blanks; a slash is escaped, as IBM's serializer does.

    >>> text_of({"a": [1, Decimal("1.50"), "1/2", None]})
    '{"a":[1,1.50,"1\\/2",null]}'
    """
    text = _ENCODER.encode(document)
    if "/" in text:
        text = text.replace("/", "\\/")
    return _NUMBER.sub(r"\1", text) if _TOKEN in text else text


def _spelled(value: object) -> str:
    """Returns a mark for a number until the text is whole: the standard library writes strings, no digits of ours."""
    if isinstance(value, _Digits):
        return _TOKEN + value.text
    text = str(value)  # of a number that was read with a point or an exponent, and is to be one again
    return _TOKEN + (f"{text}E+0" if text.lstrip("-").isdigit() else text)


_ENCODER: Final = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":"), default=_spelled
)


def plain_of(top: Element) -> Any:
    """Returns what an element and all below it stand for, as a plain document."""
    found: list[Any] = []
    pending: list[tuple[Element, _Put, int]] = [(top, found.append, 0)]
    while pending:
        element, put, depth = pending.pop()
        if depth > MAX_DEPTH:
            raise unwritable(top, f"objects and arrays are nested deeper than {MAX_DEPTH} levels")
        held = written(element)
        is_read = held.source is DOCUMENT
        if is_read and not held.state & EDITED and element.raw_type == held.handle.type:
            put(held.handle.content)
            continue
        patch = _patched(held) if is_read and element.type == held.handle.type else None
        if patch is not None:
            content, changed = patch
            put(content)
            pending += [(child, place, depth + 1) for child, place in changed]
            continue
        content, puts = _new(element)
        if len(puts) > 1:
            pay(len(puts))
        put(content)
        pending += [(child, place, depth + 1) for child, place in reversed(puts)]
    return found[0]


def _patched(held: Element) -> tuple[Any, list[tuple[Element, _Put]]] | None:
    """A copy of what an element was read with, and the places in it that have changed; None where no patch will do."""
    if held.state & RESTRUCTURED:
        return None
    node: Node = held.handle
    content, changed = node.content, changed_children(held)
    puts: list[tuple[Element, _Put]]
    if content.__class__ is list:
        items = list(content)
        places = {id(place): number for number, place in enumerate(node.nodes)} if changed else {}
        puts = [(child, partial(items.__setitem__, places[id(place)])) for place, child in changed]
        for child in appended_children(held):
            items.append(None)
            puts.append((child, partial(items.__setitem__, len(items) - 1)))
        return items, puts
    if content.__class__ is not dict:
        return None
    appended = appended_children(held)
    if any(child.name in content for child in appended) or len({child.name for child in appended}) < len(appended):
        return None
    copied = dict(content)
    copied.update((child.name, None) for child in appended)
    puts = [(child, partial(copied.__setitem__, place.name)) for place, child in changed]
    puts += [(child, partial(copied.__setitem__, child.name)) for child in appended]
    return copied, puts


def _new(element: Element) -> tuple[Any, list[tuple[Element, _Put]]]:
    """Returns what an element is of itself, and how its children get into it."""
    children = list(element)
    if element.type == ARRAY:
        items: list[Any] = []
        return items, [(child, items.append) for child in children]
    value = element.value
    if not children:
        if value is None and not element.type & VALUE:
            return {}, []
        return _scalar(element, value), []
    if children[0].type & KIND == VALUE and len(children) == 1:
        return _scalar(element, value), []
    if value not in (None, ""):
        text = f"it has both the value {value!r:.40} and fields below it, and JSON has one of the two"
        raise unwritable(element, f"{text}: SET the value into a field of its own")
    pairs = Pairs()
    return pairs, [(child, partial(pairs.append, child.name)) for child in children]


def _scalar(element: Element, value: Value) -> Any:
    kind = value.__class__
    if kind is str or kind is int or kind is bool or value is None:
        return value
    try:
        if isinstance(value, float):
            return _Digits(float_text(value))
        if isinstance(value, Decimal):
            return _Digits(decimal_text(value))
    except Unwritable as error:
        raise unwritable(element, str(error)) from error
    if isinstance(value, bytes):
        return value.hex().upper()
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(" ")
    return value.replace(tzinfo=None).isoformat() if isinstance(value, time) else str(value)


def float_text(value: float) -> str:
    """A FLOAT: one digit, a point, at least one digit more, and an exponent.

    >>> float_text(9.81), float_text(-200.0), float_text(1e-7)
    ('9.81E+0', '-2.0E+2', '1.0E-7')
    """
    if not math.isfinite(value):
        raise Unwritable(f"JSON has no number {value}: SET a number or NULL instead")
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    first, *rest = map(str, digits)
    power = exponent + len(digits) - 1 if value else 0
    return f"{'-' if sign else ''}{first}.{''.join(rest) or '0'}E{power:+d}"


def decimal_text(value: Decimal) -> str:
    """A DECIMAL: all its digits, without an exponent unless that would be very long.

    >>> decimal_text(Decimal("1.50")), decimal_text(Decimal("1E+3"))
    ('1.50', '1000')
    """
    if not value.is_finite():
        raise Unwritable(f"JSON has no number {value}: SET a number or NULL instead")
    return format(value, "f") if abs(value.adjusted()) <= _LARGEST_EXPONENT else str(value)


def unwritable(element: Element, text: str) -> ParserException:
    """The error that says which element JSON cannot hold."""
    return ParserException(5010, f"JSON cannot hold {element.name}: {text}", element.name)
