"""Checks of calls and clauses: how many arguments, of which types, and what becomes of the value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from esql import syntax
from esql.check.findings import Finding, a, unaccepted
from esql.functions import Function
from esql.scope import DeclaredRoutine, Resolution
from esql.scope.types import can_assign
from esql.values.types import NUMBERS

_CALLS = (syntax.Call, syntax.CallStatement)
AnyCall = syntax.Call | syntax.CallStatement


def _each(found: Resolution) -> Iterator[tuple[AnyCall, DeclaredRoutine | Function]]:
    for visit in found.each(*_CALLS):
        node, called = visit.node, found.of(visit.node)
        if isinstance(node, AnyCall) and isinstance(called, DeclaredRoutine | Function):
            yield node, called


def argument_counts(found: Resolution) -> Iterator[Finding]:
    """Calls with too few or too many arguments."""
    for node, called in _each(found):
        count = len(node.arguments)
        if isinstance(called, Function):
            if not called.accepts(count):
                yield Finding(node, "type", f"{called.name} takes {_wanted(called)}, not {count}", word=node.name[-1])
        elif count != _declared_count(called):
            wanted = _arguments(_declared_count(called))
            names = [parameter.name for parameter in called.node.parameters]
            names += ["a result set"] * (called.node.result_sets or 0)
            signature = f" ({', '.join(names)})" if names else ""
            text = f"{called.node.name} takes {wanted}{signature}, not {count}"
            yield Finding(node, "type", text, word=node.name[-1])


def _declared_count(called: DeclaredRoutine) -> int:
    return len(called.node.parameters) + (called.node.result_sets or 0)


def _wanted(called: Function) -> str:
    least, most = called.fewest, called.most
    if most is None:
        return f"at least {_arguments(least)}"
    if least == most:
        return _arguments(least)
    return f"{least} to {_arguments(most)}" if least else f"at most {_arguments(most)}"


def _arguments(count: int) -> str:
    return {0: "no arguments", 1: "1 argument"}.get(count, f"{count} arguments")


def argument_types(found: Resolution) -> Iterator[Finding]:
    """Arguments of a type that the routine or function does not take."""
    for node, called in _each(found):
        if isinstance(called, Function):
            if called.places and called.accepts(len(node.arguments)):
                yield from _function_arguments(node, called, found)
            continue
        for argument, parameter in zip(node.arguments, called.node.parameters, strict=False):
            yield from _routine_argument(argument, parameter, called.node.name, found)
        for argument in node.arguments[len(called.node.parameters) : _declared_count(called)]:
            if found.type_of(argument) != "LIST":
                text = f"{called.node.name} gives a result set here: pass it a field with []"
                yield Finding(argument, "type", text)


def _function_arguments(node: AnyCall, called: Function, found: Resolution) -> Iterator[Finding]:
    for index, argument in enumerate(node.arguments):
        accepted, given = called.place(index).types, found.type_of(argument)
        if not given or "REFERENCE" in accepted:
            continue
        text = _unaccepted(accepted, given, argument)
        if text:
            yield Finding(argument, "type", f"{called.name} takes {text}")


def _unaccepted(accepted: frozenset[str], given: str, argument: syntax.Expression) -> str:
    """Say what is wrong with an argument of a known type, nothing when it is fine."""
    if "FIELD" in accepted:
        is_tree = isinstance(argument, syntax.Path) and given == "ROW"
        return "" if is_tree else f"a field reference here, and this is {a(given)}"
    if "LIST" in accepted:
        fits = given in ("LIST", "ROW") or isinstance(argument, syntax.Select)  # an aggregate is a list of one
        return "" if fits else f"a list here, and this is {a(given)}: end a field reference with []"
    if not accepted:
        return (
            "one value here, and this is a LIST: take one element of it by THE or an index" if given == "LIST" else ""
        )
    if given in accepted:
        return ""
    return unaccepted(accepted, given)


def results(found: Resolution) -> Iterator[Finding]:
    """Values that what stands behind INTO cannot hold."""
    for node, called in _each(found):
        if not isinstance(called, DeclaredRoutine) or not isinstance(node, syntax.CallStatement):
            continue
        if node.target is None or called.node.returns is None:
            continue
        expected, given = found.type_of(node.target), called.node.returns.type.name
        if given != "REFERENCE" and not can_assign(given, expected):
            text = f"{called.node.name} returns {a(given)}, which {node.target.root} cannot hold: it is {a(expected)}"
            yield Finding(node.target, "type", text)


def _routine_argument(
    argument: syntax.Expression, parameter: syntax.Parameter, name: str, found: Resolution
) -> Iterator[Finding]:
    given = found.type_of(argument)
    expected = "CHARACTER" if parameter.type.name in ("NAMESPACE", "NAME") else parameter.type.name
    if expected == "REFERENCE":
        is_field = isinstance(argument, syntax.Path) and given in ("", "ROW")
        if not is_field and not isinstance(argument, syntax.Null):
            what = a(given) if given else "a value"
            text = f"{parameter.name} of {name} is a REFERENCE: pass it a field or a reference variable, not {what}"
            yield Finding(argument, "type", text)
        return
    goes_in = parameter.direction != "OUT"
    comes_out = parameter.direction in ("OUT", "INOUT")
    if given == "LIST" or (goes_in and not can_assign(given, expected)):
        yield Finding(argument, "type", f"{parameter.name} of {name} is {a(expected)}, and this is {a(given)}")
    elif comes_out and isinstance(argument, syntax.Path) and not can_assign(expected, given):
        text = f"{parameter.name} of {name} gives {a(expected)}, which {argument.root} cannot hold: it is {a(given)}"
        yield Finding(argument, "type", text)


def output_arguments(found: Resolution) -> Iterator[Finding]:
    """Arguments for OUT and INOUT parameters that nothing can be assigned to."""
    for node, called in _each(found):
        if not isinstance(called, DeclaredRoutine):
            continue
        for index in called.outputs:
            if index < len(node.arguments) and not isinstance(node.arguments[index], syntax.Path):
                parameter = called.node.parameters[index]
                text = f"{parameter.name} of {called.node.name} is {parameter.direction}: pass it a variable or a field"
                yield Finding(node.arguments[index], "type", text)


def unused_values(found: Resolution) -> Iterator[Finding]:
    """CALL of a function that drops its value, and use of a value that a procedure does not give."""
    for node, called in _each(found):
        has_value = isinstance(called, Function) or called.node.returns is not None
        name = called.name if isinstance(called, Function) else called.node.name
        is_action = isinstance(called, Function) and called.written.action
        into = node.target if isinstance(node, syntax.CallStatement) else None
        text = ""
        if isinstance(node, syntax.Call) and not has_value:
            text = f"{name} returns nothing that could be used here: CALL it, or declare RETURNS"
        elif isinstance(node, syntax.CallStatement) and has_value and into is None and not is_action:
            text = f"the value of {name} must be used: CALL {name}(...) INTO a variable, or SET a variable to it"
        elif into is not None and not has_value:
            text = f"{name} returns nothing to put INTO {into.root}: take INTO out, or declare RETURNS"
        if text:
            yield Finding(node, "flow", text, word=node.name[-1])


_TEXT = frozenset(("CHARACTER",))
_TEXT_OR_NUMBER = _TEXT | NUMBERS
ANY: frozenset[str] = frozenset()
_RAISED = {"severity": NUMBERS, "catalog": _TEXT, "message": _TEXT_OR_NUMBER, "values": ANY}
# field of the syntax -> the types it may have; ANY is any single value
_CLAUSES: dict[type, dict[str, frozenset[str]]] = {
    syntax.CreateField: {"domain": _TEXT, "type": NUMBERS, "namespace": _TEXT, "name": _TEXT, "value": ANY},
    syntax.MoveBy: {"type": NUMBERS, "namespace": _TEXT, "name": _TEXT},
    syntax.Throw: _RAISED,
    syntax.Log: _RAISED,
    syntax.Propagate: {"terminal": _TEXT_OR_NUMBER, "label": _TEXT},
    syntax.Eval: {"text": ANY},
    syntax.Passthru: {"sql": _TEXT},
    syntax.PassthruCall: {"sql": _TEXT},
    syntax.Insert: {"values": ANY},
    syntax.ColumnChange: {"source": ANY},
    syntax.Parse: {"bits": frozenset(("BLOB", "BIT", "CHARACTER"))},
    syntax.Cast: {"ccsid": NUMBERS, "encoding": NUMBERS, "format": _TEXT, "default": ANY},
    syntax.BitstreamClauses: {
        "options": NUMBERS,
        "encoding": NUMBERS,
        "ccsid": NUMBERS,
        "set": _TEXT,
        "type": _TEXT,
        "format": _TEXT,
    },
}
_WORDS = {"values": "VALUES", "source": "SET", "sql": "PASSTHRU", "text": "EVAL", "bits": "PARSE"}


def clauses(found: Resolution) -> Iterator[Finding]:
    """Values behind the words of a statement or function that are of a type it does not take."""
    for kind, accepted in _CLAUSES.items():
        for visit in found.each(kind):
            for name, types in accepted.items():
                given = getattr(visit.node, name)
                for value in given if isinstance(given, tuple) else (given,):
                    yield from _clause(value, types, _WORDS.get(name, name.upper()), found)


def _clause(value: Any, types: frozenset[str], word: str, found: Resolution) -> Iterator[Finding]:
    given = found.type_of(value)
    if not given or given in types or (types == ANY and given != "LIST"):
        return
    if given == "LIST":
        text = f"{word} takes one value here, and this is a LIST: take one element of it by THE or an index"
    else:
        text = f"{word} takes {unaccepted(types, given)}"
    yield Finding(value, "type", text)
