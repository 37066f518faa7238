"""Document: a read document as the lazy source of a message tree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any, Final

from engine.tree.element import Element
from engine.tree.source import EXPAND, Handle, Source, Value, kept
from engine.tree.step import Step
from parsers.json_text.plain import ITEM, type_of

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
