"""The XML Schemas of a flow at deploy: the files `*.xsd` beside it, with those that they name, for bodies of XMLNSC."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from os.path import dirname, isfile
from pathlib import Path
from posixpath import join, normpath
from typing import Final, TypeAlias

from engine.errors import Problem
from engine.flow.definition import Flow
from engine.parser import Parser
from flows.document import content_of
from parsers.markup.xml_schema import INVALID, Schemas, ValidatedXmlnsc

ENDING: Final = ".xsd"
_MOST_FILES: Final = 1000
_NAMED: Final = re.compile(rb"""schemaLocation\s*=\s*["']([^"':]+)["']""")  # of other files, not of other places
_ASKING: Final = frozenset({"content", "contentAndValue"})

Files: TypeAlias = Sequence[tuple[str, bytes]]


def schemas_of(flow: Flow) -> Files:
    """The schemas that stand beside an expanded flow and its subflows, and those that they include or import."""
    folders = dict.fromkeys(dirname(file) for file in (flow.file, *(use.place.file for use in flow.nodes)) if file)
    waiting = [(str(path), path.parent) for folder in folders for path in sorted(Path(folder).glob(f"*{ENDING}"))]
    found: dict[str, bytes] = {}
    for name, base in waiting:
        if name in found or len(found) == _MOST_FILES:
            continue
        found[name] = content = content_of(Path(name), base)
        here = Path(dirname(name))
        named = (normpath(join(here, one.decode("utf-8", "replace"))) for one in _NAMED.findall(content))
        waiting.extend((other, here) for other in named if isfile(other))
    return list(found.items())


def schema_parsers(flow: Flow, files: Files | None = None) -> tuple[Mapping[str, Parser], tuple[Problem, ...]]:
    """The XMLNSC parser that knows a flow's schemas; what is wrong with them, if a node asks for validation."""
    given = dict(schemas_of(flow) if files is None else files)
    if not given:
        return {}, ()
    schemas = Schemas(given)
    faults = schemas.faults if _asks(flow) else ()
    problems = tuple(Problem(fault.file, fault.line, 1, INVALID, fault.text) for fault in faults)
    return {"XMLNSC": ValidatedXmlnsc(schemas)}, problems


def _asks(flow: Flow) -> bool:
    """Returns whether any node has bodies validated."""
    settings = (setting for use in flow.nodes for setting in use.settings)
    return any(setting.name == "validateMaster" and setting.value in _ASKING for setting in settings)
