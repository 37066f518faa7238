"""Workspaces: which of many ESQL files are deployed together, by the projects that their folders are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

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
