"""The pipeline: text -> read -> scope -> check -> emit -> code."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from types import CodeType
from typing import Any, Final

from esql import syntax
from esql.activation import Shared
from esql.check import problems_of
from esql.emit import Deployment, Emitted
from esql.emit.library import library
from esql.problems import Problem, SyntaxProblems
from esql.program import Compiled, Entrance
from esql.read import read_expression, read_file, read_statements
from esql.read.source import decode
from esql.scope import File, Library, Resolution, resolve, routine_facts

_LINE_END: Final = re.compile(r"\r\n|\r|\n")


def compile_files(sources: Sequence[tuple[str, bytes | str]]) -> Compiled:
    """Compile .esql files that are deployed together: each its name and its text."""
    return _compiled([_file(name, data) for name, data in sources], None)


def compile_text(data: bytes | str, kind: str, name: str = "ESQL") -> Compiled:
    """Compile the text of a node's property; the kind is COMPUTE, FILTER or DATABASE.

    >>> compile_text("SET OutputRoot = InputRoot;", "COMPUTE").entrance().kind
    'COMPUTE'
    """
    program = read_statements(data, name)
    return _compiled([File(name, program, decode(data, name).text)], kind)


def compile_expression(data: bytes | str, name: str = "expression") -> Compiled:
    """Compile one expression; its value is what the program returns."""
    result = read_expression(data, name)
    program = syntax.Program((syntax.Return(result, position=result.position),), position=result.position)
    return _compiled([File(name, program, decode(data, name).text)], "COMPUTE")


def _file(name: str, data: bytes | str) -> File:
    return File(name, read_file(data, name), decode(data, name).text)


def _compiled(files: list[File], kind: str | None) -> Compiled:
    known = Library(tuple(files))
    resolutions = [resolve(file.program, kind, known) for file in files]
    _refuse([problem for found in resolutions for problem in problems_of(found, known)])
    deployment = Deployment(routine_facts(resolutions))
    emitted = [_emitted(deployment, *pair) for pair in zip(resolutions, files, strict=True)]
    _refuse([problem for one in emitted for problem in one.problems])
    namespace: dict[str, Any] = {**library(), **deployment.constants.values}
    for one, file in zip(emitted, files, strict=True):
        exec(_code(one, file), namespace)  # noqa: S102 - see the architecture test
    return _entered(emitted, files, namespace, len(deployment.places))


def _emitted(deployment: Deployment, resolution: Resolution, file: File) -> Emitted:
    return deployment.emit(resolution, file.name, tuple(_LINE_END.split(file.text)))


def _code(emitted: Emitted, file: File) -> CodeType:
    try:
        return compile(ast.fix_missing_locations(emitted.tree), file.name, "exec", dont_inherit=True)
    except (RecursionError, MemoryError, SyntaxError) as error:
        text = f"the program is nested too deeply to be compiled ({error}): split it into routines"
        raise SyntaxProblems((_at_start(file, text),)) from error


def _at_start(file: File, text: str) -> Problem:
    return Problem(syntax.Position(1, 1, 1, 2), text, file.name, file.lines()[0])


def _refuse(problems: Sequence[Problem]) -> None:
    if problems:
        raise SyntaxProblems(tuple(problems))


def _entered(emitted: list[Emitted], files: list[File], namespace: dict[str, Any], places: int) -> Compiled:
    starts = tuple(one.starts for one in emitted if one.starts)
    shares = tuple(one.shares for one in emitted if one.shares)
    entrances = {
        found.title: Entrance(
            found.kind,
            found.title,
            namespace[found.slot],
            found.yields,
            (*starts, *((found.starts,) if found.starts else ())),
            (*shares, *((found.shares,) if found.shares else ())),
        )
        for one in emitted
        for found in one.entrances
    }
    text = "\n\n".join(ast.unparse(one.tree) for one in emitted)
    names = frozenset(file.name for file in files)
    return Compiled(entrances, namespace, names, places, text, Shared(places))
