"""Results of cases as text for people, as JUnit's XML, and as data; and the coverage of ESQL, by coverage.py."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import StringIO
from itertools import groupby
from os.path import abspath, relpath
from pathlib import Path, PurePath
from types import CodeType
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree  # it only writes

from engine.errors import ConfigurationException, Problem, printable
from engine.runtime.incidents import Reasons
from engine.testing.running import Flows
from engine.testing.suite import Result
from engine.testing.verdict import Failure
from esql import syntax
from esql.compile import read_program
from esql.syntax.node import children

if TYPE_CHECKING:
    import coverage


_INDENT: Final = "      "


def failure_text(failure: Failure) -> str:
    """A failure in lines: what it is about, what differs, and the bodies' diff."""
    at = f"  ({failure.place})" if failure.place.file else ""
    lines = [f"{failure.subject}{at}", *(f"  {_printable(line)}" for line in failure.lines)]
    lines += (f"  {_printable(line)}" for line in failure.diff.splitlines())
    return "\n".join(lines)


def result_text(result: Result) -> str:
    """Returns what is wrong with a result, for a report that has said which it is."""
    texts = [problem.render() for problem in result.problems] + [failure_text(found) for found in result.failures]
    return "\n".join(texts)


def case_lines(result: Result) -> Iterator[str]:
    """A line for a case, and below it what is wrong."""
    yield f"  {'ok  ' if result.passed else 'FAIL'}  {result.case.name}"
    yield from (f"{_INDENT}{line}" for line in result_text(result).splitlines())


def summary(results: list[Result], seconds: float) -> str:
    """The sums."""
    failed = sum(not result.passed for result in results)
    cases = f"{len(results)} case{'' if len(results) == 1 else 's'}"
    return f"{cases}: {len(results) - failed} passed, {failed} failed, in {seconds:.2f} s"


def reasons_of(results: Sequence[Result]) -> Reasons:
    """All errors that were met in cases, counted by reason, whether they were expected or not."""
    reasons = Reasons()
    for result in results:
        reasons.add(result.incidents)
    return reasons


def data(results: list[Result], problems: list[Problem]) -> dict[str, Any]:
    """The results for programs."""
    return {
        "passed": sum(result.passed for result in results),
        "failed": sum(not result.passed for result in results),
        "problems": [_problem(problem) for problem in problems],
        "by_reason": reasons_of(results).as_data(),
        "cases": [
            {
                "file": result.case.file,
                "line": result.case.place.line,
                "name": result.case.name,
                "flow": result.case.flow,
                "passed": result.passed,
                "seconds": round(result.seconds, 6),
                "problems": [_problem(problem) for problem in result.problems],
                "incidents": [incident.as_data() for incident in result.incidents],
                "failures": [
                    {
                        "subject": found.subject,
                        "differences": list(found.lines),
                        "diff": found.diff,
                        "file": found.place.file,
                        "line": found.place.line,
                        "column": found.place.column,
                    }
                    for found in result.failures
                ],
            }
            for result in results
        ],
    }


def _problem(problem: Problem) -> dict[str, Any]:
    return {"file": problem.file, "line": problem.line, "column": problem.column, "text": problem.text}


