"""CAST: every value to every type that the manual allows, explicit with its clauses or implicit in assignments."""

from __future__ import annotations

from typing import Final

from engine.dates.patterns import BEYOND, FORM, MomentError
from engine.errors import BrokerError, ConversionException
from esql.cast.conversions import CASTS, many_to_one
from esql.cast.request import PLAIN, Clauses, Job, Target
from esql.runtime.invocation import Invocation
from esql.values.errors import CAST, DATETIME_RANGE, FORMAT_OF_DATETIME, NUMERIC_ARGUMENT, ValueFailure, wrong_types
from esql.values.literal_contents import UnreadableError
from esql.values.literals import shown
from esql.values.types import Value, type_of

__all__ = ["FAILED", "PLAIN", "Clauses", "Target", "assign", "attempted_cast", "cast", "convert", "default_of_cast"]

FAILED: Final = object()
_MOMENT_STATES: Final = {FORM: FORMAT_OF_DATETIME, BEYOND: DATETIME_RANGE}


def convert(value: Value, job: Job) -> Value:
    """One value in the type that a job asks for.

    >>> from datetime import date
    >>> convert("DATE '2002-10-05'", Job(Target("DATE")))
    datetime.date(2002, 10, 5)
    """
    kind = type_of(value)
    step = CASTS.get((kind, job.target.name))
    if step is None:
        raise job.failure(value, "there is no such cast")
    try:
        return step(value, job)
    except UnreadableError as error:
        raise job.failure(value, error.why, error.sqlstate) from ConversionException(CAST, error.why, shown(value))
    except MomentError as error:
        raise _moment_failure(error, value, job) from error


def _moment_failure(error: MomentError, value: Value, job: Job) -> BrokerError:
    sqlstate = _MOMENT_STATES.get(error.kind)
    if sqlstate is None:
        return ValueFailure(2597, NUMERIC_ARGUMENT, error.why, job.clauses.format or "")
    return job.failure(value, error.why, sqlstate)


def cast(values: tuple[Value, ...], target: Target, here: Invocation, clauses: Clauses = PLAIN) -> Value:
    """`CAST(values AS target …)`: NULL in, NULL out.

    >>> cast(("12",), Target("INTEGER"), Invocation())
    12
    """
    if None in values:
        return None
    if clauses is not PLAIN:
        _check(clauses)
    job = Job(target, clauses, here)
    return convert(values[0], job) if len(values) == 1 else many_to_one(values, job)


def attempted_cast(values: tuple[Value, ...], target: Target, here: Invocation, clauses: Clauses) -> Value:
    """A cast with a DEFAULT: FAILED where that is asked for, which no clause of a wrong type is."""
    if None in values:
        return None
    _check(clauses)
    try:
        return cast(values, target, here, clauses)
    except BrokerError:
        return FAILED


def default_of_cast(value: Value, target: Target) -> Value:
    """The DEFAULT of a cast, which is of the type of its target.

    >>> default_of_cast(0, Target("INTEGER"))
    0
    """
    if value is not None and type_of(value) != target.name:
        raise wrong_types(f"CAST AS {target} DEFAULT", type_of(value))
    return value


def _check(clauses: Clauses) -> None:
    for word, given, kind in (
        ("CCSID", clauses.ccsid, int),
        ("ENCODING", clauses.encoding, int),
        ("FORMAT", clauses.format, str),
    ):
        if given is not None and type(given) is not kind:
            raise wrong_types(f"CAST … {word}", type_of(given))


def assign(value: Value, target: Target, here: Invocation) -> Value:
    """A value as a variable of a type holds it.

    >>> assign("12", Target("INTEGER"), Invocation()), assign(None, Target("INTEGER"), Invocation())
    (12, None)
    """
    if value is None:
        return None
    if type_of(value) == target.name and target.name != "INTERVAL":
        return value
    return convert(value, Job(target, PLAIN, here))
