"""Message sets in YAML files; and what a flow has of them at deploy, with XML Schemas, as parsers that know them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os.path import dirname, isfile
from pathlib import Path
from posixpath import join, normpath
from typing import Final, TypeAlias

from engine.errors import BrokerError, Problem, line_of_file, marked
from engine.flow.definition import Flow, NodeUse
from engine.parser import Parser, Template
from flows.message_sets.reader import read_message_set
from flows.yaml_document import content_of
from parsers.markup.xml_schema import INVALID, Schemas, ValidatedXmlnsc
from parsers.mrm import Library, Mrm

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
