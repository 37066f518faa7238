"""YAML text as a plain tree that knows its positions; nothing in the text is executed, named or expanded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

import yaml

from engine.catalog import did_you_mean
from engine.errors import ConfigurationException, Place, Problem, marked, reason
from engine.files.allowed_folders import check_link
from engine.flow.lint import UNFIT

LARGEST: Final = 1 << 20  # characters: some ten thousand nodes
DEEPEST: Final = 32
NULL_WORDS: Final = ("", "~", "null", "Null", "NULL")
LINE_END: Final = re.compile("\r\n|[\n\r\x85\u2028\u2029]")  # as YAML counts lines


@dataclass(frozen=True, slots=True)
class Scalar:
    """A text; `is_null` where nothing was written for it, `is_plain` where it was written without quotes."""

    text: str
    is_null: bool
    place: Place
    is_plain: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list."""

    items: tuple[Tree, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys and what they stand for, in the order of the text; keys are unique.

    `dropped` are those that were there again, or could not be read and are empty here.
    """

    entries: tuple[tuple[Scalar, Tree], ...]
    place: Place
    dropped: tuple[str, ...] = ()

    def get(self, name: str) -> Tree | None:
        """Returns what stands at a key, or None."""
        return next((value for key, value in self.entries if key.text == name), None)


Tree: TypeAlias = "Scalar | Sequence | Mapping"


_PASSWORD: Final = re.compile(r"""://[^'"]*@|passw""", re.IGNORECASE)


class Complaints:
    """Collects what is wrong with one file, each with the line that it is about."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.start = Place(file=file, line=1, column=1)
        self.found: list[Problem] = []
        self._lines = LINE_END.split(text)

    def add(self, place: Place, text: str, *, about: str = "", number: int = UNFIT, is_secret: bool = False) -> None:
        """Note a problem; `about` is the word of the line that it is about, which the marker covers.

        A line that may have a password in it is not shown, nor is one that is said to be secret.
        """
        line = self._lines[place.line - 1] if 0 < place.line <= len(self._lines) else ""
        line = "" if is_secret or _PASSWORD.search(line) else line
        where = Place(file=self.file, line=place.line, column=place.column)
        self.found.append(marked(where, text, about, number, line))

    def check_keys(self, table: Mapping, known: tuple[str, ...], what: str) -> list[str]:
        """Note the keys of a table that are not known; returns them."""
        unknown = [key for key, _ in table.entries if key.text not in known]
        for key in unknown:
            self.add(key.place, f"{what} has no {key.text}{did_you_mean(key.text, known)}", about=key.text)
        return [key.text for key in unknown]

    def entries(self, tree: Tree | None, what: str) -> tuple[tuple[Scalar, Tree], ...]:
        """Returns the entries of a table, which may be left out or empty; what is none is noted."""
        if isinstance(tree, Mapping):
            return tree.entries
        if tree is not None and not (isinstance(tree, Scalar) and tree.is_null):
            self.add(tree.place, f"{what} must be a table, `name: value`")
        return ()


def decoded(content: bytes, file: str) -> str | Problem:
    """The text of a file, or what is wrong with it."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = error.object[: error.start]
        line, column = before.count(b"\n") + 1, len(before) - before.rfind(b"\n")
        return Problem(file, line, column, UNFIT, "not UTF-8; save the file as UTF-8")


def read_table(content: str | bytes, file: str, wrong: str) -> tuple[Mapping | None, Complaints]:
    """The table that a text holds, or None, and what is wrong with it: `wrong` where it holds something else."""
    text = content if isinstance(content, str) else decoded(content, file)
    if isinstance(text, Problem):
        complaints = Complaints(file, "")
        complaints.found.append(text)
        return None, complaints
    complaints = Complaints(file, text)
    document = read_document(text, file, complaints)
    if document is None or isinstance(document, Mapping):
        return document, complaints
    complaints.add(document.place, wrong)
    return None, complaints


class Refused(Exception):
    """The text is no document that can be read on."""

    def __init__(self, text: str, mark: Any) -> None:
        super().__init__(text)
        self.text = text
        self.place = Place(line=mark.line + 1, column=mark.column + 1) if mark else Place(line=1, column=1)


def read_document(
    text: str, file: str, complaints: Complaints, *, kind: str = "flow", start: str = "flow: Name"
) -> Tree | None:
    """The tree of a YAML text that has one document; None where it cannot be read, with the reason in `complaints`.

    `kind` is what such a file is for, `start` how it begins.
    """
    if len(text) > LARGEST:
        complaints.add(complaints.start, f"the file has {len(text)} characters; the limit is {LARGEST}")
        return None
    try:
        events = yaml.parse(text, Loader=yaml.SafeLoader)
        return _Reader(file, complaints, events, kind).document(start)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        column = error.position - text.rfind("\n", 0, error.position)
        complaints.add(Place(line=line, column=column), f"character #x{ord(text[error.position]):04x} is not allowed")
    except yaml.MarkedYAMLError as error:
        mark: Any = error.problem_mark or error.context_mark
        complaints.add(Refused("", mark).place, f"not YAML: {error.problem}{_advice(error)}")
    except Refused as refused:
        complaints.add(refused.place, refused.text)
    except (ValueError, OverflowError):  # PyYAML lets them through from escapes like \UFFFFFFFF and from %YAML lines
        complaints.add(complaints.start, "not YAML: an escape or a directive has a number that is too large")
    return None


def _advice(error: yaml.MarkedYAMLError) -> str:
    r"""Returns what to do about a text that is not YAML, where that can be told."""
    if "'\\t'" in (error.problem or ""):
        return "; indent with blanks"
    context = error.context or ""
    opened = next((sign for sign, kind in (("{", "mapping"), ("[", "sequence")) if f"flow {kind}" in context), "")
    if opened and error.context_mark:
        return f"; is the {opened} of line {error.context_mark.line + 1} closed?"
    return ""


class _Reader:
    """Reads one stream of YAML events; it never recurses deeper than DEEPEST, whatever the text."""

    def __init__(self, file: str, complaints: Complaints, events: Iterator[Any], kind: str) -> None:
        self._file = file
        self._kind = kind
        self._complaints = complaints
        self._events = events

    def document(self, start: str) -> Tree | None:
        tree: Tree | None = None
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                if tree is not None:
                    raise Refused(f"a second document begins here; write one {self._kind} a file", event.start_mark)
                tree = self._tree(next(self._events), 1)
        if tree is None:
            self._complaints.add(
                self._complaints.start, f"the file is empty; a {self._kind} file begins with `{start}`"
            )
        return tree

    def _tree(self, event: Any, depth: int) -> Tree:
        if isinstance(event, yaml.AliasEvent):
            raise Refused(f"*{event.anchor} is an alias; write out what it stands for", event.start_mark)
        if event.anchor is not None:
            raise Refused(f"&{event.anchor} is an anchor; {self._kind} files have none", event.start_mark)
        if event.tag is not None:
            raise Refused(f"{event.tag} is a tag; {self._kind} files have none", event.start_mark)
        if depth > DEEPEST:
            raise Refused(f"lists and tables are more than {DEEPEST} deep here", event.start_mark)
        place = Place(file=self._file, line=event.start_mark.line + 1, column=event.start_mark.column + 1)
        if isinstance(event, yaml.ScalarEvent):
            is_null = event.style is None and event.value in NULL_WORDS
            return Scalar(event.value, is_null, place, event.style is None)
        if isinstance(event, yaml.SequenceStartEvent):
            return Sequence(tuple(self._items(depth)), place)
        return self._mapping(depth, place)

    def _items(self, depth: int) -> Iterator[Tree]:
        for event in self._events:
            if isinstance(event, yaml.SequenceEndEvent):
                return
            yield self._tree(event, depth + 1)

    def _mapping(self, depth: int, place: Place) -> Mapping:
        entries: dict[str, tuple[Scalar, Tree]] = {}
        dropped = []
        for event in self._events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            key = self._tree(event, depth + 1)
            value = self._tree(next(self._events), depth + 1)
            if not isinstance(key, Scalar) or key.is_null or not key.text.isprintable():
                self._complaints.add(key.place, "a key must be a name")
                dropped.append("")
            elif key.text == "<<" and key.is_plain:
                self._complaints.add(key.place, f"<< merges tables; {self._kind} files write the keys out", about="<<")
                dropped.append("")
            elif key.text in entries:
                first = entries[key.text][0].place.line
                self._complaints.add(key.place, f"{key.text} is here twice; it is on line {first} too", about=key.text)
                dropped.append(key.text)
            else:
                entries[key.text] = key, value
        return Mapping(tuple(entries.values()), place, tuple(dropped))


def content_of(path: Path, base: str | Path | None = None) -> bytes:
    """The bytes of a file beside a flow: all that a document may have, and enough to see that it has more.

    One that was found for a file in the folder `base` is not read through a link that leads elsewhere.
    """
    try:
        return _content(path, base)
    except OSError as error:
        raise ConfigurationException(f"{path} cannot be read: {reason(error)}") from error


def content_or_problem(file: str, base: str | None = None) -> bytes | Problem:
    """The bytes of a file, as `content_of` returns them, or the problem that it cannot be read."""
    try:
        return _content(Path(file), base)
    except ConfigurationException as error:
        return Problem(file, 0, 0, UNFIT, error.text)
    except OSError as error:
        return Problem(file, 0, 0, UNFIT, f"cannot be read: {reason(error)}")


def _content(path: Path, base: str | Path | None) -> bytes:
    if base is not None:
        check_link(path, base)
    with path.open("rb") as opened:
        return opened.read(4 * LARGEST + 4)
