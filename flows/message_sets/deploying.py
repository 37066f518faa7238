"""The message sets of a flow at deploy: the files `*.set.yaml` beside it, and what its nodes ask of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os.path import dirname
from pathlib import Path
from typing import Final, TypeAlias

from engine.errors import BrokerError, Problem
from engine.flow.definition import Flow, NodeUse
from engine.flow.marked_lines import line_of_file, marked
from engine.parser import Template
from flows.document import content_of
from flows.message_sets.reader import read_message_set
from parsers.mrm import Library, Mrm
from parsers.mrm.model import MessageSet

ENDING: Final = ".set.yaml"
_ASKED: Final = ("messageDomainProperty", "messageSetProperty", "messageTypeProperty", "messageFormatProperty")

Files: TypeAlias = Sequence[tuple[str, bytes]]


def message_sets_of(flow: Flow) -> Files:
    """The message-set files that stand beside an expanded flow and its subflows, by name."""
    files = dict.fromkeys(file for file in (flow.file, *(use.place.file for use in flow.nodes)) if file)
    folders = dict.fromkeys(dirname(file) for file in files)
    found = [path for folder in folders for path in sorted(Path(folder or ".").glob(f"*{ENDING}"))]
    return [(str(path), content_of(path, path.parent)) for path in found]


def message_parsers(flow: Flow, files: Files | None = None) -> tuple[Mapping[str, Mrm], tuple[Problem, ...]]:
    """The MRM parser that knows a flow's message sets, and all that is wrong with them or with what nodes ask for."""
    sets: list[MessageSet] = []
    problems: list[Problem] = []
    for name, content in message_sets_of(flow) if files is None else files:
        reading = read_message_set(content, name)
        problems += reading.problems
        if reading.message_set is not None:
            sets.append(reading.message_set)
    try:
        library = Library(sets)
    except BrokerError as error:
        return {}, (*problems, Problem(flow.file, 0, 0, error.number, error.text))
    if not problems:
        problems += _asked(flow, library)
    return ({"MRM": Mrm(library)} if sets else {}), tuple(problems)


def _asked(flow: Flow, library: Library) -> Iterator[Problem]:
    """Yields what is wrong with the messages that nodes say they read."""
    for use in flow.nodes:
        template = _template(use)
        if template.domain == "MRM" and any(template[1:]):
            try:
                library.codec(template)
            except BrokerError as error:
                place = next(setting.value_place for setting in use.settings if setting.name in _ASKED[1:])
                yield marked(place, f"{use.label}: {error.text}", "", error.number, line_of_file(place))


def _template(use: NodeUse) -> Template:
    said = {setting.name: setting.value for setting in use.settings}
    return Template(*(str(said.get(name, "")) for name in _ASKED))
