"""penstock esql: programs checked, shown as Python, run, and formatted."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer

from engine.cli import app
from engine.cli.command_failures import existing, read_input, standard_input
from engine.cli.shared_options import (
    MAX_INPUT,
    DataSources,
    Domain,
    Input,
    Json,
    Limited,
    MaxInput,
    MessageOptions,
    opened,
    with_groups,
)
from engine.cli.shared_options import show as show_rows
from engine.errors import BrokerError, ConfigurationException
from engine.files.input_files import lines_of, read_file, size_of
from engine.files.output_files import write_file

T = TypeVar("T")

if TYPE_CHECKING:
    from engine.databases.sources import Sources
    from engine.errors import Problem
    from esql.runtime.activation import Surroundings
    from esql.runtime.interactive_session import Case
    from esql.runtime.program import Compiled

esql = typer.Typer(help="Check, show, run and format ESQL.", no_args_is_help=True)
app.add_typer(esql, name="esql")

Files = Annotated[list[str], typer.Argument(help="Files, or directories that are searched for *.esql.")]


@esql.command()
def check(files: Files, max_input: MaxInput = MAX_INPUT, as_json: Json = False) -> None:
    """Find everything that is wrong with programs before they run; exit with 1 if anything is.

    The files are taken as deployed together; those of a project (a folder with .project), with the projects it names.

    Example: penstock esql check flows/samples
    """
    from esql.compile import problems_in
    from flows.esql_files import deployments

    problems = []
    for own, others in deployments(_paths(files)):
        names = {str(path) for path in own}
        problems += [one for one in problems_in(_contents([*own, *others], size_of(max_input))) if one.file in names]
    show_rows([_data(problem) for problem in problems], (problem.render() for problem in problems), as_json=as_json)
    raise typer.Exit(1 if problems else 0)


@esql.command()
def show(
    file: Annotated[str, typer.Argument(help="The file.")],
    data_sources: DataSources = None,
    max_input: MaxInput = MAX_INPUT,
) -> None:
    """Show the Python that a program becomes, the constants that it uses, and the SQL of its statements of databases.

    With --data-source tables and columns are looked up there, as they are when a flow is deployed.

    Example: penstock esql show flows/samples/customers/customers.esql
    """
    from esql.compile import compile_sources

    compiled = _or_problems(lambda: compile_sources(_sources([file], max_input)))
    with opened(data_sources) as databases:
        typer.echo(compiled.text if databases is None else _text_for(databases, compiled))


@esql.command("eval")
@with_groups
def evaluate(
    given: MessageOptions,
    expression: Annotated[str | None, typer.Argument(help="The expression.")] = None,
) -> None:
    """Evaluate an expression, and print its value as a literal of ESQL.

    Example: penstock esql eval "UPPER('penstock') || '!'"
    """
    from esql.runtime.interactive_session import Case, evaluated

    with opened(given.data_sources) as databases, _desk(given.limits) as around:

        def answer(case: Case) -> str:
            return _in_unit(databases, around, partial(evaluated, case))

        if given.cases is not None:
            _run_cases(given.cases, given.max_input, answer)
            return
        if expression is None:
            raise ConfigurationException("eval needs an expression, or --cases FILE")
        case = Case(expression, _body(given.source, given.max_input), given.domain)
        typer.echo(_or_problems(lambda: answer(case)))


@esql.command()
@with_groups
def run(
    given: MessageOptions,
    file: Annotated[str | None, typer.Argument(help="The file.")] = None,
    module: Annotated[str, typer.Option("--module", help="The module to run, where there are several.")] = "",
) -> None:
    """Run a module over one message, and print `terminal|body` for each message that it sends.

    What it has done to databases is committed if it ends well, and rolled back if it fails.

    Example: penstock esql run flows/samples/splitting/splitting.esql --input flows/samples/splitting/messages/day.xml
    --domain XMLNSC
    """
    from esql.cache import users_cache
    from esql.runtime.interactive_session import lines_of, message_of, outcomes

    with opened(given.data_sources) as databases, _desk(given.limits) as around:

        def answer(case: Case) -> str:
            return json.dumps(_in_unit(databases, around, partial(lines_of, case)), ensure_ascii=False)

        if given.cases is not None:
            _run_cases(given.cases, given.max_input, answer)
            return
        if file is None:
            raise ConfigurationException("run needs a file, or --cases FILE")
        compiled = _or_problems(lambda: users_cache().sources(_sources([file], given.max_input)))

        def run_it(within: Surroundings) -> None:
            message = message_of(_body(given.source, given.max_input), given.domain)
            for line in outcomes(compiled, message, module, within):
                typer.echo(line)

        _in_unit(databases, around, run_it)


@esql.command("format")
def format_(
    files: Files,
    write: Annotated[bool, typer.Option("--write", help="Change the files instead of printing.")] = False,
    as_check: Annotated[bool, typer.Option("--check", help="Exit with 1 if a file would change.")] = False,
    max_input: MaxInput = MAX_INPUT,
    as_json: Json = False,
) -> None:
    """Write programs in the one form that all may agree on.

    Example: penstock esql format flows/samples/splitting/splitting.esql
    """
    from esql.compile import read_program
    from esql.format import format_program
    from esql.text import decode

    def formatted(name: str, data: bytes) -> str:
        return format_program(read_program(data, name))

    told: list[dict[str, Any]] = []
    for name, data in _sources(files, max_input):
        text = _or_problems(partial(formatted, name, data))
        told.append({"file": name, "changed": text != decode(data, name).text, "text": text})
        if write and not as_check:
            _write_over(Path(name), text, is_named=name in files)
        elif not (as_check or as_json):
            typer.echo(text, nl=False)
    changed = [one["file"] for one in told if one["changed"]]
    if as_json:
        typer.echo(json.dumps(told, indent=2))
    else:
        for name in changed if as_check else ():
            typer.echo(name)
    raise typer.Exit(1 if as_check and changed else 0)


@esql.command()
def repl(source: Input = None, domain: Domain = "", limits: Limited = None, max_input: MaxInput = MAX_INPUT) -> None:
    """Read expressions and statements one after the other; Environment and OutputRoot stay between them.

    Example: penstock esql repl --input flows/samples/customers/messages/1-ada.xml --domain XMLNSC
    """
    from esql.runtime.interactive_session import Session

    with _desk(limits) as around:
        session = Session(_body(source, max_input), domain, around)
        for entry in chain(_entries(max_input), ("",)):
            for line in session.answer(entry):
                typer.echo(line)


def _text_for(databases: Sources, compiled: Compiled) -> str:
    """Returns a program's text with SQL as the data sources have it; names that they do not have end the command."""
    from engine.databases.sql import shown
    from esql.text import SyntaxProblems
    from flows.data_sources import OF_TABLES, problems_of_tables

    asked = [one for one in compiled.database_statements if isinstance(one, OF_TABLES)]
    if problems := tuple(problems_of_tables(asked, "", databases)):
        _refuse(SyntaxProblems(problems))
    sql = {number: planned.plan.sql for (_, number, _), planned in databases.plans.items()}
    return compiled.text_with(lambda one: sql.get(id(one)) or shown(one))


