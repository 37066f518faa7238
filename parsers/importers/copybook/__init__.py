"""COBOL copybooks: a file or text to records whose sizes and offsets are known, or everything that is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from engine.errors import ConfigurationException
from engine.files.input_files import read_file
from parsers.importers.copybook.clauses import note_constant, read_entry
from parsers.importers.copybook.copy_statements import LARGEST_FILE, read_words
from parsers.importers.copybook.items import Condition, Copybook, DataItem, Entry, Record
from parsers.importers.copybook.offsets import Node, arrange, renamings, with_counters
from parsers.importers.copybook.source import IBM, Dialect, Findings, Spot, text_of
from parsers.importers.copybook.tokens import Sentence, Word, sentences, tokens_of

_SKIPPED: Final = frozenset({"FD", "SD", "RD", "CD"})
_PARTS: Final = frozenset({"DIVISION", "SECTION"})
# divisions, and sections of the data division, that describe no records
_APART: Final = frozenset(
    {"IDENTIFICATION", "ID", "ENVIRONMENT", "CONFIGURATION", "INPUT-OUTPUT", "REPORT", "SCREEN", "COMMUNICATION"}
)


def read_copybook(file: Path, dialect: Dialect = IBM) -> Copybook:
    """The records of a copybook file."""
    data = read_file(file, LARGEST_FILE, "no copybook has so many, name another file")
    return read_text(str(file), text_of(data), dialect)


def read_text(file: str, text: str, dialect: Dialect = IBM) -> Copybook:
    r"""The records of a copybook's text.

    >>> book = read_text("c.cpy", "01 R.\n   05 A PIC X(3).\n   05 B PIC S9(5) COMP-3.")
    >>> [(item.name, item.offset, item.length) for item in book.records[0].top.walk()]
    [('R', 0, 6), ('A', 0, 3), ('B', 3, 3)]
    """
    findings = Findings()
    if "\0" in text:  # each of its bytes would be a problem
        findings.add(Spot(file, 1, 1), "is no text, but binary: name a copybook")
        raise ConfigurationException(f"{file} cannot be read", findings.problems)
    words = read_words(file, text, dialect, findings)
    tokens = list(tokens_of(words))
    if _comma_is_point(tokens):
        dialect = replace(dialect, decimal_point_is_comma=True)
    entries = list(_entries(iter(tokens), findings))
    records = tuple(_records(file, entries, dialect, findings))
    if not records and not findings.found:
        findings.add(Spot(file, 1, 1), "describes no data: there is no level number in it")
    if findings.found:
        raise ConfigurationException(f"{file} cannot be read", findings.problems)
    return Copybook(file, records, tuple(map(Path, findings.lines)))


def _comma_is_point(tokens: list[Word]) -> bool:
    for at, token in enumerate(tokens):
        if token.upper == "DECIMAL-POINT":
            return "COMMA" in {word.upper for word in tokens[at + 1 : at + 3]}
    return False


def _entries(tokens: Iterator[Word], findings: Findings) -> Iterator[Entry]:
    """The entries of all sentences; of a whole program, those of its data division."""
    constants: dict[str, int] = {}
    data = True
    for tokens_of_one in sentences(tokens, findings):
        first = tokens_of_one[0]
        if len(tokens_of_one) > 1 and tokens_of_one[1].upper in _PARTS:
            if first.upper == "PROCEDURE":
                return
            data = first.upper not in _APART
            continue
        if not data or first.upper in _SKIPPED:
            continue
        if not first.text.isdecimal() or len(first.text) > 6:
            findings.add(first.spot, f"{first.text} stands where a level number should begin an entry", first.text)
            continue
        entry = (
            read_entry(Sentence(tokens_of_one, constants=constants), findings)
            if not note_constant(tokens_of_one, constants, findings)
            else None
        )
        if entry is not None:
            yield entry


def _records(file: str, entries: Iterable[Entry], dialect: Dialect, findings: Findings) -> Iterator[Record]:
    """The records that entries describe: each 01 and 77, and one for what stands before the first of them."""
    entries = list(entries)
    others = _Others({}, frozenset(entry.name.upper() for entry in entries))
    tops, renames = _trees(entries, findings)
    stray = [node for node in tops if node.entry.level not in {1, 77}]
    if stray and not (len(stray) == 1 and stray[0].children):
        first = stray[0].entry
        top = Node(Entry(first.word, 1, _stem(file)), children=stray)
        yield _record(top, [entry for node in stray for entry in renames.get(id(node), [])], dialect, findings, others)
        tops = [node for node in tops if node.entry.level in {1, 77}]
    for node in tops:
        yield _record(node, renames.get(id(node), []), dialect, findings, others)


class _Others(NamedTuple):
    """The records before one by their names, and the names of all that the text describes."""

    before: dict[str, DataItem]
    names: frozenset[str]


def _record(node: Node, renames: list[Entry], dialect: Dialect, findings: Findings, others: _Others) -> Record:
    entry = node.entry
    item = with_counters(arrange(node, dialect, findings), findings, others.names)
    if entry.redefines is not None:
        target = others.before.get(entry.redefines.upper)
        if target is None:
            text = f"{entry.name or 'FILLER'} redefines {entry.redefines.text}, which is no record before it"
            findings.add(entry.redefines.spot, text, entry.redefines.text)
        else:
            item = replace(item, redefines=target)
    if entry.name:
        others.before[entry.name.upper()] = item
    return Record(entry.name or "FILLER", item, renamings(item, renames, findings))


def _trees(entries: Iterable[Entry], findings: Findings) -> tuple[list[Node], dict[int, list[Entry]]]:
    """The entries by their levels, and the level 66 entries of each top."""
    tops: list[Node] = []
    renames: dict[int, list[Entry]] = {}
    way: list[Node] = []
    for entry in entries:
        if entry.level in {66, 88} and not way:
            text = f"{entry.name} has level {entry.level} and stands before everything that it could belong to"
            findings.add(entry.word.spot, text, entry.name)
        elif entry.level == 88:
            way[-1].conditions.append(Condition(entry.name, entry.values))
        elif entry.level == 66:
            renames.setdefault(id(way[0]), []).append(entry)
        elif entry.level != 78:
            _hang(Node(entry), way, tops)
    return tops, renames


def _hang(node: Node, way: list[Node], tops: list[Node]) -> None:
    """Put a node under the nearest before it of a lower level."""
    level = node.entry.level
    while way and (way[-1].entry.level >= level or level == 77 or way[-1].entry.level == 77):
        way.pop()
    if way:
        way[-1].children.append(node)
    else:
        tops.append(node)
    way.append(node)


def _stem(file: str) -> str:
    """The name of a record that has none: that of its file."""
    stem = re.sub(r"[^\w-]", "-", Path(file).name.partition(".")[0]).strip("-").upper()
    return stem or "RECORD"
