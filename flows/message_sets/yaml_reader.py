"""A message set from the YAML of its file: what every key may hold, and what is wrong where it holds something else.

    messageSet: ORDERS
    formats:
      CWF1: {kind: CWF, packedDecimalPositiveCode: F}     # and the settings of that kind for the whole set
    types:
      Address:
        members:
          - {field: street, type: string, maxLength: 30, physical: {CWF1: {length: 30}}}
          - {field: zip, type: int, physical: {CWF1: {physicalType: packedDecimal, length: 3}}}
    messages:
      Order:
        members:
          - {field: count, type: short}
          - {field: home, type: Address, maxOccurs: 9, repeatReference: count}
          - group: choice                                 # fields of a choice stand at the same place
            members:
              - {field: text, type: string, physical: {CWF1: {length: 4}}}
              - {field: number, type: int}

A field's type is a simple one, one of the set's types, or has members of its own. A message is a type, or has members.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple, get_args

from engine.catalog import did_you_mean
from engine.errors import BrokerError, ConfigurationException, Place, Problem
from engine.node import Property, camel_case, properties_of
from flows.yaml_document import Complaints, Mapping, Scalar, Sequence, Tree, content_of, read_table
from parsers.mrm.model import (
    NOTHING,
    UNBOUNDED,
    Composition,
    Content,
    Field,
    Group,
    Interpretation,
    Kind,
    Member,
    Message,
    MessageSet,
    SimpleType,
    WireFormat,
    WireFormatUse,
    wire_format_catalog,
)

SET: Final = ("messageSet", "identifier", "documentation", "defaultFormat", "formats", "types", "messages")
GROUP: Final = ("composition", "content", "members", "documentation", "physical")
INLINE: Final = ("composition", "content", "members", "groupPhysical")  # the group of one field or message
MESSAGE: Final = ("type", "namespace", "documentation", "physical", *INLINE)
FACETS: Final = {camel_case(facet.name): facet.name for facet in fields(SimpleType) if facet.name != "kind"}
COUNTS: Final = frozenset({"length", "minLength", "maxLength", "totalDigits", "fractionDigits"})
OCCURS: Final = ("minOccurs", "maxOccurs", "repeatReference")
VALUES: Final = ("default", "fixed", "nullable", "interpretValueAs")
FIELD: Final = ("field", "type", "namespace", *OCCURS, *VALUES, *FACETS, "documentation", "physical", *INLINE)
INNER: Final = ("group", "content", "members", "documentation", "physical")

KINDS: Final[tuple[str, ...]] = get_args(Kind)
COMPOSITIONS: Final[tuple[str, ...]] = get_args(Composition)
CONTENTS: Final[tuple[str, ...]] = get_args(Content)
INTERPRETATIONS: Final[tuple[str, ...]] = get_args(Interpretation)
UNBOUNDED_WORD: Final = "unbounded"


@lru_cache(maxsize=64)
def declared(kind: str, owner: str) -> tuple[type | None, tuple[Property, ...]]:
    """The dataclass in which a kind of wire format keeps what it says of an owner, and its properties.

    >>> made, properties = declared("CWF", "field")
    >>> made.__name__, properties[1].name
    ('CwfField', 'length')
    """
    wire_format: WireFormat = wire_format_catalog.find(kind)
    made: type | None = getattr(wire_format, owner)
    return made, () if made is None else properties_of(made)


_MOST_OCCURS: Final = 2**31 - 1


class Reading(NamedTuple):
    """The result of reading a file: a message set where its text has the shape of one, and every problem found."""

    message_set: MessageSet | None
    problems: tuple[Problem, ...]


def load_message_set(file: str) -> MessageSet:
    """The message set of a file; raises with everything that is wrong with it."""
    reading = read_message_set(content_of(Path(file)), file)
    if reading.message_set is None or reading.problems:
        problems = reading.problems
        raise ConfigurationException(f"{file} is no message set: {problems[0].text}", problems)
    return reading.message_set


def read_message_set(content: str | bytes, file: str) -> Reading:
    """The message set that a text holds; `file` is how problems name it."""
    wrong = "a message-set file must be a table that begins with `messageSet: Name`"
    document, complaints = read_table(content, file, wrong)
    found = None if document is None else _Reader(document, complaints).read()
    return Reading(found, tuple(sorted(complaints.found)))


class _Reader:
    """Reads the document of one message set."""

    def __init__(self, document: Mapping, complaints: Complaints) -> None:
        self._document = document
        self._complaints = complaints
        self._complain = complaints.add
        self._formats: dict[str, WireFormatUse] = {}
        self._uses: list[tuple[str, Place]] = []

    def read(self) -> MessageSet | None:
        document = self._document
        self._complaints.check_keys(document, SET, "a message-set file")
        name = self._text(document, "messageSet")
        if not name:
            self._complain(document.place, "a message-set file must begin with `messageSet: Name`")
            return None
        self._formats = dict(self._read_formats())
        types = {key.text: self._group(table, key.text, GROUP) for key, table in self._tables("types")}
        messages = {key.text: self._message(key.text, table) for key, table in self._tables("messages")}
        for used, place in self._uses:
            if used not in types:
                known = (*KINDS, *types)
                self._complain(place, f"there is no type called {used}{did_you_mean(used, known)}", about=used)
        default = self._text(document, "defaultFormat")
        if default and default not in self._formats:
            self._complain(document.place, f"defaultFormat {default} is none of the formats {', '.join(self._formats)}")
        return MessageSet(
            name,
            self._text(document, "identifier"),
            MappingProxyType(self._formats),
            MappingProxyType(types),
            MappingProxyType(messages),
            default,
            self._text(document, "documentation"),
        )

    def _text(self, table: Mapping, name: str) -> str:
        return self._optional(table, name) or ""

    def _optional(self, table: Mapping, name: str) -> str | None:
        found = table.get(name)
        if found is None:
            return None
        if not isinstance(found, Scalar) or found.is_null:
            self._complain(found.place, f"{name} must be a text")
            return None
        return found.text

    def _choice(self, table: Mapping, name: str, words: tuple[str, ...]) -> str:
        text = self._text(table, name)
        if text and text not in words:
            place = table.get(name)
            known = ", ".join(word for word in words if word)
            at = table.place if place is None else place.place
            self._complain(at, f"{name} is one of {known}, not {text}{did_you_mean(text, words)}", about=text)
            return ""
        return text

    def _number(self, table: Mapping, name: str, low: int = 0) -> int | None:
        text = self._optional(table, name)
        if text is None:
            return None
        if text.isascii() and text.lstrip("-").isdigit() and low <= int(text[:12]) <= _MOST_OCCURS:
            return int(text)
        self._complain(table.place, f"{name} is a whole number from {low}, not {text[:40]}", about=text)
        return None

    def _truth(self, table: Mapping, name: str) -> bool:
        return self._choice(table, name, ("true", "false")) == "true"

    def _tables(self, name: str) -> Iterator[tuple[Scalar, Mapping]]:
        found = self._document.get(name)
        if found is None:
            return
        if not isinstance(found, Mapping):
            self._complain(found.place, f"{name} must be a table, `name: ...`")
            return
        for key, tree in found.entries:
            if isinstance(tree, Mapping):
                yield key, tree
            else:
                self._complain(key.place, f"{key.text} must be a table", about=key.text)

    def _read_formats(self) -> Iterator[tuple[str, WireFormatUse]]:
        for key, table in self._tables("formats"):
            kind = self._text(table, "kind")
            if wire_format_catalog.get(kind) is None:
                known = ", ".join(wire_format_catalog)
                self._complain(key.place, f"the kind of {key.text} is one of {known}, not {kind or 'left out'}")
                continue
            settings = [entry for entry in table.entries if entry[0].text != "kind"]
            yield key.text, WireFormatUse(key.text, kind, self._declared(kind, "settings", settings, key))

    def _declared(self, kind: str, owner: str, entries: list[tuple[Scalar, Tree]], above: Scalar) -> Any:
        """Returns what a wire format says, as its own dataclass has it."""
        made, properties = declared(kind, owner)
        if made is None:
            self._complain(above.place, f"{kind} says nothing of a {owner}", about=above.text)
            return None
        by_name = {one.name: one for one in properties}
        values: dict[str, Any] = {}
        for key, tree in entries:
            known = by_name.get(key.text)
            if known is None:
                close = did_you_mean(key.text, tuple(by_name))
                self._complain(key.place, f"{kind} has no {key.text} of a {owner}{close}", about=key.text)
            elif not isinstance(tree, Scalar):
                self._complain(tree.place, f"{key.text} must be a value")
            else:
                self._assign(values, known.attribute, known.read, tree)
        return made(**values)

    def _assign(self, values: dict[str, Any], name: str, read: Callable[[object], object], scalar: Scalar) -> None:
        try:
            values[name] = read("" if scalar.is_null else scalar.text)
        except BrokerError as error:
            self._complain(scalar.place, error.text, about=scalar.text, number=error.number)

    def _physical(self, table: Mapping, owner: str, name: str = "physical") -> Any:
        found = table.get(name)
        if found is None:
            return NOTHING
        if not isinstance(found, Mapping):
            self._complain(found.place, f"{name} must be a table, `format: {{...}}`")
            return NOTHING
        said = {}
        for key, inner in found.entries:
            use = self._formats.get(key.text)
            if use is None:
                close = did_you_mean(key.text, tuple(self._formats))
                self._complain(key.place, f"the set has no format called {key.text}{close}", about=key.text)
            elif not isinstance(inner, Mapping):
                self._complain(inner.place, f"what {key.text} says must be a table")
            else:
                said[key.text] = self._declared(use.kind, owner, list(inner.entries), key)
        return MappingProxyType(said)

    def _message(self, name: str, table: Mapping) -> Message:
        self._complaints.check_keys(table, MESSAGE, "a message")
        type_: Group | str = self._type_name(table, ())
        if type_ and table.get("members") is not None:
            self._complain(table.place, f"{name} has either a type or members of its own")
        return Message(
            name,
            type_ or self._inline(table),
            self._text(table, "namespace"),
            self._text(table, "documentation"),
            self._physical(table, "message"),
        )

    def _type_name(self, table: Mapping, simple: tuple[str, ...]) -> str:
        found = table.get("type")
        name = self._text(table, "type")
        if found is not None and name and name not in simple:
            self._uses.append((name, found.place))
        return name

    def _group(self, table: Mapping, name: str, known: tuple[str, ...], composition: str = "") -> Group:
        self._complaints.check_keys(table, known, "a group" if composition else "a type")
        documentation = self._text(table, "documentation")
        return replace(self._inline(table, composition, "physical"), name=name, documentation=documentation)

    def _inline(self, table: Mapping, composition: str = "", physical: str = "groupPhysical") -> Group:
        """The group of one field or message, which is written into its table."""
        return Group(
            tuple(self._members(table)),
            composition or self._choice(table, "composition", COMPOSITIONS) or "sequence",  # type: ignore[arg-type]  # one of the words
            self._choice(table, "content", CONTENTS) or "closed",  # type: ignore[arg-type]  # the same
            physical=self._physical(table, "group", physical),
        )

    def _members(self, table: Mapping) -> Iterator[Member]:
        found = table.get("members")
        if not isinstance(found, Sequence):
            place = table.place if found is None else found.place
            self._complain(place, "members must be a list; begin each with a dash")
            return
        for item in found.items:
            if isinstance(item, Mapping) and item.get("field") is not None:
                yield self._field(item)
            elif isinstance(item, Mapping) and item.get("group") is not None:
                words = tuple(word for word in COMPOSITIONS if word)
                yield self._group(item, "", INNER, self._choice(item, "group", words) or "sequence")
            else:
                self._complain(item.place, "a member is a table with `field: name`, or with `group: sequence`")

    def _field(self, table: Mapping) -> Field:
        self._complaints.check_keys(table, FIELD, "a field")
        most = self._text(table, "maxOccurs")
        least = self._number(table, "minOccurs")
        max_occurs = UNBOUNDED if most == UNBOUNDED_WORD else self._number(table, "maxOccurs")
        return Field(
            self._text(table, "field"),
            self._field_type(table),
            self._text(table, "namespace"),
            1 if least is None else least,
            1 if max_occurs is None else max_occurs,
            self._text(table, "repeatReference"),
            self._optional(table, "default"),
            self._truth(table, "fixed"),
            self._truth(table, "nullable"),
            self._choice(table, "interpretValueAs", INTERPRETATIONS),  # type: ignore[arg-type]  # one of the words
            self._text(table, "documentation"),
            self._physical(table, "field"),
        )

    def _field_type(self, table: Mapping) -> SimpleType | Group | str:
        if table.get("members") is not None:
            return self._inline(table)
        name = self._type_name(table, KINDS) or "string"
        if name not in KINDS:
            return name
        facets: dict[str, Any] = {}
        for key, attribute in FACETS.items():
            if table.get(key) is None:
                continue
            if key == "enumeration":
                facets[attribute] = tuple(self._words(table, key))
            else:
                facets[attribute] = self._number(table, key) if key in COUNTS else self._optional(table, key)
        return SimpleType(name, **facets)  # type: ignore[arg-type]  # one of the kinds

    def _words(self, table: Mapping, name: str) -> Iterator[str]:
        found = table.get(name)
        if not isinstance(found, Sequence):
            self._complain(table.place, f"{name} must be a list")
            return
        for item in found.items:
            if isinstance(item, Scalar):
                yield item.text
            else:
                self._complain(item.place, f"each of {name} must be a value")
