"""Files with the ESQL of a flow: beside it, in the folders of schemas, its own; those of workspaces, by projects."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterable, Iterator
from glob import escape, glob
from os.path import abspath, dirname, isfile, join, normpath
from pathlib import Path
from typing import Final

from engine.errors import ConfigurationException, Place, Problem, reason
from engine.files.allowed_folders import check_link
from engine.flow.lint import UNFIT
from esql.names.predefined import CORRELATIONS
from esql.text import decode

MOST_FILES: Final = 1000
LARGEST: Final = 16 * 1024 * 1024  # bytes of one file
_WORD: Final = r"[^\W\d]\w*"
_DOTTED: Final = rf"{_WORD}(?:\.{_WORD})*"
_REFERENCE: Final = re.compile(rf"(?:esql://routine/((?:{_DOTTED})?)#)?({_DOTTED})")
_PATHS: Final = re.compile(rf"\bPATH\s+({_DOTTED}(?:\s*,\s*{_DOTTED})*)", re.IGNORECASE)
_CALLED: Final = re.compile(rf"({_DOTTED})\s*\.\s*{_WORD}\s*\(")
_TRUTHS: Final = ("true", "false", "unknown", "null")
_SCHEME: Final = "esql://"


def name_of(text: str, kind: str) -> str | None:
    """The name of the module that a property gives, with its schema; None for a program, empty for a broken reference.

    >>> name_of("esql://routine/com.acme#Orders.Main", "COMPUTE"), name_of("Orders", "COMPUTE")
    ('com.acme.Orders.Main', 'Orders')
    >>> name_of("Body.Urgent", "FILTER"), name_of("RETURN TRUE;", "FILTER")
    (None, None)
    """
    text = text.strip()
    found = _REFERENCE.fullmatch(text)
    if found is None:
        return "" if text.startswith(_SCHEME) else None
    schema, name = found.groups()
    first = name.partition(".")[0]
    if kind == "FILTER" and not text.startswith(_SCHEME) and (first in CORRELATIONS or name.lower() in _TRUTHS):
        return None
    return f"{schema}.{name}" if schema else str(name)


def find_sources(
    flow_files: Iterable[str], schema: str, names: Iterable[str]
) -> tuple[list[tuple[str, bytes]], list[Problem]]:
    """The .esql files that belong to flow files, with their bytes, and what could not be read.

    `names` are the modules that are wanted; the folders of their schemas are looked into as well.
    """
    roots = list(dict.fromkeys(root for file in flow_files for root in _roots(dirname(file), schema)))
    wanted = [folder for name in names for folder in _folders(roots, _above(name))]
    pending = list(dict.fromkeys([dirname(file) for file in flow_files] + wanted))
    sources: dict[str, bytes] = {}
    problems: list[Problem] = []
    for folder in pending:
        for file in sorted(glob(join(escape(folder), "*.esql"))):
            if file in sources or len(sources) == MOST_FILES or not isfile(file):
                continue
            try:
                sources[file] = _read(file, _root_of(file, roots))
            except ConfigurationException as error:
                problems.append(Problem(file, 0, 0, UNFIT, error.text))
                continue
            except OSError as error:
                problems.append(Problem(file, 0, 0, UNFIT, f"cannot be read: {reason(error)}"))
                continue
            found = _folders(roots, _named(sources[file], file))
            pending.extend(folder for folder in found if folder not in pending)
    return list(sources.items()), problems


def _root_of(file: str, roots: Iterable[str]) -> str:
    """The highest of the folders of schemas that a file is in, or its own."""
    around = (root for root in roots if Path(abspath(file)).is_relative_to(abspath(root)))
    return min(around, key=lambda root: len(abspath(root)), default=dirname(file))


def _read(file: str, root: str) -> bytes:
    check_link(file, root)
    with Path(file).open("rb") as opened:
        data = opened.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise OSError(0, f"the file has more than {LARGEST} bytes")
    return data


def _roots(folder: str, schema: str) -> Iterator[str]:
    """Yields where folders of schemas start: at the flow's own folder, and where its own schema starts."""
    yield normpath(folder)
    parts = schema.split(".") if schema else []
    if parts and tuple(parts) == Path(abspath(folder)).parts[-len(parts) :]:
        yield normpath(join(folder, *[".."] * len(parts)))


