"""penstock test: the cases of test files, run and reported."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli import app
from engine.cli.command_failures import visible
from engine.cli.shared_options import AllowFiles, DataSources, Json, opened
from engine.errors import ConfigurationException
from engine.files.allowed_folders import allowed_files
from engine.files.input_files import refuse_inputs
from engine.files.output_files import write_file

if TYPE_CHECKING:
    from engine.errors import Problem
    from engine.testing.case import Case
    from engine.testing.reading import Reading
    from engine.testing.suite import Result


@app.command("test")
def run_tests(
    context: typer.Context,
    paths: Annotated[list[str], typer.Argument(help="Test files, flow files, or folders that are searched for both.")],
    name: Annotated[str, typer.Option("-k", help="Only cases with this in their name or their file's.")] = "",
    junit: Annotated[Path | None, typer.Option(help="Write JUnit's XML to this file as well.")] = None,
    coverage: Annotated[bool, typer.Option("--coverage", help="Show which lines of ESQL ran.")] = False,
    allow_files: AllowFiles = None,
    data_sources: DataSources = None,
    as_json: Json = False,
) -> None:
    """Run the cases of tests/*.yaml beside flows, and show what is not as expected; the exit code is 1 if anything is.

    docs/testing_flows.md says what a test file may hold.

    Example: penstock test flows/samples/orders --coverage
    """
    from engine.testing import report
    from engine.testing.reading import read_file
    from engine.testing.report import covered
    from engine.testing.running import Flows
    from engine.testing.suite import find_files, named, run_cases

    started, found = time.perf_counter(), find_files(paths)
    readings = [read_file(file) for file in found]
    problems = [problem for reading in readings for problem in reading.problems]
    sound = [case for reading in readings if not reading.problems for case in reading.cases]
    cases = [case for case in sound if named(case, name)]
    if not cases and not problems:
        raise ConfigurationException(f"no case has {name} in its name: {len(sound)} have other names")
    if junit is not None:
        refuse_inputs((junit,), _inputs(readings))
    sources = context.with_resource(opened(data_sources))
    flows, results = Flows(allowed_files(allow_files or ()), sources), list["Result"]()
    with covered(flows, wanted=coverage) as table:
        for result in run_cases(cases, flows):
            _show(result, results[-1].case if results else None, as_json=as_json)
            results.append(result)
    if junit is not None:
        write_file(junit, report.junit(results, problems))
    for problem in problems:
        typer.echo(problem.render(), err=True)
    if as_json:
        typer.echo(json.dumps(report.data(results, problems) | {"coverage": table.data()}, indent=2))
    else:
        typer.echo(report.summary(results, time.perf_counter() - started) + _unread(problems))
        for line in report.reasons_of(results).lines():
            typer.echo(f"  {visible(line)}")
        typer.echo(table.text, nl=False)
    raise typer.Exit(1 if problems or not all(result.passed for result in results) else 0)


def _inputs(readings: list[Reading]) -> Iterator[Path]:
    """The test files, the files of messages that they name, and what their flows are read from."""
    from flows.files import load
    from flows.programs import files_read

    for reading in readings:
        yield Path(reading.file)
        yield from reading.messages
    for flow in {case.flow for reading in readings for case in reading.cases}:
        whole = load(flow)
        yield from map(Path, files_read(*whole.flows, *whole.subflows.values()))


def _show(result: Result, before: Case | None, *, as_json: bool) -> None:
    """A case, under the name of its file."""
    from engine.testing.report import case_lines

    if as_json:
        return
    if before is None or before.file != result.case.file:
        typer.echo(result.case.file)
    for line in case_lines(result):
        typer.echo(line)


def _unread(problems: list[Problem]) -> str:
    files = {problem.file for problem in problems}
    return f"; {len(files)} test file{'' if len(files) == 1 else 's'} cannot be used" if files else ""
