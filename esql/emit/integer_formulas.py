"""Arithmetic of INTEGERs as plain Python: formulas, with one test of the operands and one of each result's range.

The size of a variable that is set outside loops alone and used inside is looked at once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from esql import syntax
from esql.emit.emitted_code import INTEGER, Value
from esql.emit.python_nodes import (
    all_evaluated,
    assign,
    call,
    choose,
    compare,
    constant,
    every,
    is_some,
    name,
    some,
    walrus,
    when,
)
from esql.emit.variable_analysis import given, walk
from esql.values.types import INTEGER_HIGH, INTEGER_LOW

if TYPE_CHECKING:
    from esql.emit.function_body import Body
    from esql.scope.references import Variable


SMALL: Final = 2**30 - 1  # what Python keeps in one digit, and so compares fastest
_ARITHMETIC: Final = frozenset(("+", "-", "*"))


def settled(body: Body, nodes: Sequence[syntax.Node]) -> frozenset[Variable]:
    """The variables; a function with handlers has none, for a handler may go on behind what gave one something."""
    if any(isinstance(node, syntax.DeclareHandler | syntax.Eval) for node in nodes):
        return frozenset()
    looped = [node for loop in nodes if isinstance(loop, syntax.LOOPS) for node in walk([loop])]
    changing = {variable for node in looped for variable, _ in given(body, node)}
    changing |= {
        variable
        for node in nodes
        if not isinstance(node, syntax.Declare | syntax.SetStatement)
        for variable, _ in given(body, node)
    }
    used = {
        body.unit.resolution.variable(operand)
        for node in looped
        if isinstance(node, syntax.Operation) and node.operator in _ARITHMETIC
        for operand in node.operands
        if isinstance(operand, syntax.Path) and not operand.steps
    }
    return frozenset(
        variable
        for variable in used
        if variable is not None
        and variable not in changing
        and variable.type_name == INTEGER
        and variable.role in {"local", "text"}
        and body.is_local(variable)
    )


def looked_at(slot: str, value: ast.expr) -> ast.expr:
    """A local is given a value: whether that is there and small."""
    some = is_some(walrus(slot, value))
    high = compare(name(slot), ast.Lt(), constant(SMALL))
    return every([some, high, compare(name(slot), ast.Gt(), constant(-SMALL))])


_OPERATORS: Final[Mapping[str, tuple[ast.operator, str]]] = {
    "+": (ast.Add(), "add"),
    "-": (ast.Sub(), "subtract"),
    "*": (ast.Mult(), "multiply"),
}


@dataclass(frozen=True, slots=True)
class Formula:
    """`left operator right`, each a formula or the value that is an operand."""

    operator: str
    left: Formula | Value
    right: Formula | Value
    size: int


def formula_of(body: Body, operator: str, left: Value, right: Value) -> Value | None:
    """The sum, difference or product of two INTEGERs; None where the operands are not known to be such."""
    if operator not in _OPERATORS or left.type != INTEGER or right.type != INTEGER:
        return None
    one, other = _part(left), _part(right)
    if isinstance(one, Formula) and not all(operand.simple for operand in _operands(other)):
        one = left  # an operand, so that its error comes before those of the other's operands
    size = 1 + sum(part.size if isinstance(part, Formula) else 0 for part in (one, other))
    if size > 12:  # what has been gathered so far becomes an operand
        one, other, size = left, right, 1
    whole = Formula(operator, one, other, size)
    nullable = left.nullable or right.nullable
    return Value(None, INTEGER, nullable=nullable, formula=whole, make=lambda: _written(body, whole))


def given_to(body: Body, target: str, formula: Formula) -> list[ast.stmt] | None:
    """Statements that work out a formula into a local; None where an operand is that local, takes work or may be NULL.

    The local holds what does not fit an INTEGER until the operators have refused that, so nothing may look at it then.
    """
    if (quick := _of_small(formula)) is not None:
        test, plain = quick
        return [when(test, [assign(target, plain)], [assign(target, _of_any(body, formula))])]
    operands = list(_operands(formula))
    if not all(one.simple and not one.nullable for one in operands):
        return None
    if any(isinstance(one.code, ast.Name) and one.code.id == target for one in operands):
        return None
    names: list[str] = []
    ready = _bind(body, formula, [], {})
    made = _worked_out(body, ready, names)
    names[-1] = made[-1].targets[0].id = target  # type: ignore[attr-defined]  # the last is the formula itself
    large: list[ast.expr] = []
    for held in names:
        large += [compare(name(held), ast.GtE(), constant(SMALL)), compare(name(held), ast.LtE(), constant(-SMALL))]
    fits: list[ast.expr] = []
    fitting = _steps(body, ready, fits)
    return [*made, when(some(large), [assign(target, choose(every(fits), fitting, _slow(ready)))])]


def _operands(part: Formula | Value) -> Iterator[Value]:
    if isinstance(part, Formula):
        yield from _operands(part.left)
        yield from _operands(part.right)
    else:
        yield part


def _worked_out(body: Body, part: Formula | ast.expr, names: list[str]) -> list[ast.Assign]:
    """A statement for each result of a formula, with the names that they are given."""
    if not isinstance(part, Formula):
        return []
    made, sides = [], []
    for side in (part.left, part.right):
        made += _worked_out(body, side, names)  # type: ignore[arg-type]  # operands are Python now
        sides.append(name(names[-1]) if isinstance(side, Formula) else side)
    names.append(body.fresh())
    made.append(assign(names[-1], ast.BinOp(sides[0], _OPERATORS[part.operator][0], sides[1])))  # type: ignore[arg-type]
    return made


def _part(value: Value) -> Formula | Value:
    return value.formula if isinstance(value.formula, Formula) else value


def _written(body: Body, formula: Formula) -> ast.expr:
    quick = _of_small(formula)
    return _of_any(body, formula) if quick is None else choose(quick[0], quick[1], _of_any(body, formula))


def _of_small(formula: Formula) -> tuple[ast.expr, ast.expr] | None:
    """A formula whose results all fit an INTEGER while its operands are small: whether they are, and what it is then.

    None where that is not so, or where no local says of an operand whether it is small.
    """
    operands = list(_operands(formula))
    flags = list(dict.fromkeys(operand.small for operand in operands if operand.small))
    if not flags or _most(formula) is None:
        return None
    return every([name(flag) for flag in flags]), _plain(formula)


def _most(part: Formula | Value) -> int | None:
    """The largest magnitude of what a formula may come to; None where something in it may be no INTEGER then."""
    if isinstance(part, Formula):
        left, right = _most(part.left), _most(part.right)
        if left is None or right is None:
            return None
        most = left * right if part.operator == "*" else left + right
        return most if most <= INTEGER_HIGH else None
    if part.small:
        return SMALL
    code = part.code if part.simple else None
    return abs(code.value) if isinstance(code, ast.Constant) and type(code.value) is int else None


def _plain(part: Formula | Value) -> ast.expr:
    if not isinstance(part, Formula):
        return part.code
    return ast.BinOp(_plain(part.left), _OPERATORS[part.operator][0], _plain(part.right))


def _of_any(body: Body, formula: Formula) -> ast.expr:
    """Fastest where all operands are there and all results are small; the operators themselves see to all else."""
    first: list[ast.expr] = []
    tests: dict[str, ast.expr] = {}
    ready = _bind(body, formula, first, tests)
    names: list[str] = []
    whole = _nested(body, ready, names)
    small = _are_small(whole, names)
    again = [is_some(name(test.left.target.id)) for test in first]  # type: ignore[attr-defined]  # of a walrus
    fits: list[ast.expr] = []
    fitting = _steps(body, ready, fits)
    otherwise = choose(every([*again, *tests.values(), *fits]), fitting, _slow(ready))
    return choose(every([*all_evaluated(first, ast.BitAnd()), *tests.values(), *small]), name(names[-1]), otherwise)


def _bind(body: Body, part: Formula | Value, first: list[ast.expr], tests: dict[str, ast.expr]) -> Formula | ast.expr:
    """Operands that take work are evaluated first, all of them and in order: an error in one is never passed over."""
    if isinstance(part, Formula):
        left = _bind(body, part.left, first, tests)
        right = _bind(body, part.right, first, tests)
        return Formula(part.operator, left, right, 0)  # type: ignore[arg-type]  # operands are Python now
    code = part.code
    if part.simple:
        if part.nullable:
            tests.setdefault(ast.dump(code), is_some(code))
        return code
    held = body.fresh()
    first.append(is_some(walrus(held, code)))
    return name(held)


def _nested(body: Body, part: Formula | ast.expr, names: list[str]) -> ast.expr:
    """The formula as one expression that keeps each result under a name."""
    if not isinstance(part, Formula):
        return part
    left, right = _nested(body, part.left, names), _nested(body, part.right, names)  # type: ignore[arg-type]
    names.append(body.fresh())
    return walrus(names[-1], ast.BinOp(left, _OPERATORS[part.operator][0], right))


def _are_small(whole: ast.expr, names: list[str]) -> list[ast.expr]:
    """Python compares what fits one of its digits much faster, and two comparisons faster than a chain of them."""
    results = [whole, *(name(held) for held in names[:-1])]
    lasts = [names[-1], *names[:-1]]
    return [
        test
        for result, held in zip(results, lasts, strict=True)
        for test in (compare(result, ast.Lt(), constant(SMALL)), compare(name(held), ast.Gt(), constant(-SMALL)))
    ]


def _steps(body: Body, part: Formula | ast.expr, checks: list[ast.expr]) -> ast.expr:
    if not isinstance(part, Formula):
        return part
    left, right = _steps(body, part.left, checks), _steps(body, part.right, checks)  # type: ignore[arg-type]
    held = body.fresh()
    result = walrus(held, ast.BinOp(left, _OPERATORS[part.operator][0], right))
    low, high = constant(INTEGER_LOW), constant(INTEGER_HIGH)
    checks.append(ast.Compare(low, [ast.LtE(), ast.LtE()], [result, high]))
    return name(held)


def _slow(part: Formula | ast.expr) -> ast.expr:
    if not isinstance(part, Formula):
        return part
    return call(_OPERATORS[part.operator][1], _slow(part.left), _slow(part.right))  # type: ignore[arg-type]
