"""Source: what a lazy element asks of the parser that owns its bytes; Domain: who owns a part of a tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from engine.step import Step
    from engine.tree import Element

Value: TypeAlias = object
Handle: TypeAlias = Any

# Element types, as every domain has them: a name, a value, or both. A domain's own types refine these in their low
# bytes; KIND masks what is common.
NAME: Final = 0x01000000
VALUE: Final = 0x02000000
NAME_VALUE: Final = 0x03000000
KIND: Final = 0xFF000000


class _Mark:
    """A value that no message can hold."""

    __slots__ = ()


UNREAD: Final = _Mark()
EXPAND: Final = _Mark()


class Source:
    """What a lazy element asks of the parser that owns its bytes; a handle is the parser's own mark of a place there.

    `first` and `every` may answer EXPAND: the element then makes all its children and looks for itself.
    """

    __slots__ = ()

    def value(self, handle: Handle) -> Value:
        """The value of the element at this place."""
        raise NotImplementedError(type(self))

    def children(self, handle: Handle) -> Iterable[Handle]:
        """The places of all its children, in order."""
        raise NotImplementedError(type(self))

    def element(self, handle: Handle, parent: Element) -> Element:
        """A new element for this place."""
        raise NotImplementedError(type(self))

    def first(self, handle: Handle, wanted: Step) -> Handle:
        """The place of the first child that the step matches, None, or EXPAND."""
        return EXPAND

    def every(self, handle: Handle, wanted: Step) -> Any:
        """The places of all children that the step matches, as a sequence, or EXPAND."""
        return EXPAND

    def take_over(self, element: Element) -> None:
        """Called before an element that SHARES is edited: what it shares becomes its own."""


class Domain:
    """Who owns a part of a tree: the parser that reads and writes it, and what its element types are called."""

    __slots__ = ()
    name: str = ""
    type_names: Mapping[int, str] = MappingProxyType({NAME: "Name", VALUE: "Value", NAME_VALUE: "NameValue"})
    valued_type: int = NAME_VALUE

    def inner(self, name: str) -> Domain | None:
        """The domain of a child of that name, where it differs from the parent's."""
        return None


GENERIC: Final = Domain()
