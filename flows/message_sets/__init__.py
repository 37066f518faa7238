"""Message sets in YAML files; and what a flow has of them at deploy, with XML Schemas, as parsers that know them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from os.path import dirname, isfile
from pathlib import Path
from posixpath import join, normpath
from typing import Any, Final, TypeAlias

from engine.errors import BrokerError, Problem, line_of_file, marked
from engine.flow.definition import Flow, NodeUse
from engine.node import camel_case
from engine.parser import Parser, Template
from flows.flow_yaml import Data, Way, yaml_text
from flows.message_sets.yaml_reader import FACETS, UNBOUNDED_WORD, read_message_set
from flows.yaml_document import content_of
from parsers.markup.xml_schema import INVALID, Schemas, ValidatedXmlnsc
from parsers.mrm import Library, Mrm
from parsers.mrm.model import UNBOUNDED, Field, Group, Member, Message, MessageSet, SimpleType, WireFormatUse

_SET: Final = ".set.yaml"
_SCHEMA: Final = ".xsd"
MODEL_ENDINGS: Final = (_SET, _SCHEMA)
_MOST_SCHEMAS: Final = 1000
_NAMED: Final = re.compile(rb"""schemaLocation\s*=\s*["']([^"':]+)["']""")  # of other files, not of other places
_VALIDATING: Final = frozenset({"content", "contentAndValue"})
_TEMPLATE: Final = ("messageDomainProperty", "messageSetProperty", "messageTypeProperty", "messageFormatProperty")

Files: TypeAlias = Sequence[tuple[str, bytes]]


def model_files_of(flow: Flow) -> Files:
    """The message sets and schemas beside an expanded flow and its subflows, and the schemas that these name."""
    files = dict.fromkeys(file for file in (flow.file, *(use.place.file for use in flow.nodes)) if file)
    folders = [Path(folder) for folder in dict.fromkeys(map(dirname, files))]
    sets = [path for folder in folders for path in sorted(folder.glob(f"*{_SET}"))]
    return [*((str(path), content_of(path, path.parent)) for path in sets), *_schemas_in(folders)]


def _schemas_in(folders: Iterable[Path]) -> Files:
    waiting = [(str(path), path.parent) for folder in folders for path in sorted(folder.glob(f"*{_SCHEMA}"))]
    found: dict[str, bytes] = {}
    for name, base in waiting:
        if name in found or len(found) == _MOST_SCHEMAS:
            continue
        found[name] = content = content_of(Path(name), base)
        here = Path(dirname(name))
        named = (normpath(join(here, one.decode("utf-8", "replace"))) for one in _NAMED.findall(content))
        waiting.extend((other, here) for other in named if isfile(other))
    return list(found.items())


def model_parsers(flow: Flow, files: Files | None = None) -> tuple[Mapping[str, Parser], tuple[Problem, ...]]:
    """The parsers that know a flow's models, and all that is wrong with these or with what nodes ask for.

    Without `files`, which may be more than models, they are those beside the flow.
    """
    given = model_files_of(flow) if files is None else files
    modelled, problems = _of_message_sets(flow, [file for file in given if file[0].endswith(_SET)])
    validating, faults = _of_schemas(flow, dict(file for file in given if file[0].endswith(_SCHEMA)))
    return {**modelled, **validating}, (*problems, *faults)


def _of_message_sets(flow: Flow, files: Files) -> tuple[Mapping[str, Parser], Sequence[Problem]]:
    """The MRM parser that knows message sets."""
    readings = [read_message_set(content, name) for name, content in files]
    sets = [reading.message_set for reading in readings if reading.message_set is not None]
    problems = [problem for reading in readings for problem in reading.problems]
    try:
        library = Library(sets)
    except BrokerError as error:
        return {}, (*problems, Problem(flow.file, 0, 0, error.number, error.text))
    return ({"MRM": Mrm(library)} if sets else {}), problems or list(_wrong_templates(flow, library))


def _wrong_templates(flow: Flow, library: Library) -> Iterator[Problem]:
    for use in flow.nodes:
        template = _template(use)
        if template.domain == "MRM" and any(template[1:]):
            try:
                library.codec(template)
            except BrokerError as error:
                place = next(setting.value_place for setting in use.settings if setting.name in _TEMPLATE[1:])
                yield marked(place, f"{use.label}: {error.text}", "", error.number, line_of_file(place))


def _template(use: NodeUse) -> Template:
    said = {setting.name: setting.value for setting in use.settings}
    return Template(*(str(said.get(name, "")) for name in _TEMPLATE))


def _of_schemas(flow: Flow, files: Mapping[str, bytes]) -> tuple[Mapping[str, Parser], Sequence[Problem]]:
    """The XMLNSC parser that knows schemas; what is wrong with them counts if a node asks for validation."""
    if not files:
        return {}, ()
    schemas = Schemas(files)
    settings = (setting for use in flow.nodes for setting in use.settings)
    asks = any(setting.name == "validateMaster" and setting.value in _VALIDATING for setting in settings)
    problems = [Problem(fault.file, fault.line, 1, INVALID, fault.text) for fault in schemas.faults] if asks else ()
    return {"XMLNSC": ValidatedXmlnsc(schemas)}, problems


SHORT: Final = 110  # a table that fits this many characters is written on its own line


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
    return yaml_text(_set(message_set), _on_one_line)


def _on_one_line(way: Way, data: Data) -> bool:
    if isinstance(data, list):
        return all(isinstance(item, str) for item in data)
    return bool(way) and len(str(data)) < SHORT and "'members'" not in str(data)


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
            for key, attribute in FACETS.items()
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
    return UNBOUNDED_WORD if occurs == UNBOUNDED else str(occurs)
