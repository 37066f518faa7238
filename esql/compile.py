"""The pipeline: text -> read -> scope -> check -> emit -> code -> link."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from types import CodeType
from typing import Any, Final

from engine.errors import Problem
from esql import syntax
from esql.check import problems_of
from esql.emit import Deployment, Emitted
from esql.emit.emitted_code import EmittedRoutine
from esql.emit.eval_scope import Given, GivenRoutine
from esql.read import read_expression, read_file, read_statements
from esql.runtime.linker import EntryPoint, Parts, executed, link
from esql.runtime.program import Compiled
from esql.scope import File, Library, Resolution, resolve, routine_facts
from esql.syntax.node import children
from esql.text import StatementSpan, SyntaxProblems, decode, problem_at

ANY_KIND: Final = "ANY"


def compile_sources(sources: Sequence[tuple[str, bytes | str]], *, trace: str = "") -> Compiled:
    """Compile .esql files that are deployed together, each its name and its text; bare statements are a Compute node's.

    With `trace` they tell the user trace of each statement (normal), and of each value as well (debug).

    >>> compile_sources([("a.esql", "SET OutputRoot = InputRoot;")]).entrance().kind
    'COMPUTE'
    """
    return link(parts_of_sources(sources, trace=trace))


def compile_text(data: bytes | str, kind: str, name: str = "ESQL", *, trace: str = "") -> Compiled:
    """Compile the text of a node's property; the kind is COMPUTE, FILTER or DATABASE.

    >>> compile_text("Body.total > 100", "FILTER").entrance().kind
    'FILTER'
    """
    return link(parts_of_text(data, kind, name, trace=trace))


def parts_of_sources(sources: Sequence[tuple[str, bytes | str]], *, trace: str = "") -> Parts:
    """Returns what .esql files that are deployed together become, before it is made ready to run."""
    return _parts([_file(name, data) for name, data in sources], trace=trace)


def parts_of_text(data: bytes | str, kind: str, name: str = "ESQL", *, trace: str = "") -> Parts:
    """Returns what the text of a node's property becomes, before it is made ready to run."""
    program = read_statements(data, name)
    return _parts([File(name, program, decode(data, name).text)], kind, trace=trace)


def compile_expression(data: bytes | str, name: str = "expression") -> Compiled:
    """Compile one expression, which may use the names of nodes of any kind; its value is what the program returns."""
    return link(parts_of_expression(data, name))


def parts_of_expression(data: bytes | str, name: str = "expression") -> Parts:
    """Returns what an expression becomes, before it is made ready to run."""
    result = read_expression(data, name)
    program = syntax.Program((syntax.Return(result, position=result.position),), position=result.position)
    return _parts([File(name, program, decode(data, name).text)], ANY_KIND)


@lru_cache(maxsize=256)
def compile_given(text: str, kind: str, given: tuple[Any, ...], is_expression: bool) -> tuple[Callable[..., Any], bool]:
    """Compile a text of EVAL: a function of the invocation, the depth, the given routines and what is in the variables.

    The second answer is whether it is a generator, for it may PROPAGATE.
    """
    variables, stored, routines = Given.of(given)
    if is_expression:
        result = read_expression(text, "EVAL")
        statements: tuple[syntax.Statement, ...] = (syntax.Return(result, position=result.position),)
    else:
        statements = read_statements(text, "EVAL").statements
    plain = [one.node for one in routines if not one.schema]
    kept = [one.declaration for one in stored]
    file = File("EVAL", syntax.Program((*plain, *kept, *variables, *statements)), text)
    if any(isinstance(one, syntax.Routine) for one in statements):
        _refuse([_at_start(file, "a text of EVAL declares no routines: declare them where EVAL stands")])
    others = _schemas_of(routines)
    known = Library((file, *others))
    found = resolve(file.program, kind or None, known, is_text=True)
    _refuse([problem for problem in problems_of(found, known) if problem.line and problem.stops])
    resolutions = [found, *(resolve(other.program, None, known) for other in others)]
    deployment = Deployment(routine_facts(resolutions), [found])
    slots = {id(one.node): EmittedRoutine(one.slot, one.yields) for one in routines}
    for routine in deployment.routines:
        deployment.routines[routine] = slots[id(routine.node)]
    emitted = deployment.emit_text(found, (variables, stored), is_expression=is_expression)
    _refuse(emitted.problems)
    entrance = emitted.entrances[0]
    namespace = executed((_code(emitted, file),), deployment.constants.values)
    return namespace[entrance.slot], entrance.yields


def _schemas_of(routines: Sequence[GivenRoutine]) -> list[File]:
    """The schemas whose routines a text of EVAL may call by names with a schema."""
    schemas: dict[tuple[str, ...], list[syntax.Routine]] = {}
    for one in routines:
        if one.schema:
            schemas.setdefault(one.schema, []).append(one.node)
    return [File("", syntax.Program(tuple(nodes), syntax.Prologue(schema))) for schema, nodes in schemas.items()]


