"""Properties of routines through all that they call: whether they propagate, evaluate text, or call themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from esql import syntax
from esql.scope.loop_changes import evaluates
from esql.scope.references import DeclaredRoutine, Resolution, Visit

Calls = dict[int, dict[int, DeclaredRoutine]]


@dataclass(frozen=True, slots=True)
class RoutineFacts:
    """A routine, its OUT and INOUT parameters by index, and what it may do itself or by its calls."""

    routine: DeclaredRoutine
    outputs: tuple[int, ...]
    may_propagate: bool
    may_evaluate: bool
    is_recursive: bool


def routine_facts(resolutions: Iterable[Resolution]) -> dict[int, RoutineFacts]:
    """Find the facts of all routines of some programs, by the identity of their syntax.

    Give the resolutions of all programs that call each other: what is called in one that is not given counts as doing
    nothing of the kind. Statements outside routines have no facts here; see `body_facts`.
    """
    routines: dict[int, DeclaredRoutine] = {}
    calls: Calls = {}
    propagating: set[int] = set()
    evaluating: set[int] = set()
    for resolution in resolutions:
        routines.update((id(routine.node), routine) for routine in resolution.routines)
        for visit in resolution.each(syntax.Propagate, syntax.Eval, syntax.Call, syntax.CallStatement):
            if visit.place.routine is not None:
                _note(visit, resolution, calls, (propagating, evaluating))
    may_propagate, may_evaluate = _callers(propagating, calls), _callers(evaluating, calls)
    recursive = _recursive(calls)
    return {
        key: RoutineFacts(routine, routine.outputs, key in may_propagate, key in may_evaluate, key in recursive)
        for key, routine in routines.items()
    }


def body_may_propagate(resolution: Resolution, facts: Mapping[int, RoutineFacts]) -> bool:
    """Say whether the statements of a node's property, outside its routines, may propagate."""
    for visit in resolution.each(syntax.Propagate, syntax.Eval, syntax.Call, syntax.CallStatement):
        called = facts.get(id(getattr(resolution.of(visit.node), "node", None)))
        if visit.place.routine is None and (
            isinstance(visit.node, syntax.Propagate) or evaluates(visit.node) or (called and called.may_propagate)
        ):
            return True
    return False


def _note(visit: Visit, resolution: Resolution, calls: Calls, doing: tuple[set[int], set[int]]) -> None:
    node, caller = visit.node, id(visit.place.routine.node) if visit.place.routine else 0
    propagating, evaluating = doing
    found = resolution.of(node)
    if isinstance(node, syntax.Propagate) or evaluates(node):  # the text of an EVAL may PROPAGATE
        propagating.add(caller)
    if isinstance(found, DeclaredRoutine):
        calls.setdefault(caller, {})[id(found.node)] = found
    elif evaluates(node):
        evaluating.add(caller)


def _callers(start: set[int], calls: Calls) -> set[int]:
    """Give some routines and all that call them, however indirectly."""
    callers = _reversed(calls)
    return _reached(start, lambda key: callers.get(key, []))


def _reached(start: Iterable[int], following: Callable[[int], Iterable[int]]) -> set[int]:
    found: set[int] = set()
    waiting = list(start)
    while waiting:
        key = waiting.pop()
        if key not in found:
            found.add(key)
            waiting.extend(following(key))
    return found


def _recursive(calls: Calls) -> set[int]:
    """Find the routines that can come to call themselves."""
    order = _finished(calls)
    callers = _reversed(calls)
    recursive: set[int] = set()
    seen: set[int] = set()
    for key in reversed(order):
        circle = _circle(key, callers, seen)
        seen |= circle
        if len(circle) > 1 or key in calls.get(key, ()):
            recursive |= circle
    return recursive


def _circle(key: int, callers: dict[int, list[int]], seen: set[int]) -> set[int]:
    """Give the routines that call this one and are called by it, without those that were seen before."""
    return _reached((key,), lambda at: [caller for caller in callers.get(at, ()) if caller not in seen]) - seen


def _finished(calls: Calls) -> list[int]:
    """List routines in the order in which a walk depth first leaves them."""
    order: list[int] = []
    entered: set[int] = set()
    for start in calls:
        waiting = [(start, False)]
        while waiting:
            key, left = waiting.pop()
            if left:
                order.append(key)
            elif key not in entered:
                entered.add(key)
                waiting.append((key, True))
                waiting.extend((called, False) for called in calls.get(key, ()))
    return order


def _reversed(calls: Calls) -> dict[int, list[int]]:
    callers: dict[int, list[int]] = {}
    for caller, called in calls.items():
        for key in called:
            callers.setdefault(key, []).append(caller)
    return callers
