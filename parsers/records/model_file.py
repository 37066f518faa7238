"""Messages of message sets as JSON and back, in whichever of the set's wire formats."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from decimal import Decimal
from math import isfinite
from typing import Any, BinaryIO, Final

from engine.catalog import did_you_mean
from engine.dates.patterns import MomentError
from engine.errors import BrokerError, ConfigurationException, ParserException
from engine.message.received import Part
from engine.parser import Follow, Form, Parser, Portion
from engine.tree.element import Element
from engine.tree.source import NAME, Value
from engine.tree.step import step
from parsers.mrm.cwf import CwfCodec
from parsers.mrm.cwf.layout import lay_out
from parsers.mrm.dates import value_of
from parsers.mrm.model import (
    Codec,
    Definition,
    Field,
    Group,
    Member,
    Message,
    MessageSet,
    SimpleType,
    fields_of,
    wire_format_catalog,
)
from parsers.mrm.simple_values import GARBLED, cut_off
from parsers.records.framing import LONGEST_RECORD, Cut, Framing, cut_records
from parsers.records.json_fields import PARTS, Coding, form_of, plain, stored_for_model
from parsers.records.reading import BAD_FIELD, Read, Reader, read_record
from parsers.records.record_plan import Sizes

_MOMENTS: Final[dict[str, Callable[[str], Value]]] = {
    "dateTime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
}


class _Mrm(Parser):
    """The codec of one message, as an element asks for its source."""

    __slots__ = ("_codec",)
    name = "MRM"

    def __init__(self, codec: Codec) -> None:
        self._codec = codec

    def read(self, portion: Portion) -> Any:
        return self._codec.read(portion)


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A kind of file whose records are messages of a set, in one wire format.

    In CWF, `read` reads records off their layout; other formats are read, and all are written, by way of trees.
    """

    framing: Framing
    coding: Coding
    message_set: MessageSet
    message: Message
    codec: Codec
    format: str
    read: Read | None = None

    def cut(self, file: BinaryIO) -> Iterator[Cut]:
        """The records of a file; without a length, a file of format F is one."""
        return cut_records(file, self.framing, longest=LONGEST_RECORD)

    def decode(self, cut: Cut) -> dict[str, Any]:
        """The fields of a record; an error says which record it is and where in the file it begins."""
        portion = Portion(cut.data, 0, len(cut.data), Follow("", self.coding.encoding, self.coding.ccsid))
        try:
            if self.read is not None:
                return _whole(self.message.name, self.read, cut.data)
            top = Element("MRM", "", NAME, Part(_Mrm(self.codec), portion))
            return self._object(self.message_set.content(self.message.type), top)
        except BrokerError as error:
            text = f"record {cut.number} at offset {cut.offset}: {error.text}"
            raise ParserException(error.number, text, *error.inserts) from error

    def encode(self, value: dict[str, Any], number: int) -> bytes:
        """The bytes of a record; an error says which one it is."""
        try:
            top = Element("MRM")
            self._fill(self.message_set.content(self.message.type), value, top, self.message.name)
            return self.codec.write(top, Form(self.coding.encoding, self.coding.ccsid))
        except BrokerError as error:
            raise ParserException(error.number, f"record {number}: {error.text}", *error.inserts) from error

    def _object(self, group: Group, element: Element) -> dict[str, Any]:
        """The fields of an element, those of inner groups beside them; of a choice each that can be read."""
        found: dict[str, Any] = {}
        for member in self.message_set.members(group):
            if isinstance(member, Field):
                self._add(member, element, found)
            elif member.composition == "choice":
                self._choose(member, element, found)
            else:
                found |= self._object(member, element)
        return found

    def _choose(self, group: Group, element: Element, found: dict[str, Any]) -> None:
        """The options of a choice: one that cannot be read is null, if another can."""
        failed: list[BrokerError] = []
        read = 0
        for member in group.members:
            try:
                inner = self._object(Group((member,)), element)
            except BrokerError as error:
                failed.append(error)
                found |= dict.fromkeys(field.name for field in fields_of(member))
            else:
                read += bool(inner)
                found |= inner
        if failed and not read:
            raise failed[0]

    def _add(self, field: Field, element: Element, found: dict[str, Any]) -> None:
        wanted = step(field.name, field.namespace or None)
        if field.repeats:
            found[field.name] = [self._value(field, child) for child in element.every(wanted)]
            return
        child = element.child(wanted)
        if child is not None:
            found[field.name] = self._value(field, child)

    def _value(self, field: Field, element: Element) -> Any:
        group = self.message_set.content(field.type)
        if group is not None:
            return self._object(group, element)
        assert isinstance(field.type, SimpleType)
        return plain(field.type.kind, element.value)

    def _fill(self, group: Group, value: Any, element: Element, path: str) -> None:
        """Give an element the fields of an object; of a choice the first that is given."""
        if not isinstance(value, dict):
            raise ParserException(BAD_FIELD, f"{path} is a group: an object is to be written to it, not {value!r:.40}")
        known = [field.name for field in fields_of(group, self.message_set)]
        for key in value:
            if key not in known:
                raise ParserException(BAD_FIELD, f"{path} has no field called {key}{did_you_mean(key, known)}", path)
        self._fill_members(group, value, element, path)

    def _fill_members(self, group: Group, value: dict[str, Any], element: Element, path: str) -> None:
        members = self.message_set.members(group)
        if group.composition == "choice":
            given = (one for one in members if self._is_given(one, value))
            members = tuple(given)[:1]
        for member in members:
            if isinstance(member, Group):
                self._fill_members(member, value, element, path)
            elif member.name in value:
                self._fill_field(member, value[member.name], element, f"{path}.{member.name}")

    def _is_given(self, member: Member, value: dict[str, Any]) -> bool:
        return any(value.get(field.name) is not None for field in fields_of(member, self.message_set))

    def _fill_field(self, field: Field, value: Any, element: Element, path: str) -> None:
        group = self.message_set.content(field.type)
        if field.repeats and not isinstance(value, list):
            raise ParserException(BAD_FIELD, f"{path} occurs more than once: write an array, not {value!r:.40}", path)
        only = isinstance(value, list) and len(value) == 1  # a table of one, which models have as a plain field
        for inner in value if field.repeats or only else [value]:
            if group is None:
                element.add(field.name, _typed(field, inner, path), namespace=field.namespace)
            else:
                self._fill(group, inner, element.add(field.name, namespace=field.namespace), path)