def problems_in(sources: Sequence[tuple[str, bytes | str]]) -> tuple[Problem, ...]:
    """Everything that can be said to be wrong with files before they run; of names only where all can be read."""
    files: list[File] = []
    found: list[Problem] = []
    for name, data in sources:
        try:
            files.append(_file(name, data))
        except SyntaxProblems as problems:
            found.extend(problems.problems)
    is_read = not found
    found.extend(_modules_twice(files))
    files = [replace(file, kind=_kind(file.program)) for file in files]
    resolutions, seen = _resolved(files)
    # what a file that cannot be read would declare is no fault of the others
    found.extend(one for one in seen if is_read or one.kind != "name")
    if not any(problem.stops for problem in found):
        try:
            _emitted(files, resolutions)
        except SyntaxProblems as problems:
            found.extend(problems.problems)
    places = {name: at for at, (name, _) in enumerate(sources)}
    return tuple(sorted(found, key=lambda one: (places[one.file], one.line, one.column)))


def _resolved(files: Sequence[File]) -> tuple[list[Resolution], list[Problem]]:
    """Returns what the names of files that are deployed together refer to, and what the checks find."""
    known = Library(tuple(files))
    resolutions = [resolve(file.program, file.kind, known) for file in files]
    return resolutions, [problem for found in resolutions for problem in problems_of(found, known)]


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
    """Statements without a module around them are the text of a Compute node, with its routines among them."""
    modules = [statement for statement in program.statements if isinstance(statement, syntax.Module)]
    is_file = program.prologue is not None or bool(modules)
    is_text = any(not isinstance(statement, syntax.Declare | syntax.Routine) for statement in program.statements)
    return "COMPUTE" if is_text and not is_file else None


def _parts(files: list[File], kind: str = "", *, trace: str = "") -> Parts:
    _refuse(list(_modules_twice(files)))
    files = [replace(file, kind=None if kind == ANY_KIND else kind or _kind(file.program)) for file in files]
    resolutions, problems = _resolved(files)
    _refuse([problem for problem in problems if problem.stops])
    return _emitted(files, resolutions, trace=trace)


def _emitted(files: Sequence[File], resolutions: Sequence[Resolution], *, trace: str = "") -> Parts:
    deployment = Deployment(routine_facts(resolutions), resolutions, trace=trace)
    emitted = [deployment.emit(one, file.name, file.lines()) for one, file in zip(resolutions, files, strict=True)]
    _refuse([problem for one in emitted for problem in one.problems])
    codes = tuple(_code(one, file) for one, file in zip(emitted, files, strict=True))
    texts = {file.name: file.text for file in files}
    entry_points = tuple(_entry_points(emitted, files))
    trees = tuple(one.tree for one in emitted)
    places = {file.name: statement_spans(file.program, file.schema) for file in files}
    return Parts(codes, deployment.constants.values, entry_points, len(deployment.places), texts, places, trees)


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
                yield problem_at(node.position, text, file.name, file.lines()[node.position.line - 1], kind="name")


def _code(emitted: Emitted, file: File) -> CodeType:
    try:
        return compile(ast.fix_missing_locations(emitted.tree), file.name, "exec", dont_inherit=True)
    except (RecursionError, MemoryError, SyntaxError) as error:
        text = f"the program is nested too deeply to be compiled ({error}): split it into routines"
        raise SyntaxProblems((_at_start(file, text),)) from error


def _at_start(file: File, text: str) -> Problem:
    return problem_at(syntax.Position(1, 1, 1, 2), text, file.name, file.lines()[0])


def _refuse(problems: Sequence[Problem]) -> None:
    if problems:
        raise SyntaxProblems(tuple(problems))


def _entry_points(emitted: Sequence[Emitted], files: Sequence[File]) -> Iterator[EntryPoint]:
    """Yields where the code is entered; each entrance starts the variables of all schemas, then those of its module."""
    starts = [slot for one in emitted for slot in one.starts]
    shares = [slot for one in emitted for slot in one.shares]
    for one, file in zip(emitted, files, strict=True):
        for found in one.entrances:
            name = ".".join((*file.schema, found.name))
            yield replace(found, name=name, starts=(*starts, *found.starts), shares=(*shares, *found.shares))


def statement_spans(program: syntax.Program, schema: Iterable[str] = ()) -> tuple[StatementSpan, ...]:
    """The statements of a program, each behind those that it is inside.

    >>> from esql.read import read_statements
    >>> [(one.position, one.routine) for one in statement_spans(read_statements("SET a = 1; SET b = 2;", "x"))]
    [('1.1', ''), ('1.12', '')]
    """
    return tuple(_inside(program, "".join(f"{part}." for part in schema) or ".", "", 1))


def _inside(node: syntax.Node, above: str, routine: str, first: int) -> Iterator[StatementSpan]:
    if isinstance(node, syntax.Module):
        above = f"{above}{node.name}."
    elif isinstance(node, syntax.Routine):
        routine, first = f"{above}{node.name}", node.position.line
    elif isinstance(node, syntax.Statement):
        at = node.position
        yield StatementSpan(at.line, at.column, at.end_line, at.end_column, routine, first)
    for child in children(node):
        if isinstance(child, syntax.Statement | syntax.IfBranch | syntax.CaseStatementBranch):
            yield from _inside(child, above, routine, first)