@contextmanager
def _desk(limits: str | None) -> Iterator[Surroundings]:
    """Yields the surroundings of a program without a broker: limits, on its text too."""
    from esql.runtime.activation import Surroundings
    from esql.runtime.limits import VARIABLE, limits_around, read_limits

    if limits is None:
        yield Surroundings(limits=limits_around())
        return
    asked, before = read_limits(limits, "--limits"), os.environ.get(VARIABLE, "")
    os.environ[VARIABLE] = limits
    try:
        yield Surroundings(limits=asked)
    finally:
        os.environ[VARIABLE] = before


def _in_unit(databases: Sources | None, around: Surroundings, run_it: Callable[[Surroundings], T]) -> T:
    """Returns the program's result; its work in databases is committed if it ends well, else rolled back."""
    if databases is None:
        return run_it(around)
    from dataclasses import replace

    from engine.databases.session import Access, Connection, Session

    session = Session(databases)
    try:
        given = run_it(replace(around, database=Connection(Access(), session)))
        session.commit()
    except BaseException:
        session.back_out()
        raise
    return given


def _entries(max_input: str) -> Iterator[str]:
    """Yields the lines that a person types, or that standard input holds."""
    entries = standard_input("entries", "type them")
    if not sys.stdin.isatty():
        lines = lines_of(entries, "standard input", size_of(max_input))
        yield from (line.decode("utf-8", "replace").rstrip("\r\n") for line in lines)
        return
    with suppress(EOFError):
        while True:
            yield input("esql> ")


