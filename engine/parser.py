"""The Parser protocol: bytes to a lazy part of a tree, and back; headers also say what follows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol, TypeAlias

from engine.catalog import Catalog
from engine.descriptor import LITTLE_ENDIAN, UTF_8, Descriptor
from engine.tree.source import Domain, Handle, Source

if TYPE_CHECKING:
    from engine.message.received import Received
    from engine.tree.element import Element


# Options of a parser that say what of a document is kept.
RETAIN_MIXED: Final = 1 << 20
RETAIN_COMMENTS: Final = 1 << 21
RETAIN_INSTRUCTIONS: Final = 1 << 22


class Template(NamedTuple):
    """The parser of a body, and the message and set that it is, as flows and mcd folders say."""

    domain: str = ""
    set: str = ""
    type: str = ""
    format: str = ""


class Options(NamedTuple):
    """The options of parsing a body, as an input node's properties say.

    `instead` is a domain, and the one whose parser reads bodies of it.
    """

    validation: Literal["none", "content", "contentAndValue"] = "none"
    timing: str = "deferred"
    action: Literal["exception", "exceptionList", "userTrace", "localErrorLog"] = "exception"
    retain_mixed_content: bool = False
    retain_comments: bool = False
    retain_processing_instructions: bool = False
    instead: tuple[str, str] = ("", "")


NO_TEMPLATE: Final = Template()
NO_OPTIONS: Final = Options()


class Follow(NamedTuple):
    """The part that follows a header, as the header's fields announce it."""

    format: str = ""
    encoding: int = LITTLE_ENDIAN
    ccsid: int = UTF_8
    template: Template | None = None


class Portion(NamedTuple):
    """The bytes from `start` to `end` of a message and all that is known about them before they are read."""

    data: bytes
    start: int
    end: int
    follow: Follow
    template: Template = NO_TEMPLATE
    options: Options = NO_OPTIONS
    received: Received | None = None

    @property
    def bytes(self) -> bytes:
        """The portion's own bytes."""
        if self.start == 0 and self.end == len(self.data):
            return self.data
        return self.data[self.start : self.end]


class Form(NamedTuple):
    """The form in which a part of a tree is written; a header is also told what it must announce."""

    encoding: int = LITTLE_ENDIAN
    ccsid: int = UTF_8
    template: Template = NO_TEMPLATE
    next: Follow | None = None


class Parser(Domain):
    """Reads and writes the part of a message that stands under its name in Root.

    `read` is given a portion when something in it is first looked at, and answers with the source and the handle of
    the part's top; `write` renders an element that stands under the parser's name. What `may_be_empty` is sound also
    where there are no bytes of it; what `has_models` can validate.
    """

    __slots__ = ()
    may_be_empty: bool = True
    has_models: bool = False

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        """Read lazily."""
        raise NotImplementedError(type(self))

    def write(self, element: Element, form: Form) -> bytes:
        """The bytes of an element, in this form."""
        raise NotImplementedError(type(self))

    def validate(self, element: Element, template: Template, *, values: bool) -> None:
        """Raise where a body is not what its model says of its content, and of its values; not all have a model."""


class Header(Parser):
    """A parser of a header: MQ Format names announce it, and it says what follows it without a full read.

    One that is `whole` is a body by itself: another follows it only where it leaves bytes over.
    """

    __slots__ = ()
    formats: tuple[str, ...] = ()
    whole: bool = False

    def measure(self, portion: Portion) -> tuple[int, Follow]:
        """The header's length in bytes, and what it announces."""
        raise NotImplementedError(type(self))

    def describe(self, element: Element, said: Template) -> bool:
        """Have the header say what the body is from now on, as far as `said` is not empty; whether that changes it."""
        return False

    def introduce(self, element: Element, said: Template) -> None:
        """Have a header that can say what the body is do so, also where it has said nothing of it yet."""


parser_catalog: Final[Catalog[Parser]] = Catalog("parser", package="parsers")
format_catalog: Final[Catalog[Header]] = Catalog("header format", package="parsers")


class Codec(Protocol):
    """Text to bytes and back by CCSID and encoding."""

    def decode(self, data: bytes, ccsid: int, encoding: int) -> str:
        """The text of bytes."""
        ...

    def encode(self, text: str, ccsid: int, encoding: int) -> bytes:
        """The bytes of text."""
        ...


codec_catalog: Final[Catalog[Codec]] = Catalog("codec", package="parsers.charsets")
Convert: TypeAlias = "Callable[[Descriptor, bytes, int, int], tuple[Descriptor, bytes]]"
conversion_catalog: Final[Catalog[Convert]] = Catalog("conversion", package="parsers")


def parser(kind: type[Parser]) -> type[Parser]:
    """Class decorator: put a parser into the catalogue, a header also under the formats that announce it."""
    made = kind()
    parser_catalog.register(made.name)(made)
    if isinstance(made, Header):
        format_catalog.register(*made.formats)(made)
    return kind
