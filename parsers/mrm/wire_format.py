"""WireFormat: how messages of one kind of physical form are read and written; each registers itself in its file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from engine.catalog import Catalog

if TYPE_CHECKING:
    from engine.parser import Form, Portion
    from engine.tree.element import Element
    from engine.tree.source import Handle, Source
    from parsers.mrm.model import Message, MessageSet


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


def wire_format(
    name: str, *, settings: type, field: type | None = None, group: type | None = None, message: type | None = None
) -> Callable[[Callable[[Definition], Codec]], Callable[[Definition], Codec]]:
    """A decorator that makes what it decorates, a function that compiles a definition, a wire format of that name."""

    def declare(compile_: Callable[[Definition], Codec]) -> Callable[[Definition], Codec]:
        wire_format_catalog.register(name)(WireFormat(name, settings, field, group, message, compile_))
        return compile_

    return declare