def junit(results: list[Result], problems: Sequence[Problem] = ()) -> bytes:
    """The results as JUnit's XML: a suite a file; valid by the schemas of Ant and of Jenkins.

    A file that cannot be used is a suite of one case, which is an error and says all `problems` of it.
    """
    top = ElementTree.Element("testsuites")
    for file, group in groupby(results, key=lambda result: result.case.file):
        found = list(group)
        broken = sum(bool(result.problems) for result in found)
        failed = sum(not result.passed for result in found) - broken
        suite = _suite(top, file, len(found), failed, broken, sum(result.seconds for result in found))
        for result in found:
            _junit_case(suite, result)
    for file, about in groupby(problems, key=lambda problem: problem.file):
        said = list(about)
        made = ElementTree.SubElement(
            _suite(top, file, 1, 0, 1, 0.0), "testcase", name="the file can be used", classname=file, time="0.000000"
        )
        what = ElementTree.SubElement(made, "error", message=_printable(str(said[0])), type="error")
        what.text = "\n".join(_printable(line) for one in said for line in one.render().splitlines())
    for suite in top:
        for name in ("system-out", "system-err"):
            ElementTree.SubElement(suite, name)
    ElementTree.indent(top)
    text: bytes = ElementTree.tostring(top, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _suite(
    top: ElementTree.Element, file: str, tests: int, failures: int, errors: int, seconds: float
) -> ElementTree.Element:
    """A new suite, named after its file."""
    suite = ElementTree.SubElement(
        top,
        "testsuite",
        name=file,
        id=str(len(top)),
        package=str(PurePath(file).parent),
        timestamp=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S"),
        hostname=socket.gethostname() or "localhost",
        tests=str(tests),
        failures=str(failures),
        errors=str(errors),
        skipped="0",
        time=f"{seconds:.6f}",
    )
    ElementTree.SubElement(suite, "properties")
    return suite


def _junit_case(suite: ElementTree.Element, result: Result) -> None:
    case = result.case
    name = _printable(case.name)
    made = ElementTree.SubElement(suite, "testcase", name=name, classname=case.file, time=f"{result.seconds:.6f}")
    if not result.passed:
        kind = "error" if result.problems else "failure"
        first = str(result.problems[0]) if result.problems else result.failures[0].subject
        what = ElementTree.SubElement(made, kind, message=_printable(first), type=kind)
        what.text = "\n".join(map(_printable, result_text(result).splitlines()))


def _printable(text: str) -> str:
    """A line without what a terminal would obey, or XML cannot hold."""
    return printable(text, "\t")


ENDING: Final = ".esql"
_WITHOUT_CODE: Final = (syntax.Module, syntax.Routine, syntax.Compound)
MISSING: Final = "--coverage needs coverage.py, which is not installed: pip install 'penstock[coverage]'"


@dataclass(slots=True)
class Table:
    """The coverage of each file once all cases have run."""

    files: dict[str, tuple[list[int], list[int]]] = field(default_factory=dict)
    text: str = ""  # as coverage.py makes it

    def data(self) -> dict[str, Any] | None:
        """For each file its statements' lines and those of them that did not run."""
        return {file: {"lines": lines, "missing": missing} for file, (lines, missing) in self.files.items()} or None


@contextmanager
def covered(flows: Flows, *, wanted: bool) -> Iterator[Table]:
    """Watch ESQL run, if that is wanted; the table is filled at the end."""
    table = Table()
    if not wanted:
        yield table
        return
    try:
        import coverage  # noqa: PLC0415  # an extra, for those who ask for it
    except ImportError as error:
        raise ConfigurationException(MISSING) from error
    lines: dict[str, set[int]] = {}
    plugin = _plugin(coverage, lines)
    measured = coverage.Coverage(
        data_file=None,
        config_file=False,
        include=[f"*{ENDING}"],
        plugins=[lambda registry: registry.add_file_tracer(plugin)],
    )
    measured.start()
    try:
        yield table
    finally:
        measured.stop()
    lines.update(statements(flows))
    # Files of which nothing ran are named by the plugin that can read them, under the name that it was given.
    _fill(table, measured, lines, plugin._coverage_plugin_name)


def _fill(table: Table, measured: coverage.Coverage, lines: dict[str, set[int]], plugin_name: str) -> None:
    if not lines:
        table.text = f"no flow here has {ENDING} files\n"
        return
    known = measured.get_data()
    known.touch_files(list(lines), plugin_name=plugin_name)
    for file, every in sorted(lines.items()):
        ran = set(known.lines(file) or ())
        table.files[relpath(file)] = (sorted(every), sorted(every - ran))
    text = StringIO()
    measured.report(file=text, show_missing=True)
    table.text = text.getvalue()


def statements(flows: Flows) -> Iterator[tuple[str, set[int]]]:
    """The files of the programs of flows, each with the lines on which a statement begins that can run."""
    found: dict[str, set[int]] = {}
    for binder in flows.binders():
        for routine in binder.routines.values():
            for thing in routine.program.namespace.values():
                code = getattr(thing, "__code__", None)
                if isinstance(code, CodeType) and code.co_filename.endswith(ENDING):
                    found.setdefault(code.co_filename, set()).update(_lines(code))
    for file, lines in found.items():
        yield abspath(file), lines & _beginnings(file)


def _lines(code: CodeType) -> Iterator[int]:
    """The lines of a function's code and of the functions within it."""
    yield from (line for *_, line in code.co_lines() if line is not None)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _lines(inner)


def _beginnings(file: str) -> set[int]:
    """The lines on which statements begin."""
    found: set[int] = set()
    pending: list[syntax.Node] = [read_program(Path(file).read_bytes(), file)]
    while pending:
        at = pending.pop()
        if isinstance(at, syntax.Statement) and not isinstance(at, _WITHOUT_CODE):
            found.add(at.position.line)
        pending += children(at)
    return found


def _plugin(package: Any, lines: dict[str, set[int]]) -> Any:
    """Returns what tells coverage.py of ESQL; `lines` may be filled until it is asked for a report."""

    class Reporter(package.FileReporter):  # type: ignore[misc]  # a class of a package that may not be installed
        """The lines of one file."""

        def lines(self) -> set[int]:
            return lines.get(self.filename, set())

    class Tracer(package.FileTracer):  # type: ignore[misc]
        """A file that is its own source."""

        def __init__(self, file: str) -> None:
            self._file = file

        def source_filename(self) -> str:
            return self._file

    class Esql(package.CoveragePlugin):  # type: ignore[misc]
        """Takes files of ESQL."""

        def file_tracer(self, filename: str) -> Any:
            return Tracer(filename) if filename.endswith(ENDING) else None

        def file_reporter(self, filename: str) -> Any:
            return Reporter(filename)

    return Esql()