def _write_over(path: Path, text: str, *, is_named: bool) -> None:
    """Writes a program in place; the file that a link names changes only where the link itself was named."""
    if path.is_symlink() and not is_named:
        raise ConfigurationException(f"{path} is a link, which is not followed: name it, or the file itself")
    write_file(path.resolve(), text)


def _sources(files: list[str], max_input: str) -> list[tuple[str, bytes]]:
    """The names and contents of files, and of those that directories hold."""
    return _contents(_paths(files), size_of(max_input))


def _paths(files: list[str]) -> list[Path]:
    found: list[Path] = []
    for name in files:
        path = existing(name, "a file or a directory")
        found += sorted(path.rglob("*.esql")) if path.is_dir() else [path]
    if not found:
        raise ConfigurationException(f"{', '.join(files)} holds no .esql file: name one, or a folder of them")
    return found


def _contents(paths: list[Path], most: int) -> list[tuple[str, bytes]]:
    return [(str(path), read_file(path, most)) for path in paths]


def _body(source: str | None, max_input: str) -> bytes | None:
    most = size_of(max_input)
    return None if source is None else read_input(source, "a body", most, shown="stdin")


def _data(problem: Problem) -> dict[str, Any]:
    return {
        "file": problem.file,
        "line": problem.line,
        "column": problem.column,
        "number": f"BIP{problem.number:04d}",
        "kind": problem.kind,
        "text": problem.text,
    }


def _or_problems(make: Callable[[], Any]) -> Any:
    """Returns what a function gives; problems of a program are shown, and end the command."""
    from esql.text import SyntaxProblems

    try:
        return make()
    except SyntaxProblems as problems:
        _refuse(problems)


def _refuse(problems: Any) -> NoReturn:
    for problem in problems.problems:
        typer.echo(problem.render(), err=True)
    raise typer.Exit(1)


def _run_cases(file: str, max_input: str, answer: Callable[[Case], str]) -> None:
    """Print an id and an answer for each case, with a tab between them; a line that is no case has its number.

    The exit code is 1 if one fails, or is none.
    """
    from esql.runtime.interactive_session import told
    from esql.text import SyntaxProblems

    is_sound = True
    for number, line in enumerate(_lines(file, max_input), 1):
        if not line.strip():
            continue
        name = str(number)
        try:
            case = _case(line, name)
        except (ValueError, TypeError) as error:
            is_sound = False
            typer.echo(f"{name}\t{file}:{number}: a case is a JSON object with id, esql, input and domain: {error}")
            continue
        try:
            text = answer(case)
        except (BrokerError, SyntaxProblems) as error:
            is_sound = False
            text = told(error)
        typer.echo(f"{case.id}\t{text}".encode("utf-8", "backslashreplace").decode())
    raise typer.Exit(0 if is_sound else 1)


def _lines(file: str, max_input: str) -> list[str]:
    try:
        return read_file(existing(file), size_of(max_input)).decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise ConfigurationException(f"{file} is not UTF-8: {error}") from error


def _case(line: str, name: str) -> Case:
    """Returns what one line asks for; raises a ValueError or TypeError where it asks for nothing."""
    from esql.runtime.interactive_session import Case

    data = json.loads(line)
    if not isinstance(data, dict):
        raise TypeError(f"this is a {type(data).__name__}")
    given = {key: data.get(key) for key in ("esql", "input", "domain")}
    for key, value in given.items():
        if not isinstance(value, str) and (value is not None or key == "esql"):
            raise ValueError(f"{key} is a text" if key in data else f"{key} is missing")
    body = given["input"]
    return Case(
        str(given["esql"]),
        None if body is None else body.encode("utf-8"),
        given["domain"] or "",
        str(data.get("id", name)),
    )
