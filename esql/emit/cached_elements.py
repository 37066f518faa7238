"""Memory: places of trees that a function looks up once and remembers, until a statement may have moved them.

A place is remembered in a local, which is None until it is found and again after every statement that may take it, or
anything above it, out of its tree, or renumber it. While a tree only grows its places stay valid; input trees never
change. Functions with handlers remember nothing: an error may end a statement half way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from engine.tree.step import Step
from esql import syntax
from esql.emit.emitted_code import EmitError, is_literal, literal
from esql.emit.function_body import Body
from esql.emit.path_steps import known_step
from esql.emit.variable_analysis import walk
from esql.names.predefined import Correlation
from esql.scope.deployed_routines import evaluates
from esql.scope.references import DeclaredRoutine, Variable
from esql.syntax.node import children

_READ_ONLY: Final = frozenset(("InputRoot", "Root", "InputExceptionList", "ExceptionList"))
_APART: Final = (syntax.Select, syntax.Quantified, syntax.Row)  # these become functions inside the function
_END: Final = "end"
# statements that move nothing themselves; those inside them are looked at for themselves
_MOVING_NOTHING: Final = (
    *(syntax.Declare, syntax.MoveTo, syntax.MoveBy, syntax.MoveRepeat, syntax.Log, syntax.Throw, syntax.Return),
    *(syntax.Empty, syntax.Leave, syntax.Iterate, syntax.If, syntax.CaseStatement, syntax.Compound, *syntax.LOOPS),
)


class Part(NamedTuple):
    """A step and its subscript: none, a number, or a variable."""

    step: Step
    place: int | Variable | None


Root: TypeAlias = str | Variable
Key: TypeAlias = tuple[Root, tuple[Part, ...]]


@dataclass(slots=True)
class _Use:
    """The use of a place: how often, and the paths that go on from it."""

    weight: int = 0
    onward: set[tuple[object, bool]] = field(default_factory=set)
    ends: int = 0


# The places that a function remembers, each with its local.
Memory: TypeAlias = dict[Key, str]


def key_of(body: Body, path: syntax.Path, steps: tuple[syntax.Step, ...]) -> Key | None:
    """Returns what identifies the place that the first steps of a path lead to; None where that is not known now."""
    root = _root(body, path)
    if root is None or path.index is not None or not steps:
        return None
    parts = []
    for node in steps:
        part = _part(body, node)
        if part is None:
            return None
        parts.append(part)
    return root, tuple(parts)


def _root(body: Body, path: syntax.Path) -> Root | None:
    match body.unit.resolution.of(path):
        case Correlation() as tree if tree.name != "Database":
            return tree.name if tree.name.endswith(("Body", "Properties")) else tree.tree
        case Variable() as variable if variable.type_name in {"REFERENCE", "ROW"} and body.is_local(variable):
            return variable
    return None


def _part(body: Body, node: syntax.Step) -> Part | None:
    if id(node) not in body.parts:
        body.parts[id(node)] = _part_of(body, node)
    part: Part | None = body.parts[id(node)]
    return part


def _part_of(body: Body, node: syntax.Step) -> Part | None:
    try:
        step = known_step(body, node)
    except EmitError:  # told where the path is emitted
        return None
    if step is None or step.name is None:
        return None
    match node.index:
        case None | syntax.IndexFromStart(None):
            return Part(step, None)
        case syntax.IndexAt(syntax.Integer(number)):
            return Part(step, number)
        case syntax.IndexAt(syntax.Path(steps=(), index=None) as name):
            variable = body.unit.resolution.variable(name)
            if variable is not None and variable.type_name == "INTEGER" and body.is_local(variable):
                return Part(step, variable)
    return None


def is_read_only(root: Root) -> bool:
    """Returns whether nothing changes a tree while a node works on a message."""
    return root in _READ_ONLY or root in {"Body", "InputBody", "Properties", "InputProperties"}


# What is worth remembering


def plan(body: Body, statements: Iterable[syntax.Statement]) -> Memory:
    """The places that a function uses more than once."""
    found = list(_walk(body, statements))
    memory: Memory = {}
    if any(isinstance(node, syntax.DeclareHandler) for node, _ in found):
        return memory
    calls = any(_is_call(body, node) for node, _ in found)
    evaluating = any(evaluates(node) for node, _ in found)
    changing = {variable for node, _ in found for variable in changed_variables(body, node)}
    uses: dict[Key, _Use] = {}
    targets = {id(node.target) for node, _ in found if isinstance(node, syntax.SetStatement)}
    for node, in_loop in found:
        if isinstance(node, syntax.Path):
            _count(body, node, in_loop, uses, changing, is_target=id(node) in targets)
    for key, use in uses.items():
        is_sure = not (_depends(key, body.given_by_calls) or (evaluating and _has_variables(key)))
        if is_sure and _is_worth(use) and (is_read_only(key[0]) or not calls):
            memory[key] = body.fresh("h")
    return memory


def _walk(body: Body, statements: Iterable[syntax.Node]) -> Iterator[tuple[syntax.Node, bool]]:
    """All syntax of a function, each with whether it is in a loop."""
    pending: list[tuple[syntax.Node, bool]] = [(node, False) for node in statements]
    while pending:
        node, in_loop = pending.pop()
        yield node, in_loop
        if isinstance(node, _APART):
            pending.extend((inner, in_loop) for inner in _calls_in(body, node))
            continue
        inside = in_loop or isinstance(node, syntax.LOOPS)
        pending.extend((inner, inside) for inner in children(node))


def _calls_in(body: Body, node: syntax.Node) -> list[syntax.Node]:
    """Calls in what becomes a function of its own, without their arguments."""
    return [syntax.Eval(syntax.Null()) for inner in walk(children(node)) if _is_call(body, inner)]


def _is_call(body: Body, node: syntax.Node) -> bool:
    """Returns whether an expression may change trees by what it calls."""
    is_routine = isinstance(node, syntax.Call) and isinstance(body.unit.resolution.of(node), DeclaredRoutine)
    return is_routine or evaluates(node)


def _has_variables(key: Key) -> bool:
    return any(isinstance(place, Variable) for place in (key[0], *(part.place for part in key[1])))


def _count(
    body: Body, path: syntax.Path, in_loop: bool, uses: dict[Key, _Use], changing: set[Variable], *, is_target: bool
) -> None:
    for length in range(1, len(path.steps) + 1):
        key = key_of(body, path, path.steps[:length])
        if key is None:
            break
        use = uses.setdefault(key, _Use())
        turns = in_loop and not any(part.place in changing for part in key[1]) and key[0] not in changing
        use.weight += 2 if turns else 1
        if length < len(path.steps):
            following = path.steps[length]
            part = _part(body, following)
            moves = part is None or isinstance(part.place, Variable)
            use.onward.add((part or id(following), moves))
        elif not is_target:
            use.onward.add((_END, False))
            use.ends += 2 if turns else 1


def _is_worth(use: _Use) -> bool:
    if use.weight < 2:
        return False
    return len(use.onward) > 1 or use.ends > 1 or any(moves for _, moves in use.onward)


# What a statement may move


def changed_variables(body: Body, node: syntax.Node) -> set[Variable]:
    """The variables that a statement gives something new."""
    of = body.unit.resolution
    found: list[Variable | None] = []
    match node:
        case syntax.SetStatement(target) if not target.steps:
            found = [of.variable(target)]
        case syntax.Declare():
            found = [body.unit.named.get((id(node), name)) for name in node.names]
        case syntax.CallStatement():
            given = [one for one in (*node.arguments, node.target) if isinstance(one, syntax.Path)]
            found = [of.variable(one) for one in given if not one.steps]
        case syntax.CreateField():
            alias = of.of(node)
            found = [alias] if isinstance(alias, Variable) else []
        case syntax.MoveTo() | syntax.MoveBy() | syntax.MoveRepeat():
            found = [of.variable(node.reference)]
        case syntax.For():
            found = [body.unit.declared.get(id(node))]
    return {variable for variable in found if variable is not None}


def forgotten(body: Body, memory: Memory, node: syntax.Statement) -> list[str]:
    """The locals of places that a statement may have moved."""
    if not memory:
        return []
    variables = changed_variables(body, node)
    return [slot for key, slot in memory.items() if _depends(key, variables) or _moves(body, node, key)]


def _depends(key: Key, variables: Collection[Variable]) -> bool:
    return key[0] in variables or any(part.place in variables for part in key[1])


def _moves(body: Body, node: syntax.Statement, key: Key) -> bool:
    if is_read_only(key[0]):
        return False
    match node:
        case syntax.SetStatement(target, source, attribute):
            return _set_moves(body, target, source, attribute, key)
        case syntax.CreateField(placement=None | "LASTCHILD", type=None, name=None, source=None, identity=None):
            return False
        case syntax.CreateField(placement="LASTCHILD"):
            return False
    return not isinstance(node, _MOVING_NOTHING)


def _set_moves(body: Body, target: syntax.Path, source: syntax.Node, attribute: str | None, key: Key) -> bool:
    """Giving a field something may delete it or replace what is below it; what lies elsewhere stays where it is."""
    variable = body.unit.resolution.variable(target)
    if variable is not None and not target.steps and variable.type_name not in {"REFERENCE", "ROW", ""}:
        return False
    if attribute == "VALUE" or (attribute is None and is_literal(source) and literal(source) is not None):
        return False
    root = _root(body, target)
    if root is None or target.index is not None or root != key[0]:
        return isinstance(root, Variable) or root is None or isinstance(key[0], Variable)
    if attribute is not None:
        return True
    for node, part in zip(target.steps, key[1], strict=False):
        step = known_step(body, node)
        if step is not None and step.name is not None and step.name != part.step.name:
            return False
    return len(target.steps) <= len(key[1])
