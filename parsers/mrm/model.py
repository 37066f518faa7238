"""The logical model: message sets, messages, types, groups and fields; the wire formats that read and write them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol, TypeAlias, TypeVar, overload

import regex

from engine.catalog import Catalog
from engine.parser import Form, Portion
from engine.tree.element import Element
from engine.tree.source import Handle, Source

UNBOUNDED: Final = -1  # max_occurs of a field that may repeat without end

Kind = Literal[
    "string",
    "boolean",
    "binary",
    "integer",
    "long",
    "int",
    "short",
    "byte",
    "unsignedLong",
    "unsignedInt",
    "unsignedShort",
    "unsignedByte",
    "decimal",
    "float",
    "double",
    "dateTime",
    "date",
    "time",
    "gYear",
    "gYearMonth",
    "gMonth",
    "gMonthDay",
    "gDay",
    "duration",
]
Family = Literal["string", "boolean", "binary", "integer", "decimal", "float", "dateTime", "duration"]
Composition = Literal["sequence", "choice", "all", "unorderedSet", "orderedSet", "message"]
Content = Literal["closed", "open", "openDefined"]
Interpretation = Literal["", "messageIdentity", "messageSetIdentity", "messageFormatIdentity"]

# What physical properties are kept under: the name of one of the set's wire formats.
Physical: TypeAlias = Mapping[str, Any]
NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})

_FAMILIES: Final[Mapping[str, Family]] = {
    "string": "string",
    "boolean": "boolean",
    "binary": "binary",
    **dict.fromkeys(("integer", "long", "int", "short", "byte"), "integer"),
    **dict.fromkeys(("unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"), "integer"),
    "decimal": "decimal",
    "float": "float",
    "double": "float",
    **dict.fromkeys(("dateTime", "date", "time"), "dateTime"),
    **dict.fromkeys(("gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay"), "dateTime"),
    "duration": "duration",
}

# The bytes of the integers that have a width, and whether they are signed.
WIDTHS: Final[Mapping[str, tuple[int, bool]]] = {
    **{kind: (width, True) for kind, width in (("long", 8), ("int", 4), ("short", 2), ("byte", 1))},
    **{f"unsigned{kind}": (width, False) for kind, width in (("Long", 8), ("Int", 4), ("Short", 2), ("Byte", 1))},
}


@dataclass(frozen=True, slots=True)
class SimpleType:
    """The values of a field: a kind, and facets that validation checks; texts are as XML Schema writes them."""

    kind: Kind = "string"
    length: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    enumeration: tuple[str, ...] = ()
    min_inclusive: str | None = None
    max_inclusive: str | None = None
    min_exclusive: str | None = None
    max_exclusive: str | None = None
    total_digits: int | None = None
    fraction_digits: int | None = None

    @property
    def family(self) -> Family:
        """The logical type of MRM that the kind belongs to.

        >>> SimpleType("short").family
        'integer'
        """
        return _FAMILIES[self.kind]


@dataclass(frozen=True, slots=True)
class Group:
    """The members of a field or message, or of a part of one, and how they are composed.

    A group with a name is a complex type, which fields and messages of its set refer to. Among the members of another
    it has no name of its own in trees: its fields stand beside those of that. A REDEFINES is a choice among members.
    """

    members: tuple[Member, ...] = ()
    composition: Composition = "sequence"
    content: Content = "closed"
    name: str = ""
    documentation: str = ""
    physical: Physical = field(default_factory=lambda: NOTHING, hash=False)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a message: its type is simple, a group of its own, or the name of one of the set's types.

    `repeat_reference` is the path, by dots, of an earlier integer field that says how often this one occurs. Its first
    name is looked for among the fields before this one, then among those before the field around it, and so on.
    `default` is as XML Schema writes it; so is what `fixed` says the value always is.
    """

    name: str
    type: SimpleType | Group | str = SimpleType()
    namespace: str = ""
    min_occurs: int = 1
    max_occurs: int = 1
    repeat_reference: str = ""
    default: str | None = None
    fixed: bool = False
    nullable: bool = False
    interpret_value_as: Interpretation = ""
    documentation: str = ""
    physical: Physical = field(default_factory=lambda: NOTHING, hash=False)

    @property
    def repeats(self) -> bool:
        """Returns whether there may be more than one of it."""
        return self.max_occurs not in {0, 1}


