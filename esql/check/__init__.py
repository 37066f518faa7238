"""Syntax -> problems: everything that can be said to be wrong with a program before it sees a message.

>>> from esql.read import read_statements
>>> from esql.scope import Library, resolve
>>> program = read_statements("SET OutputRot = InputRoot;", "Compute")
>>> [problem.text for problem in problems_of(resolve(program, "COMPUTE"), Library())]
['nothing called OutputRot is declared here; did you mean OutputRoot?']
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from engine.catalog import did_you_mean
from engine.errors import Problem
from esql import syntax
from esql.check import assignments, calls, control_flow, operators
from esql.check.findings import NAME_NUMBER, Finding, Pass
from esql.names.constants import constants
from esql.names.predefined import (
    AGGREGATES,
    CORRELATIONS,
    KIND_TITLES,
    PROPERTIES,
    BrokerProperty,
    SpecialName,
    callable_names,
    find_function,
    instead,
    predefined,
    predefined_names,
    special_names,
)
from esql.scope import Library, Missing, Resolution
from esql.scope.name_resolution import REMEMBERED
from esql.syntax import Position
from esql.text import ANY_NUMBER, problem_at


def unknown_names(found: Resolution) -> Iterator[Finding]:
    """Variables, correlation names, routines, labels, prefixes and element types that do not exist."""
    for index, missing in enumerate(found.missing):
        # looking for similar names takes long, and whoever has so many problems has others than spelling
        guess = did_you_mean if index < REMEMBERED else lambda name, known: ""
        text, number, word = _EXPLAIN[missing.what](missing, found, guess)
        yield Finding(missing.node, "name", text, number, word)


def duplicate_names(found: Resolution) -> Iterator[Finding]:
    """Names that one scope declares twice."""
    for twice in found.duplicates:
        if twice.what == "label":
            text = f"the label {twice.name} is already that of a block around this one: rename one of them"
            yield Finding(twice.node, "name", text)
        else:
            text = f"there is already a {twice.what} {twice.name} here: rename one of them"
            yield Finding(twice.node, "name", text, word=twice.name)


Explained = tuple[str, int, str]
Guess = Callable[[str, list[str]], str]


def _name(missing: Missing, found: Resolution, guess: Guess) -> Explained:
    name, kind = missing.name, missing.place.kind
    correlation = next((known for known in CORRELATIONS if known.lower() == name.lower()), None)
    if correlation is not None or name == "OutputBody":
        return _unavailable(correlation or name, kind), NAME_NUMBER, name
    if name.upper() == "SQL":
        return _property(missing, guess)
    if find_function(name) is not None:
        return f"{name.upper()} is a function: write its arguments in parentheses behind it", NAME_NUMBER, name
    hint = guess(name, [*(known.name for known in missing.place.scope.visible()), *predefined_names(kind)])
    advice = hint or "; declare it first"
    if not hint and name.isascii() and not name.isidentifier():
        advice += ", or write a text in single quotes"
    return f"nothing called {name} is declared here{advice}", NAME_NUMBER, name


def _property(missing: Missing, guess: Guess) -> Explained:
    node = missing.node
    name = getattr(node.steps[0].name, "text", "") if isinstance(node, syntax.Path) and node.steps else ""
    known = [*(item.name for item in PROPERTIES), *special_names()]
    advice = guess(name, known) if name else ""
    return f"SQL has no property {name or 'here'}{advice or ': write such as SQL.NodeName'}", NAME_NUMBER, name or "SQL"


def _unavailable(name: str, kind: str) -> str:
    title = KIND_TITLES.get(kind, "Compute")
    other = instead(name, kind or "COMPUTE")
    if other:
        return f"a {title} node has no {name}; use {other}"
    return f"a {title} node has no {name}, for it builds no output message; use Environment, or a Compute node"


def _element_type(missing: Missing, found: Resolution, guess: Guess) -> Explained:
    domain = getattr(missing.node, "root", "").upper()
    known = constants(domain)
    advice = guess(missing.name, list(known)) or f"; there are {', '.join(list(known)[:6])} ..."
    return f"{domain} has no element type {missing.name}{advice}", NAME_NUMBER, missing.name


def _prefix(missing: Missing, found: Resolution, guess: Guess) -> Explained:
    names = [item.name for item in missing.place.scope.visible() if item.type_name in ("NAMESPACE", "CHARACTER")]
    return _undeclared(missing, "namespace", "NAMESPACE '...'", guess(missing.name, names))


def _reference(missing: Missing, found: Resolution, guess: Guess) -> Explained:
    names = [item.name for item in missing.place.scope.visible() if item.is_reference]
    return _undeclared(missing, "reference variable", "REFERENCE TO ...", guess(missing.name, names))


def _undeclared(missing: Missing, what: str, type_: str, hint: str) -> Explained:
    advice = hint or f"; declare it: DECLARE {missing.name} {type_}"
    return f"no {what} is called {missing.name}{advice}", NAME_NUMBER, missing.name


def _label(missing: Missing, found: Resolution, guess: Guess) -> Explained:
    names, label = [], missing.place.label
    while label is not None:
        names.append(label.name)
        label = label.outer
    advice = guess(missing.name, names) or "; a label stands before the block, with a colon"
    return f"no block around this has the label {missing.name}{advice}", ANY_NUMBER, missing.name


def _routine(missing: Missing, found: Resolution, guess: Guess) -> Explained:
    name, node = missing.name, missing.node
    what = "procedure" if type(node).__name__ == "CallStatement" else "function"
    if missing.name.upper() in AGGREGATES:
        return f"{name.upper()} stands in the SELECT clause of a SELECT only, alone or with AS", ANY_NUMBER, name
    plain = predefined(name, "", exactly=False)
    if isinstance(plain, SpecialName | BrokerProperty):
        return f"{plain.name} is written without parentheses", ANY_NUMBER, name
    schema, _, last = name.rpartition(".")
    if schema:
        advice = guess(last, list(missing.known)) or "; declare it in a file of that schema"
        return f"the schema {schema} has no {what} called {last}{advice}", ANY_NUMBER, name
    advice = guess(name, [*callable_names(), *missing.known])
    return f"no {what} called {name}{advice or _where_to_declare(found)}", ANY_NUMBER, name


def _where_to_declare(found: Resolution) -> str:
    if found.absent:
        schemas = ", ".join(".".join(schema) for schema in found.absent)
        return f"; it may be in {schemas} of PATH: check the files of that schema along with this one"
    return "; declare it, or name its schema in PATH"


_EXPLAIN = {
    "name": _name,
    "element type": _element_type,
    "prefix": _prefix,
    "reference": _reference,
    "label": _label,
    "routine": _routine,
}


PASSES: tuple[Pass, ...] = (
    unknown_names,
    duplicate_names,
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