def _folders(roots: list[str], schemas: Iterable[str]) -> list[str]:
    return [normpath(join(root, *schema.split("."))) for schema in schemas for root in roots]


def _above(name: str) -> Iterator[str]:
    """The schemas that the name of a module may begin with."""
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def _named(data: bytes, file: str) -> Iterator[str]:
    """The schemas that a file may mean; that a folder of the name is there shows whether it does."""
    text = decode(data, file).text
    for found in _PATHS.finditer(text):
        yield from (name.strip() for name in found[1].split(","))
    yield from dict.fromkeys(found[1] for found in _CALLED.finditer(text))


def line_of(place: Place) -> str:
    """The line of a file that a place is on."""
    linecache.checkcache(place.file)
    return linecache.getline(place.file, place.line)


def text_in_place(text: str, place: Place) -> str | None:
    """A property's text moved to where it stands in its file, so that its lines and columns are the file's.

    None where the file does not hold it as it is: a folded text, one with escapes, or a flow that came from no file.
    """
    if not place.file:
        return None
    linecache.checkcache(place.file)
    lines = [line.rstrip("\r\n") for line in linecache.getlines(place.file)]
    head = lines[place.line - 1][place.column - 1 :] if 0 < place.line <= len(lines) else ""
    if not head.startswith("|"):
        mark = head[:1] if head[:1] in {"'", '"'} else ""
        same = text and head.startswith(f"{mark}{text}")
        return "\n" * (place.line - 1) + " " * (place.column - 1 + len(mark)) + text if same else None
    own = text.rstrip("\n").split("\n")
    below = lines[place.line : place.line + len(own)]
    indent = next((len(line) - len(mine) for line, mine in zip(below, own, strict=False) if mine.strip()), 0)
    blank = " " * indent
    if len(below) < len(own) or any(f"{blank}{mine}".rstrip() != line.rstrip() for mine, line in zip(own, below)):  # noqa: B905
        return None
    if any(mine.count("'") % 2 or mine.count('"') % 2 for mine in own):  # a literal may hold these line ends
        blank = ""
    return "\n" * place.line + "\n".join(f"{blank}{mine}" for mine in own)


_PROJECT: Final = ".project"
_NAME: Final = re.compile(r"<name>\s*([^<]*?)\s*</name>")
_REFERRED: Final = re.compile(r"<project>\s*([^<]*?)\s*</project>")
_LARGEST: Final = 1024 * 1024  # characters of a project's description that are read


def deployments(files: Iterable[Path]) -> Iterator[tuple[list[Path], list[Path]]]:
    """The files of each project, and those of the projects that it refers to; all files outside projects are one."""
    files_of: dict[Path | None, list[Path]] = {}
    for file in files:
        files_of.setdefault(_project_of(file), []).append(file)
    projects = [folder for folder in files_of if folder is not None]
    descriptions = {folder: _description(folder) for folder in projects}
    named = {folder: _found(_NAME, descriptions[folder])[:1] or [folder.name] for folder in projects}
    for folder, own in files_of.items():
        seen, pending = [folder], [folder]
        while pending:
            referring = pending.pop()
            for name in _found(_REFERRED, descriptions.get(referring, "") if referring is not None else ""):
                same = [other for other in projects if named[other] == [name] and other not in seen]
                near = [other for other in same if referring is not None and other.parent == referring.parent]
                seen += (near or same)[:1]
                pending += (near or same)[:1]
        yield own, [file for other in seen[1:] for file in files_of[other]]


def _project_of(file: Path) -> Path | None:
    return next((folder for folder in file.absolute().parents if (folder / _PROJECT).is_file()), None)


def _description(folder: Path) -> str:
    with (folder / _PROJECT).open(encoding="utf-8", errors="replace") as text:
        return text.read(_LARGEST)


def _found(what: re.Pattern[str], description: str) -> list[str]:
    return [found[1] for found in what.finditer(description)]