Member: TypeAlias = Field | Group


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a set: its fields stand in the tree directly below MRM."""

    name: str
    type: Group | str
    namespace: str = ""
    documentation: str = ""
    physical: Physical = field(default_factory=lambda: NOTHING, hash=False)


@dataclass(frozen=True, slots=True)
class WireFormatUse:
    """One wire format of a set: which kind it is, and what it says for the whole set."""

    name: str
    kind: str
    settings: Any = None


@dataclass(frozen=True, slots=True)
class MessageSet:
    """Messages and types, by name, and the wire formats that they may be in.

    >>> orders = MessageSet("ORDERS", messages={"Order": Message("Order", Group((Field("id"),)))})
    >>> [member.name for member in orders.content(orders.messages["Order"].type).members]
    ['id']
    """

    name: str
    identifier: str = ""
    formats: Mapping[str, WireFormatUse] = field(default_factory=lambda: NOTHING, hash=False)
    types: Mapping[str, Group] = field(default_factory=lambda: NOTHING, hash=False)
    messages: Mapping[str, Message] = field(default_factory=lambda: NOTHING, hash=False)
    default_format: str = ""
    documentation: str = ""

    @overload
    def content(self, type_: Group | str) -> Group: ...

    @overload
    def content(self, type_: SimpleType) -> None: ...

    def content(self, type_: SimpleType | Group | str) -> Group | None:
        """The group that a type is; None where it is simple."""
        if isinstance(type_, SimpleType):
            return None
        return self.types[type_] if isinstance(type_, str) else type_

    def members(self, group: Group) -> tuple[Member, ...]:
        """The members of a group; those of a group for any message are the messages of the set, each as a field."""
        if group.composition != "message":
            return group.members
        return tuple(Field(one.name, one.type, one.namespace) for one in self.messages.values())


def fields_of(member: Member, message_set: MessageSet | None = None) -> Iterator[Field]:
    """A field, or those that stand in a group, its inner groups among them; types are not looked into.

    Messages that may stand in it are among them where the set is given.

    >>> [f.name for f in fields_of(Group((Field("a"), Group((Field("b"), Field("c")), "choice"))))]
    ['a', 'b', 'c']
    """
    if isinstance(member, Field):
        yield member
        return
    for inner in member.members if message_set is None else message_set.members(member):
        if isinstance(inner, Field):
            yield inner
        else:
            yield from fields_of(inner, message_set)


@dataclass(frozen=True, slots=True)
class Definition:
    """One message of a set in one of the set's wire formats: what a template selects."""

    message_set: MessageSet
    message: Message
    format: str

    @property
    def settings(self) -> Any:
        """Returns what the wire format says for the whole set."""
        return self.message_set.formats[self.format].settings


class Codec(Protocol):
    """Reads and writes one message in one wire format; it is made once for all of them."""

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        """The bytes as a lazy source, and the handle of its top."""
        ...

    def write(self, element: Element, form: Form) -> bytes:
        """The bytes of the element that stands for the message."""
        ...


@dataclass(frozen=True, slots=True)
class WireFormat:
    """A kind of wire format: what it can be told, as dataclasses whose fields are its properties, and its codecs.

    `settings` are for a whole set; `field`, `group` and `message` for one of each, None where there is nothing to say.
    What a model says of one is in its `physical`, under the name of the format.
    """

    name: str
    settings: type
    field: type | None
    group: type | None
    message: type | None
    compile: Callable[[Definition], Codec]


wire_format_catalog: Final[Catalog[WireFormat]] = Catalog("wire format", package="parsers.mrm")


Compile = TypeVar("Compile", bound=Callable[[Definition], Codec])


def wire_format(
    name: str, *, settings: type, field: type | None = None, group: type | None = None, message: type | None = None
) -> Callable[[Compile], Compile]:
    """A decorator that makes what it decorates, a codec that is made of a definition, a wire format of that name."""

    def declare(compile_: Compile) -> Compile:
        wire_format_catalog.register(name)(WireFormat(name, settings, field, group, message, compile_))
        return compile_

    return declare


LONGEST: Final = 1.0  # seconds
_LEAST: Final = 1e-6


class RegexTimeLimit:
    """The seconds that are left for one message."""

    __slots__ = ("_left",)

    def __init__(self, seconds: float = LONGEST) -> None:
        self._left = seconds

    def match(self, pattern: regex.Pattern[str], text: str, start: int, end: int) -> regex.Match[str] | None:
        """The match that begins at the start; TimeoutError once no time is left."""
        return self._timed(lambda left: pattern.match(text, start, end, timeout=left))

    def fullmatch(self, pattern: regex.Pattern[str], text: str) -> regex.Match[str] | None:
        """The match of a whole text; TimeoutError once no time is left."""
        return self._timed(lambda left: pattern.fullmatch(text, timeout=left))

    def _timed(self, search: Callable[[float], regex.Match[str] | None]) -> regex.Match[str] | None:
        if self._left <= 0:
            raise TimeoutError
        begun = perf_counter()
        try:
            return search(max(self._left, _LEAST))
        finally:
            self._left -= perf_counter() - begun
