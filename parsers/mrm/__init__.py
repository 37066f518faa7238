"""MRM: the parser of messages that message sets describe, and the message sets that templates select from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from engine.catalog import did_you_mean
from engine.errors import ConfigurationException, ParserException
from engine.message.received import Part
from engine.message.validation import Validation
from engine.message.validation import validate as validate_as_asked
from engine.parser import Form, Parser, Portion, Template, parser
from engine.tree.element import Element
from engine.tree.sharing import written
from engine.tree.source import NAME
from parsers.mrm.model import Codec, Definition, Message, MessageSet, wire_format_catalog
from parsers.mrm.validation import validate

if TYPE_CHECKING:
    from engine.tree.source import Handle, Source


UNKNOWN_SET = 5288
UNKNOWN_MESSAGE = 5287
UNKNOWN_FORMAT = 5290


class Library:
    """Message sets by name and identifier; codecs are compiled when they are first asked for, and then kept.

    How many there can be is said by the sets, not by messages: a template that selects nothing is an error.
    """

    __slots__ = ("_codecs", "sets")

    def __init__(self, sets: Iterable[MessageSet] = ()) -> None:
        known: dict[str, MessageSet] = {}
        for one in sets:
            for name in {one.name, one.identifier} - {""}:
                if known.setdefault(name, one) is not one:
                    raise ConfigurationException(f"there are two message sets called {name}: rename one of them")
        self.sets: Mapping[str, MessageSet] = MappingProxyType(known)
        self._codecs: dict[tuple[str, str, str], Codec] = {}

    def codec(self, template: Template) -> Codec:
        """Returns what reads and writes the message that a template selects."""
        found = self._codecs.get(template[1:])
        return self._selected(template) if found is None else found

    def _selected(self, template: Template) -> Codec:
        definition = self.definition(template)
        key = definition.message_set.name, definition.message.name, definition.format
        found = self._codecs.get(key)
        if found is None:
            kind = definition.message_set.formats[definition.format].kind
            found = self._codecs[key] = wire_format_catalog.find(kind).compile(definition)
        if template.type in definition.message_set.messages:  # a path through messages may be any text
            self._codecs[template[1:]] = found
        return found

    @property
    def kept(self) -> tuple[tuple[str, str, str], ...]:
        """Returns what codecs are kept under: sets, types and formats."""
        return tuple(self._codecs)

    def definition(self, template: Template) -> Definition:
        """The message that a template selects; what it names must be known."""
        if not self.sets:
            raise ParserException(UNKNOWN_SET, f"no message sets are deployed, and {template.set or 'MRM'} needs one")
        message_set = self.sets.get(template.set)
        if message_set is None and not template.set and len(set(map(id, self.sets.values()))) == 1:
            message_set = next(iter(self.sets.values()))
        if message_set is None:
            raise _unknown(UNKNOWN_SET, "message set", template.set, self.sets, "here")
        return Definition(message_set, _message(message_set, template.type), _format(message_set, template.format))


def _message(message_set: MessageSet, path: str) -> Message:
    """The message of a name; of a path through messages in messages, the outermost."""
    name = path.strip("/").partition("/")[0].rpartition(":")[2]
    messages = message_set.messages
    found = messages.get(name) or (next(iter(messages.values())) if not name and len(messages) == 1 else None)
    if found is None:
        raise _unknown(UNKNOWN_MESSAGE, "message", name, messages, f"in message set {message_set.name}")
    return found


def _format(message_set: MessageSet, name: str) -> str:
    """The format of a name: as the set calls it, or of a kind of which it has one."""
    formats = message_set.formats
    name = name or message_set.default_format
    if name in formats:
        return name
    fitting = [use.name for use in formats.values() if not name or use.kind == name]
    if len(fitting) != 1:
        raise _unknown(UNKNOWN_FORMAT, "wire format", name, formats, f"of message set {message_set.name}")
    return fitting[0]


def _unknown(number: int, what: str, name: str, known: Mapping[str, Any], where: str) -> ParserException:
    said = f"no {what} {where} is called {name}" if name else f"no {what} is named, and there is a choice {where}"
    listed = ", ".join(known) or "none"
    return ParserException(number, f"{said}{did_you_mean(name, list(known))}; known: {listed}", name)


_NO_SETS: Final = Library()


@parser
class Mrm(Parser):
    """A body as the fields of a message; which message, of which set and in which format, its template says.

    The one in the catalogue knows no message sets; a deployment binds one that knows its own.
    """

    __slots__ = ("library",)
    name = "MRM"
    has_models = True

    def __init__(self, library: Library = _NO_SETS) -> None:
        self.library = library

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        source, top = self.library.codec(portion.template).read(portion)
        wanted = portion.options.validation
        if wanted != "none":
            element = Element(self.name, "", NAME, source, top)
            element.domain = self
            validate_as_asked(self, element, portion.template, Validation(wanted, portion.options.action))
        return source, top

    def write(self, element: Element, form: Form) -> bytes:
        return self.library.codec(_known(form.template, element)).write(element, form)

    def validate(self, element: Element, template: Template, *, values: bool) -> None:
        validate(element, self.library.definition(_known(template, element)), values=values)


def _known(template: Template, element: Element) -> Template:
    """The template, or where it says nothing, that by which the element was read."""
    source = written(element).source if not any(template[1:]) else None
    return source.portion.template if isinstance(source, Part) else template
