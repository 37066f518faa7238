"""Calls that a traced program makes to the user trace: statements, values of expressions, assignments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engine.errors import BrokerError
from engine.tree.element import Element
from esql.values.literals import shown

if TYPE_CHECKING:
    from esql.runtime.activation import Activation

EXECUTING: Final = 2537
EVALUATING: Final = 2538
RESOLVED: Final = 2539
EVALUATED: Final = 2540
ASSIGNED: Final = 2566
DELETED: Final = 2567
COPIED: Final = 2568
_LONGEST: Final = 1000  # characters of a value that are written
_MOST: Final = 10_000  # values that are remembered for the expressions that they are part of


class Started(NamedTuple):
    """An expression whose evaluation has been announced."""

    here: Activation
    place: str
    text: str


def trace_statement(here: Activation, place: str, text: str) -> None:
    """A statement is about to run."""
    _tell(here, EXECUTING, f"Executing statement   ''{text}'' at {place}.")


def trace_value(here: Activation, place: str, text: str, parts: tuple[str, ...], operator: str, value: Any) -> Any:
    """A field, a variable, or an operation on values has come to a value; its operands have told theirs before."""
    told = getattr(here, "told", {})
    resolved = f" {operator} ".join(told.get(part, part) for part in parts) if parts else text
    said = _said(value)
    _remember(here, text, said)
    where = f"Evaluating expression ''{text}'' at {place}."
    _tell(here, RESOLVED, f"{where} This resolved to ''{resolved}''. The result was ''{said}''.")
    return value


def trace_started(here: Activation, place: str, text: str) -> Started:
    """A function or the like is about to be evaluated."""
    _tell(here, EVALUATING, f"Evaluating expression ''{text}'' at {place}.")
    return Started(here, place, text)


def trace_finished(started: Started, value: Any) -> Any:
    """Returns what has been started has come to a value."""
    here, place, text = started
    said = _said(value)
    _remember(here, text, said)
    _tell(here, EVALUATED, f"Finished evaluating expression ''{text}'' at {place}. The result was ''{said}''.")
    return value


def trace_stored(here: Activation, target: str, value: Any) -> Any:
    """A variable is given a value."""
    _tell(here, ASSIGNED, f"Assigning value ''{_said(value)}'' to field / variable ''{target}''.")
    return value


def trace_given(here: Activation, target: str, value: Any) -> Any:
    """A field is given a value, or deleted by NULL."""
    if value is None:
        _tell(here, DELETED, f"Assigning NULL to ''{target}'', thus deleting it.")
        return None
    return trace_stored(here, target, value)


def trace_copied(here: Activation, source: str, target: str, found: Any) -> Any:
    """A field is given what another is, with what is below it; of one that only has a value, that is told."""
    said = _leaf(found) if isinstance(found, Element) else None
    if found is None or said is not None:
        trace_given(here, target, said)
    else:
        _tell(here, COPIED, f"Performing tree copy of ''{source}'' to ''{target}''.")
    return found


def _leaf(found: Element) -> Any:
    """The value of a field that has one; None for a tree, and where it cannot be read."""
    if found.parent is None or found.parent.parent is None:  # a tree, or the top of a body that nobody has read yet
        return None
    try:
        return found.value
    except BrokerError:
        return None


def _remember(here: Activation, text: str, said: str) -> None:
    told = getattr(here, "told", None)
    if told is None or len(told) >= _MOST:
        told = here.told = {}
    told[text] = said


def _said(value: Any) -> str:
    """A value as the user trace shows it, cut where it is long."""
    text = f"{value.name} ..." if isinstance(value, Element) else shown(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _tell(here: Activation, number: int, text: str) -> None:
    around = here.around
    flow, node = around.properties.get("MessageFlowName"), around.properties.get("NodeLabel")
    around.trace(number, f"Node '{flow}.{node}': {text}")
