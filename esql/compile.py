"""The pipeline: text -> read -> scope -> check -> emit -> code."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any, Final

from esql import syntax
from esql.activation import Shared
from esql.check import problems_of
from esql.emit import Deployment, Emitted
from esql.emit.library import library
from esql.emit.reentry import Given
from esql.problems import Problem, SyntaxProblems
from esql.program import Compiled, Entrance
from esql.read import read_expression, read_file, read_statements
from esql.read.source import decode
from esql.scope import File, Library, Resolution, resolve, routine_facts

ANY_KIND: Final = "ANY"
_LINE_END: Final = re.compile(r"\r\n|\r|\n")


def compile_sources(sources: Sequence[tuple[str, bytes | str]], *, trace: str = "") -> Compiled:
    """Compile .esql files that are deployed together, each its name and its text; bare statements are a Compute node's.

    With `trace` they tell the user trace of each statement (normal), and of each value as well (debug).

    >>> compile_sources([("a.esql", "SET OutputRoot = InputRoot;")]).entrance().kind
    'COMPUTE'
    """
    return _compiled([_file(name, data) for name, data in sources], trace=trace)


def compile_text(data: bytes | str, kind: str, name: str = "ESQL", *, trace: str = "") -> Compiled:
    """Compile the text of a node's property; the kind is COMPUTE, FILTER or DATABASE.

    >>> compile_text("Body.total > 100", "FILTER").entrance().kind
    'FILTER'
    """
    program = read_statements(data, name)
    return _compiled([File(name, program, decode(data, name).text)], kind, trace=trace)


def compile_expression(data: bytes | str, name: str = "expression") -> Compiled:
    """Compile one expression, which may use the names of nodes of any kind; its value is what the program returns."""
    result = read_expression(data, name)
    program = syntax.Program((syntax.Return(result, position=result.position),), position=result.position)
    return _compiled([File(name, program, decode(data, name).text)], ANY_KIND)


@lru_cache(maxsize=256)
def compile_given(text: str, kind: str, given: tuple[Given, ...], is_expression: bool) -> Callable[..., Any]:
    """Compile a text of EVAL; the function takes the invocation, the depth, and what is given of each variable."""
    declared = tuple(syntax.Declare((one.name,), one.type) for one in given)
    if is_expression:
        result = read_expression(text, "EVAL")
        statements: tuple[syntax.Statement, ...] = (syntax.Return(result, position=result.position),)
    else:
        statements = read_statements(text, "EVAL").statements
    file = File("EVAL", syntax.Program((*declared, *statements)), text)
    known = Library((file,))
    found = resolve(file.program, kind or None, known)
    _refuse([problem for problem in problems_of(found, known) if problem.position.line and problem.stops])
    deployment = Deployment(routine_facts([found]))
    emitted = deployment.emit_text(found, declared, is_expression=is_expression)
    _refuse(emitted.problems)
    if emitted.entrances[0].yields:
        _refuse([_at_start(file, "a text of EVAL cannot PROPAGATE: write the statement where EVAL stands")])
    namespace: dict[str, Any] = {**library(), **deployment.constants.values}
    exec(_code(emitted, file), namespace)  # noqa: S102 - see the architecture test
    run: Callable[..., Any] = namespace[emitted.entrances[0].slot]
    return run


def problems_in(sources: Sequence[tuple[str, bytes | str]]) -> tuple[Problem, ...]:
    """Everything that can be said to be wrong with files before they run; names only where all can be read."""
    files: list[File] = []
    found: list[Problem] = []
    for name, data in sources:
        try:
            files.append(_file(name, data))
        except SyntaxProblems as problems:
            found.extend(problems.problems)
    if found:
        return tuple(found)
    try:
        _compiled(files)
    except SyntaxProblems as problems:
        found.extend(problems.problems)
    places = {name: at for at, (name, _) in enumerate(sources)}
    found.extend(_harmless(files))
    return tuple(sorted(found, key=lambda one: (places[one.file], one.position.line, one.position.column)))


def _harmless(files: list[File]) -> Iterator[Problem]:
    """The problems that do not stop programs."""
    known = Library(tuple(files))
    for file in files:
        found = resolve(file.program, _kind(file.program), known)
        yield from (problem for problem in problems_of(found, known) if not problem.stops)


def read_program(data: bytes | str, name: str) -> syntax.Program:
    """Read a file; what is no file of modules may be the statements of a node.

    >>> len(read_program("SET Environment.x = 1;", "a.esql").statements)
    1
    """
    try:
        return read_file(data, name)
    except SyntaxProblems as problems:
        try:
            return read_statements(data, name)
        except SyntaxProblems:
            raise problems from None


def _file(name: str, data: bytes | str) -> File:
    return File(name, read_program(data, name), decode(data, name).text)


def _kind(program: syntax.Program) -> str | None:
    """Statements without a module around them are the text of a Compute node."""
    is_file = program.prologue is not None or any(
        isinstance(statement, syntax.Module | syntax.Routine) for statement in program.statements
    )
    is_text = any(not isinstance(statement, syntax.Declare | syntax.Routine) for statement in program.statements)
    return "COMPUTE" if is_text and not is_file else None


def _compiled(files: list[File], kind: str = "", *, trace: str = "") -> Compiled:
    known = Library(tuple(files))
    _refuse(list(_modules_twice(files)))
    kinds = [None if kind == ANY_KIND else kind or _kind(file.program) for file in files]
    resolutions = [resolve(file.program, one, known) for file, one in zip(files, kinds, strict=True)]
    _refuse([problem for found in resolutions for problem in problems_of(found, known) if problem.stops])
    deployment = Deployment(routine_facts(resolutions), trace=trace)
    emitted = [_emitted(deployment, *pair) for pair in zip(resolutions, files, strict=True)]
    _refuse([problem for one in emitted for problem in one.problems])
    namespace: dict[str, Any] = {**library(), **deployment.constants.values}
    for one, file in zip(emitted, files, strict=True):
        exec(_code(one, file), namespace)  # noqa: S102 - see the architecture test
    return _entered(emitted, files, namespace, len(deployment.places))


def _modules_twice(files: list[File]) -> Iterator[Problem]:
    """Modules that two files of one schema have."""
    first: dict[tuple[str, ...], File] = {}
    for file in files:
        for node in file.program.statements:
            if not isinstance(node, syntax.Module):
                continue
            other = first.setdefault((*file.schema, node.name), file)
            if other is not file:
                text = f"{other.name} has a module {node.name} too: rename one of them, or put them into two schemas"
                yield Problem(node.position, text, file.name, file.lines()[node.position.line - 1], kind="name")


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
        ".".join((*file.schema, found.title)): Entrance(
            found.kind,
            ".".join((*file.schema, found.title)),
            namespace[found.slot],
            found.yields,
            (*starts, *((found.starts,) if found.starts else ())),
            (*shares, *((found.shares,) if found.shares else ())),
        )
        for one, file in zip(emitted, files, strict=True)
        for found in one.entrances
    }
    names = {file.name: tuple(_LINE_END.split(file.text)) for file in files}
    trees = tuple(one.tree for one in emitted)
    return Compiled(entrances, namespace, names, places, trees, Shared(places), compile_given)
