"""MRM: the parser of messages that message sets describe, the sets that templates select from, and validation."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import regex

from engine.budget import pay
from engine.catalog import did_you_mean
from engine.errors import ConfigurationException, ParserException
from engine.message.received import Part
from engine.message.validation import Validation
from engine.message.validation import validate as validate_as_asked
from engine.parser import Form, Parser, Portion, Template, parser
from engine.tree.element import Element
from engine.tree.sharing import written
from engine.tree.source import NAME, Handle, Source
from parsers.mrm.model import (
    LONGEST,
    UNBOUNDED,
    WIDTHS,
    Codec,
    Definition,
    Field,
    Group,
    Message,
    MessageSet,
    RegexTimeLimit,
    SimpleType,
    fields_of,
    wire_format_catalog,
)

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


INVALID: Final = 5285
_MOST_TOLD: Final = 100  # as inserts of the failure
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "duration": (str,),
    "boolean": (bool,),
    "binary": (bytes,),
    "integer": (int,),
    "decimal": (Decimal, int),
    "float": (float,),
    "dateTime": (date, time, datetime),
}


class Wanted(NamedTuple):
    """The extent of a validation: the content of a message, and of its fields the values too."""

    message_set: MessageSet
    values: bool
    time_limit: RegexTimeLimit


def validate(element: Element, definition: Definition, *, values: bool) -> None:
    """Raise with what is wrong with a message; where that is much, with the first of it and how much there is."""
    group = definition.message_set.content(definition.message.type)
    found = list(
        _of_group(element, group, definition.message.name, Wanted(definition.message_set, values, RegexTimeLimit()))
    )
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise ParserException(INVALID, f"{found[0]}{more}", definition.message.name, *found[:_MOST_TOLD])


def _of_group(element: Element, group: Group, path: str, wanted: Wanted) -> Iterator[str]:
    children = list(element)
    pay(len(children) + 1)
    known = {(field.name, field.namespace): field for field in fields_of(group, wanted.message_set)}
    for child in children:
        field = known.get((child.name, child.namespace))
        if field is not None:
            yield from _of_field(child, field, f"{path}.{child.name}", wanted)
        elif group.content == "closed" and group.composition != "message":
            yield f"{path} has no field called {child.name}"
    counts: dict[tuple[str, str], int] = {}
    for child in children:
        counts[child.name, child.namespace] = counts.get((child.name, child.namespace), 0) + 1
    yield from _content(group, counts, path)
    if group.composition in {"sequence", "orderedSet"}:
        yield from _order(children, list(known), path)


def _content(group: Group, counts: dict[tuple[str, str], int], path: str) -> Iterator[str]:
    """Yields which fields are missing, and which occur too often."""
    if group.composition == "choice":
        chosen = [member for member in group.members if _is_there(member, counts)]
        if len(chosen) > 1:
            names = ", ".join(field.name for member in chosen for field in fields_of(member))
            yield f"{path} is a choice, and more than one of it is there: {names}"
        members = tuple(chosen)
    else:
        members = group.members
    for member in members:
        if isinstance(member, Group):
            yield from _content(member, counts, path)
            continue
        count = counts.get((member.name, member.namespace), 0)
        if count < member.min_occurs and not member.repeat_reference:
            yield f"{path}.{member.name} occurs {count} times, and must {member.min_occurs} times"
        if member.max_occurs != UNBOUNDED and count > member.max_occurs:
            yield f"{path}.{member.name} occurs {count} times, and may {member.max_occurs} times"


def _is_there(member: Field | Group, counts: dict[tuple[str, str], int]) -> bool:
    return any((field.name, field.namespace) in counts for field in fields_of(member))


def _order(children: list[Element], names: list[tuple[str, str]], path: str) -> Iterator[str]:
    places = {name: at for at, name in enumerate(names)}
    last = -1
    for child in children:
        at = places.get((child.name, child.namespace), last)
        if at < last:
            yield f"{path}.{child.name} is out of order"
            return
        last = at


def _of_field(element: Element, field: Field, path: str, wanted: Wanted) -> Iterator[str]:
    if not isinstance(field.type, SimpleType):
        yield from _of_group(element, wanted.message_set.content(field.type), path, wanted)
        return
    value = element.value
    if value is None:
        if not field.nullable:
            yield f"{path} is NULL, and may not be"
    elif wanted.values:
        yield from (f"{path} {problem}" for problem in problems_of(value, field.type, wanted.time_limit))
        if field.fixed and field.default is not None and not _same(value, field.default):
            yield f"{path} is {value!r}, and must be {field.default}"


def problems_of(value: Any, type_: SimpleType, time_limit: RegexTimeLimit | None = None) -> Iterator[str]:
    """Yields what is wrong with a value of a type.

    >>> list(problems_of("ABCD", SimpleType("string", max_length=3)))
    ["is 'ABCD', and may be 3 long at most"]
    """
    if not isinstance(value, _TYPES[type_.family]) or (isinstance(value, bool) and type_.family != "boolean"):
        yield f"is {value!r:.60}, and must be of type {type_.kind}"
        return
    if type_.kind in WIDTHS and not _fits(value, *WIDTHS[type_.kind]):
        yield f"is {value}, and does not fit into type {type_.kind}"
    yield from _lengths(value, type_)
    yield from _limits(value, type_)
    if type_.enumeration and not any(_same(value, text) for text in type_.enumeration):
        yield f"is {value!r:.60}, and must be one of {', '.join(type_.enumeration)}"
    if type_.pattern is not None:
        yield from _mismatch(type_.pattern, str(value), time_limit or RegexTimeLimit())


def _fits(value: Any, width: int, signed: bool) -> bool:
    low = -(1 << 8 * width - 1) if signed else 0
    return bool(low <= value < low + (1 << 8 * width))


def _lengths(value: Any, type_: SimpleType) -> Iterator[str]:
    if isinstance(value, str | bytes):
        size = len(value)
        if type_.length is not None and size != type_.length:
            yield f"is {value!r:.60}, and must be {type_.length} long"
        if type_.min_length is not None and size < type_.min_length:
            yield f"is {value!r:.60}, and must be {type_.min_length} long at least"
        if type_.max_length is not None and size > type_.max_length:
            yield f"is {value!r:.60}, and may be {type_.max_length} long at most"
    elif isinstance(value, int | Decimal):
        whole, places = _digits(Decimal(value))
        if type_.total_digits is not None and whole + places > type_.total_digits:
            yield f"is {value}, and may have {type_.total_digits} digits"
        if type_.fraction_digits is not None and places > type_.fraction_digits:
            yield f"is {value}, and may have {type_.fraction_digits} digits behind the decimal point"


def _digits(number: Decimal) -> tuple[int, int]:
    """Returns the numbers of digits before and behind a decimal point, without zeros around them."""
    _, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int) or not any(digits):
        return 0, 0
    ending = len("".join(map(str, digits)).rstrip("0"))
    return max(len(digits) + exponent, 0), max(ending - len(digits) - exponent, 0)


def _limits(value: Any, type_: SimpleType) -> Iterator[str]:
    for said, fits, words in (
        (type_.min_inclusive, operator.ge, "at least"),
        (type_.max_inclusive, operator.le, "at most"),
        (type_.min_exclusive, operator.gt, "more than"),
        (type_.max_exclusive, operator.lt, "less than"),
    ):
        if said is not None and not fits(*_comparable(value, said)):
            yield f"is {value}, and must be {words} {said}"


def _comparable(value: Any, text: str) -> tuple[Any, Any]:
    """A value and a limit as two that can be compared: numbers as such, dates and times as XML Schema writes them."""
    if isinstance(value, int | float | Decimal):
        try:
            return Decimal(str(value)), Decimal(text)
        except InvalidOperation as error:
            raise ParserException(INVALID, f"the limit {text} is no number") from error
    return _moments(value, text) if isinstance(value, date | time) else (str(value), text)


def _moments(value: Any, text: str) -> tuple[Any, Any]:
    """A date or time and one that is written; as texts where the two are not of one kind, such as a year."""
    try:
        other = type(value).fromisoformat(text)
    except ValueError:
        return value.isoformat(), text
    zones = {getattr(moment, "tzinfo", None) is None for moment in (value, other)}
    return (value, other) if len(zones) == 1 else (value.isoformat(), text)


def _same(value: Any, text: str) -> bool:
    if isinstance(value, bytes):
        return value.hex() == text.lower()
    if isinstance(value, str):
        return value.rstrip(" ") == text.rstrip(" ")
    if isinstance(value, bool):
        return text in ({"true", "1"} if value else {"false", "0"})
    own, other = _comparable(value, text)
    return bool(own == other)


def _mismatch(pattern: str, text: str, time_limit: RegexTimeLimit) -> Iterator[str]:
    try:
        if time_limit.fullmatch(_compiled(pattern), text) is None:
            yield f"is {text!r:.60}, and must match {pattern}"
    except TimeoutError:
        yield f"cannot be held against {pattern}: the patterns of a message may search for {LONGEST:g} s in all"


@lru_cache(maxsize=256)
def _compiled(text: str) -> regex.Pattern[str]:
    try:
        return regex.compile(text)
    except regex.error as error:
        raise ParserException(INVALID, f"the pattern {text} is no regular expression: {error}") from error
