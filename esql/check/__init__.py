"""Syntax -> problems: everything that can be said to be wrong with a program before it sees a message.

>>> from esql.read import read_statements
>>> from esql.scope import Library, resolve
>>> program = read_statements("SET OutputRot = InputRoot;", "Compute")
>>> [problem.text for problem in problems_of(resolve(program, "COMPUTE"), Library())]
['nothing called OutputRot is declared here; did you mean OutputRoot?']
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.errors import Problem
from esql.check import assignments, calls, control_flow, names, operators
from esql.scope import Library, Resolution
from esql.syntax import Position
from esql.text import problem_at

if TYPE_CHECKING:
    from esql.check.findings import Finding, Pass

PASSES: tuple[Pass, ...] = (
    names.unknown_names,
    names.duplicate_names,
    assignments.lifetimes,
    assignments.constants,
    assignments.bodies,
    calls.argument_counts,
    calls.argument_types,
    calls.output_arguments,
    calls.unused_values,
    calls.results,
    assignments.read_only_targets,
    assignments.references,
    assignments.reference_targets,
    assignments.fields_of_scalars,
    assignments.lists,
    assignments.assigned_values,
    calls.clauses,
    operators.operands,
    operators.conditions,
    operators.differences,
    operators.filter_results,
    operators.aggregates,
    operators.sources,
    control_flow.unreachable_statements,
    control_flow.missing_returns,
    control_flow.returned_values,
    control_flow.misplaced_handlers,
    control_flow.resignals,
    control_flow.iterated_blocks,
    control_flow.propagation,
)


def problems_of(found: Resolution, library: Library) -> tuple[Problem, ...]:
    """Returns all problems of a program, in the order of its text.

    The library holds the files that are deployed together, the program's own among them: from there come the name and
    the lines that problems show.
    """
    file = library.file(found.program)
    lines = file.lines()
    problems = [_placed(finding, file.name, lines) for run in PASSES for finding in run(found)]
    return tuple(sorted(dict.fromkeys(problems), key=lambda one: (one.line, one.column)))


def _placed(finding: Finding, name: str, lines: tuple[str, ...]) -> Problem:
    position = finding.node.position
    if finding.word:
        position = _word(position, finding.word, lines)
    line = lines[position.line - 1] if 0 < position.line <= len(lines) else ""
    found = problem_at(position, finding.text, name, line, finding.number, finding.kind)
    return found if finding.stops else replace(found, stops=False)


def _word(position: Position, word: str, lines: tuple[str, ...]) -> Position:
    """Narrow a position down to a word in it, if it is found in the text."""
    pattern = re.compile(
        rf'"{re.escape(word.replace(chr(34), chr(34) * 2))}"|(?<!\w){re.escape(word)}(?!\w)', re.IGNORECASE
    )
    for number in range(position.line, min(position.end_line, len(lines)) + 1):
        start = position.column - 1 if number == position.line else 0
        found = pattern.search(lines[number - 1], start) if number else None
        if found is not None:
            return Position(number, found.start() + 1, number, found.end() + 1)
    return position