def model_file(message_set: MessageSet, format_: str, type_: str, framing: Framing, coding: Coding) -> ModelFile:
    """The kind of file whose records are messages of that type in that format: its name in the set, or its kind."""
    format_ = format_ or message_set.default_format
    uses = message_set.formats
    named = [name for name, use in uses.items() if format_ in {name, use.kind}]
    if len(uses) == 1 and not format_:
        named = list(uses)
    if len(named) != 1:
        known = ", ".join(f"{name} ({use.kind})" for name, use in uses.items())
        raise ConfigurationException(f"choose a format of {message_set.name} with --format: {known or 'it has none'}")
    messages = message_set.messages
    if not type_ and len(messages) > 1:
        names = ", ".join(messages)
        raise ConfigurationException(f"choose one of the messages of {message_set.name} with --type: {names}")
    message = messages.get(type_) if type_ else next(iter(messages.values()), None)
    if message is None:
        close = did_you_mean(type_, tuple(messages))
        raise ConfigurationException(f"{message_set.name} has no message called {type_}{close}")
    definition = Definition(message_set, message, named[0])
    codec = wire_format_catalog.find(uses[named[0]].kind).compile(definition)
    read = _reader(definition, coding) if isinstance(codec, CwfCodec) else None
    if isinstance(codec, CwfCodec) and framing.format == "F" and framing.length is None:
        place = codec.plan(coding.encoding, coding.ccsid).fixed
        framing = replace(framing, length=None if place is None else place.end + framing.start + framing.end)
    return ModelFile(framing, coding, message_set, message, codec, named[0], read)


def _reader(definition: Definition, coding: Coding) -> Read:
    layout = lay_out(definition, form_of(coding), lambda kept: stored_for_model(kept, coding))[0].inner
    assert layout is not None
    sizes = Sizes(slide=True)
    sizes.layout(layout)
    tables = frozenset(item for item in sizes.items if item.model.repeats)
    return Reader(tables, sizes.strides, sizes.totals, may_end=False).layout(layout)


def _whole(name: str, read: Read, data: bytes) -> dict[str, Any]:
    """The fields of a record, which must end with them."""
    found, end = read_record(read, data)
    if end > len(data):
        raise cut_off(name, data, 0, end)
    if end < len(data):
        rest = data[end : end + 40].hex()
        text = f"{name} ends at offset {end}, and {len(data) - end} bytes follow: X'{rest}'"
        raise ParserException(GARBLED, text, name, str(end), rest)
    return found


def _moment(text: str, kind: str) -> Value:
    """A date or time of a kind; ValueError where the text is none."""
    try:
        return value_of(text, PARTS.get(kind, "I"), kind)
    except MomentError:
        return date.fromisoformat(text) if kind in PARTS else _MOMENTS[kind](text)


def _told_apart(value: Any) -> float | Decimal:
    """A number as the float that it is, or as a decimal where it has more digits than a float tells apart."""
    number = float(value)
    return number if not isfinite(number) or Decimal(repr(number)) == Decimal(value) else Decimal(value)


def _typed(field: Field, value: Any, path: str) -> Any:
    """A value of JSON as the field's type has it; what does not fit is left to the wire format to refuse."""
    assert isinstance(field.type, SimpleType)
    kind, family = field.type.kind, field.type.family
    if value is None or isinstance(value, dict | list):
        if isinstance(value, dict | list):
            raise ParserException(BAD_FIELD, f"{path} is no group and no table: it holds one value", path)
        return None
    with suppress(ValueError, ArithmeticError):
        match family:
            case "integer" | "decimal" | "float" if isinstance(value, str) and ("_" in value or not value.isascii()):
                pass  # what Python takes for a number, and no one else
            case "string":
                return str(value) if not isinstance(value, bool) else value
            case "integer" if not isinstance(value, bool):
                return int(value) if Decimal(value) == int(value) else value
            case "decimal" if not isinstance(value, bool):
                return Decimal(value)
            case "float" if not isinstance(value, bool):
                return _told_apart(value)
            case "binary" if isinstance(value, str):
                return bytes.fromhex(value)
            case "dateTime" if isinstance(value, str):
                return _moment(value, kind)
    return value
