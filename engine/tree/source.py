"""Source: what a lazy element asks of the parser that owns its bytes; Domain: who owns a part of a tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

if TYPE_CHECKING:
    from engine.tree.element import Element
    from engine.tree.step import Step, Types

Value: TypeAlias = object
Handle: TypeAlias = Any

# Element types, as every domain has them: a name, a value, or both. A domain's own types refine these in their low
# bytes; KIND masks what is common.
NAME: Final = 0x01000000
VALUE: Final = 0x02000000
NAME_VALUE: Final = 0x03000000
KIND: Final = 0xFF000000


class Mark:
    """A value that no message can hold."""

    __slots__ = ()


UNREAD: Final = Mark()
EXPAND: Final = Mark()


class Source:
    """The parser's side of a lazy element; a handle is the parser's own mark of a place in its bytes.

    `first`, `last` and `every` may answer EXPAND: the element then makes all its children and looks for itself. A
    place stays equal to itself as long as it is kept. Where the first child is a VALUE, or only attributes stand before
    it, it has no name, and its value is also that of the element.
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

    def last(self, handle: Handle) -> Handle:
        """The place of the last child, None, or EXPAND."""
        return EXPAND

    def every(self, handle: Handle, wanted: Step) -> Any:
        """The places of all children that the step matches, as a sequence, or EXPAND."""
        return EXPAND

    def beside(self, handle: Handle) -> frozenset[int]:
        """The types of attributes, which stand before the content of the element at this place."""
        return frozenset()

    def take_over(self, element: Element) -> None:
        """Called before an element that SHARES is edited: what it shares becomes its own."""


class Domain:
    """The owner of a part of a tree: the parser that reads and writes it, and names its element types.

    `constants` are the names that programs have for types of elements, and for options of the parser, behind the name
    of the domain or of one that it `lends` them to; `accepted` is what a type clause means by those that stand for more
    than their number.
    """

    __slots__ = ()
    name: str = ""
    type_names: Mapping[int, str] = MappingProxyType({NAME: "Name", VALUE: "Value", NAME_VALUE: "NameValue"})
    constants: Mapping[str, int] = MappingProxyType({})
    accepted: Mapping[str, Types] = MappingProxyType({})
    lends: tuple[str, ...] = ()
    valued_type: int = NAME_VALUE
    beside: frozenset[int] = frozenset()  # the types of attributes, which stand before the content of an element
    nameless: str = ""  # what a field is called that is created without a name; empty where it must have one

    def inner(self, name: str) -> Domain | None:
        """The domain of a child of that name, where it differs from the parent's."""
        return None


GENERIC: Final = Domain()
KEEPING: Final = Lock()  # held while what was made is kept, and never while it is made
T = TypeVar("T")


def kept(owner: object, name: str, made: T) -> T:
    """Returns what is kept under a name once it was made: by the first, where threads have made it at the same time."""
    with KEEPING:
        known: T | None = getattr(owner, name)
        if known is not None:
            return known
        setattr(owner, name, made)
        return made


def owner_of(element: Element) -> Domain:
    """The domain of an element: its own, or that of the nearest element above which has one for it."""
    at, below = element, None
    while (domain := at.domain) is None:
        below, at = at, at.parent  # type: ignore[assignment]  # None ends the loop
        if at is None:
            return GENERIC
    return domain if below is None else domain.inner(below.name) or domain


def _beside(element: Element) -> frozenset[int]:
    """The types of attributes of an element: a tree that belongs to no domain is as its parser has read it."""
    source = element.source
    return owner_of(element).beside or (source.beside(element.handle) if source else frozenset())


def leading(element: Element) -> Element | None:
    """The child whose text counts as the element's value: a VALUE with nothing but attributes in front of it."""
    at, beside = element.first_child, None
    while at is not None and at.raw_type & KIND != VALUE:
        if not at.raw_type & VALUE:
            return None
        if beside is None:
            beside = _beside(element)
        if at.raw_type not in beside:
            return None
        at = at.next_linked
    return at
