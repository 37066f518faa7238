"""Checks of control flow: statements behind one that never goes on, functions that end without RETURN, handlers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

from engine.catalog import did_you_mean
from esql import syntax
from esql.check.findings import TERMINAL_NUMBER, Finding
from esql.names.predefined import TERMINALS
from esql.scope import DeclaredRoutine, Resolution


def _never_ending(found: Resolution) -> frozenset[int]:
    """Returns the statements of a program that never go on, by identity; what is inside one was visited after it."""
    left = frozenset(id(found.of(visit.node)) for visit in found.each(syntax.Leave))
    repeated = frozenset(id(found.of(visit.node)) for visit in found.each(syntax.Iterate))
    survey = _Survey(set(), left, repeated)
    for visit in reversed(found.sequence):
        node = visit.node
        if isinstance(node, syntax.Throw | syntax.Resignal):
            ends = not visit.place.continues
        else:
            ends = type(node) in _RULES and _RULES[type(node)](node, survey)
        if ends:
            survey.never.add(id(node))
    return frozenset(survey.never)


@dataclass(slots=True)
class _Survey:
    """The findings so far, and the blocks that LEAVE and ITERATE name."""

    never: set[int]
    left: frozenset[int]
    repeated: frozenset[int]


def _any_ends(statements: tuple[syntax.Statement, ...], never: Collection[int]) -> bool:
    """Returns whether a list of statements never goes on, and none of its EXIT handlers does."""
    handlers = [item for item in statements if isinstance(item, syntax.DeclareHandler) and item.kind == "EXIT"]
    if not all(id(handler.body) in never for handler in handlers):
        return False
    return any(id(statement) in never for statement in statements)


def _branches(node: syntax.If | syntax.CaseStatement, survey: _Survey) -> bool:
    if node.otherwise is None or not _any_ends(node.otherwise, survey.never):
        return False
    return all(_any_ends(branch.body, survey.never) for branch in node.branches)


_RULES: dict[type, Callable[[Any, _Survey], bool]] = {
    **dict.fromkeys((syntax.Return, syntax.Leave, syntax.Iterate), lambda node, survey: True),
    syntax.Compound: lambda node, survey: id(node) not in survey.left and _any_ends(node.body, survey.never),
    syntax.If: _branches,
    syntax.CaseStatement: _branches,
    syntax.Loop: lambda node, survey: id(node) not in survey.left,
    syntax.While: lambda node, survey: node.condition == syntax.Truth(value=True) and id(node) not in survey.left,
    syntax.Repeat: lambda node, survey: (
        id(node) not in survey.left | survey.repeated and _any_ends(node.body, survey.never)
    ),
}


_BODIES = (
    syntax.Compound, syntax.For, syntax.Loop, syntax.Repeat, syntax.While, syntax.IfBranch, syntax.CaseStatementBranch,
)  # fmt: skip
_STEPPING_ON = {
    syntax.Return: "RETURN",
    syntax.Leave: "LEAVE",
    syntax.Iterate: "ITERATE",
    syntax.Throw: "THROW",
    syntax.Resignal: "RESIGNAL",
    syntax.If: "every branch of the IF",
    syntax.CaseStatement: "every branch of the CASE",
    syntax.Compound: "the block",
}
_RAISING = (syntax.Throw, syntax.Resignal)
_DECLARING = (syntax.Empty, syntax.Routine, syntax.Declare, syntax.DeclareHandler)


def unreachable_statements(found: Resolution) -> Iterator[Finding]:
    """Statements behind one that never goes on."""
    never = _never_ending(found)
    for statements in _lists(found):
        ended: Any = None
        for statement in statements:
            if ended is not None and not isinstance(statement, _DECLARING):
                if isinstance(ended, _RAISING) and isinstance(statement, syntax.Return):
                    # many write a RETURN behind THROW, for every way shall have one
                    break
                text = (
                    f"this is never reached: {_STEPPING_ON[type(ended)]} before it never goes on; take one of them out"
                )
                yield Finding(statement, "flow", text, stops=False)
                break
            if ended is None and type(statement) in _STEPPING_ON and id(statement) in never:
                ended = statement


def _lists(found: Resolution) -> Iterator[tuple[syntax.Statement, ...]]:
    if found.kind:
        yield found.program.statements
    for visit in found.each(*_BODIES):
        body: tuple[syntax.Statement, ...] = visit.node.body  # type: ignore[attr-defined]  # each of _BODIES has one
        yield body
    for visit in found.each(syntax.If, syntax.CaseStatement):
        otherwise: tuple[syntax.Statement, ...] | None = visit.node.otherwise  # type: ignore[attr-defined]  # both have one
        yield otherwise or ()


def missing_returns(found: Resolution) -> Iterator[Finding]:
    """Functions that can end without a RETURN; Main of a node that is no Filter may."""
    never = _never_ending(found)
    for routine in found.routines:
        node = routine.node
        if node.returns is None or isinstance(node.body, syntax.External) or _may_fall_off(routine):
            continue
        if id(node.body) not in never:
            text = f"{node.name} can end without RETURN: put a RETURN with its value on every way to its END"
            yield Finding(node, "flow", text, word=node.name)
    body = [item for item in found.program.statements if not isinstance(item, syntax.Routine)]
    if found.kind == "FILTER" and not _any_ends(tuple(body), never):
        text = (
            "the text of a Filter node can end without RETURN: put a RETURN with its condition on every way to its end"
        )
        yield Finding(body[-1] if body else found.program, "flow", text)


def _may_fall_off(routine: DeclaredRoutine) -> bool:
    module = routine.module
    return module is not None and module.kind != "FILTER" and routine.node.name.lower() == "main"


def returned_values(found: Resolution) -> Iterator[Finding]:
    """RETURN with a value in a procedure, and without one in a function."""
    for node, place in found.placed(syntax.Return):
        routine = place.routine
        if routine is None:
            if node.result is None and place.kind == "FILTER":
                yield Finding(node, "flow", "the RETURN of a Filter node needs a condition behind it")
        elif routine.node.returns is None and node.result is not None:
            text = f"{routine.node.name} has no RETURNS clause: RETURN stands here without a value, or declare RETURNS"
            yield Finding(node, "flow", text)
        elif routine.node.returns is not None and node.result is None:
            expected = routine.node.returns.type.name
            yield Finding(node, "flow", f"{routine.node.name} returns {expected}: RETURN needs a value behind it")


def misplaced_handlers(found: Resolution) -> Iterator[Finding]:
    """Handlers behind other statements of their scope."""
    for statements in _lists(found):
        started = False
        for statement in statements:
            if isinstance(statement, syntax.DeclareHandler) and started:
                text = "a handler stands before all statements of its block but DECLARE: move it up"
                yield Finding(statement, "flow", text)
            started = started or not isinstance(statement, _DECLARING)


def resignals(found: Resolution) -> Iterator[Finding]:
    """RESIGNAL where no exception is being handled."""
    for node, place in found.placed(syntax.Resignal):
        if not place.in_handler:
            text = "RESIGNAL stands in a handler only; to raise an exception write THROW USER EXCEPTION"
            yield Finding(node, "flow", text)


def iterated_blocks(found: Resolution) -> Iterator[Finding]:
    """ITERATE with the label of a block that does not repeat."""
    for node in found.nodes(syntax.Iterate):
        if isinstance(found.of(node), syntax.Compound):
            label = node.label
            text = f"{label} is the label of a BEGIN, which does not repeat: write LEAVE {label}, or label a loop"
            yield Finding(node, "flow", text)


def propagation(found: Resolution) -> Iterator[Finding]:
    """PROPAGATE in a Filter node, and to terminals that do not exist, which fails only where it is carried out."""
    for node, place in found.placed(syntax.Propagate):
        if place.kind == "FILTER":
            yield Finding(node, "flow", "a Filter node cannot PROPAGATE: RETURN the condition, or use a Compute node")
        elif found.of(node) is None and isinstance(node.terminal, syntax.String):
            names = [terminal.name for terminal in TERMINALS]
            hint = did_you_mean(node.terminal.value, names) or f": there are {', '.join(names)}"
            text = f"there is no terminal '{node.terminal.value}'{hint}"
            yield Finding(node.terminal, "name", text, TERMINAL_NUMBER, stops=False)
        elif found.of(node) is None and _is_number(node.terminal):
            text = (
                "there is no terminal of that number: 0 is out, 1 to 4 are out1 to out4, -1 is failure, -2 is nowhere"
            )
            yield Finding(node.terminal or node, "name", text, TERMINAL_NUMBER, stops=False)


def _is_number(given: syntax.Expression | None) -> bool:
    inner = given.operand if isinstance(given, syntax.Unary) else given
    return isinstance(inner, syntax.Integer)
