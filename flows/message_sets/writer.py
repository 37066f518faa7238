"""A message set as the YAML of its file, always the same for the same set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Final, TypeAlias

import yaml

from engine.node import camel_case
from flows.flow_yaml import scalar, yaml_text
from flows.message_sets import reader
from parsers.mrm.model import UNBOUNDED, Field, Group, Member, Message, MessageSet, SimpleType, WireFormatUse

SHORT: Final = 110  # a table that fits this many characters is written on its own line

Data: TypeAlias = "str | list[Data] | dict[str, Data]"


def write_message_set(message_set: MessageSet) -> str:
    """The YAML of a message set; reading it gives an equal set.

    >>> note = Message("Note", Group((Field("text", SimpleType(max_length=9)),)))
    >>> print(write_message_set(MessageSet("NOTES", messages={"Note": note})), end="")
    messageSet: NOTES
    messages:
      Note:
        members:
        - {field: text, type: string, maxLength: 9}
    """
    return yaml_text(_events(_set(message_set), on_top=True))


def _events(data: Data, *, on_top: bool = False) -> Iterator[yaml.Event]:
    short = not on_top and len(str(data)) < SHORT
    if isinstance(data, str):
        yield scalar(data)
    elif isinstance(data, list):
        yield yaml.SequenceStartEvent(None, None, implicit=True, flow_style=all(isinstance(i, str) for i in data))
        for item in data:
            yield from _events(item)
        yield yaml.SequenceEndEvent()
    else:
        yield yaml.MappingStartEvent(None, None, implicit=True, flow_style=short and "'members'" not in str(data))
        for key, value in data.items():
            yield scalar(key)
            yield from _events(value)
        yield yaml.MappingEndEvent()


def _said(**entries: Data | None) -> dict[str, Data]:
    """Returns what there is something to say of."""
    return {name: value for name, value in entries.items() if value not in (None, "", [], {})}


def _set(of: MessageSet) -> Data:
    top: dict[str, Data] = {"messageSet": of.name}
    return top | _said(
        identifier=of.identifier,
        documentation=of.documentation,
        defaultFormat=of.default_format,
        formats={name: _format(use) for name, use in of.formats.items()},
        types={name: _group(group) for name, group in of.types.items()},
        messages={name: _message(message) for name, message in of.messages.items()},
    )


def _format(use: WireFormatUse) -> Data:
    return {"kind": use.kind, **_declared(use.settings)}


def _declared(physical: Any) -> dict[str, Data]:
    """The properties that are not as they are by default."""
    if physical is None:
        return {}
    said = ((field, getattr(physical, field.name)) for field in fields(physical))
    return {camel_case(field.name): _text(value) for field, value in said if value != field.default}


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _physical(of: Field | Group | Message) -> Data:
    return {name: _declared(physical) for name, physical in of.physical.items()}


def _message(message: Message) -> Data:
    inline = _inline(message.type) if isinstance(message.type, Group) else {"type": message.type}
    said = _said(namespace=message.namespace, documentation=message.documentation, physical=_physical(message))
    return said | inline


def _inline(group: Group) -> dict[str, Data]:
    """The group of one field or message, which is written into its table."""
    said = _group(group)
    physical = said.pop("physical", None)
    return _said(groupPhysical=physical) | said


def _group(group: Group) -> dict[str, Data]:
    said = _said(
        composition="" if group.composition == "sequence" else group.composition,
        content="" if group.content == "closed" else group.content,
        documentation=group.documentation,
        physical=_physical(group),
    )
    return said | {"members": [_member(member) for member in group.members]}


def _member(member: Member) -> Data:
    if isinstance(member, Field):
        return _field(member)
    said = _group(member)
    return {"group": said.pop("composition", "sequence"), **said}


def _field(of: Field) -> Data:
    head: dict[str, Data] = {"field": of.name}
    tail: dict[str, Data] = {}
    if isinstance(of.type, Group):
        tail = _inline(of.type)
    elif isinstance(of.type, SimpleType):
        head |= {"type": of.type.kind} | {
            key: list(facet) if isinstance(facet, tuple) else str(facet)
            for key, attribute in reader.FACETS.items()
            if (facet := getattr(of.type, attribute)) not in (None, ())
        }
    else:
        head["type"] = of.type
    head |= _said(
        namespace=of.namespace,
        minOccurs="" if of.min_occurs == 1 else str(of.min_occurs),
        maxOccurs="" if of.max_occurs == 1 else _most(of.max_occurs),
        repeatReference=of.repeat_reference,
        fixed="true" if of.fixed else "",
        nullable="true" if of.nullable else "",
        interpretValueAs=of.interpret_value_as,
        documentation=of.documentation,
        physical=_physical(of),
    )
    return head | ({} if of.default is None else {"default": of.default}) | tail


def _most(occurs: int) -> str:
    return reader.UNBOUNDED_WORD if occurs == UNBOUNDED else str(occurs)
