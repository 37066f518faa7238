"""Results of cases as text for people, as JUnit's XML, and as data."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import PurePath
from typing import Any, Final
from xml.etree import ElementTree  # it only writes

from engine.errors import Problem
from engine.runtime.incidents import Reasons
from engine.testing.suite import Result
from engine.testing.verdict import Failure

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
    return "".join(c if c.isprintable() or c in " \t" else "\N{REPLACEMENT CHARACTER}" for c in text)
