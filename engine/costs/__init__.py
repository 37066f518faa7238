"""The node-cost suite: its groups of benchmarks by name, and how they are measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from multiprocessing import get_context
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from engine.errors import BrokerError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from engine.costs.measuring import Benchmark, Measured

ResultT = TypeVar("ResultT")

SPARK: Final = "spark"


def _group(module: str, function: str = "benchmarks") -> Benchmark:
    """Returns the benchmarks of a module, which is imported when they are measured."""

    def benchmarks(**options: float) -> Iterator[Measured]:
        found: Benchmark = getattr(import_module(f"{__name__}.{module}"), function)
        return found(**options)

    return benchmarks


GROUPS: Final[Mapping[str, Benchmark]] = MappingProxyType(
    {
        "kernel": _group("kernel"),
        "hops": _group("kernel", "hops"),
        "esql": _group("esql"),
        "compute": _group("kernel", "whole_flow"),
        "budget": _group("kernel", "paying"),
        "queues": _group("queues"),
        "databases": _group("databases"),
        "parsers": _group("kernel", "parsers"),
        "broker": _group("broker"),
        SPARK: _group("spark"),
    }
)


def measure(group: str | None = None, **options: float) -> Iterator[Measured]:
    """Measures one group, or all that need neither minutes nor more than Python, and yields figures as they are taken.

    All of them are taken group by group, each in a new process: one in which much has run has less of the processor's
    caches for small programs, and the programs by hand are the smallest.
    """
    if group is not None:
        yield from (replace(figure, group=group) for figure in GROUPS[group](**options))
        return
    for name in GROUPS:
        if name != SPARK:
            yield from apart(_measured, name)


def _measured(group: str) -> list[Measured]:
    return list(measure(group))


def apart(work: Callable[..., ResultT], *arguments: object) -> ResultT:
    """Returns the result of work in a new process, which may start processes itself; raises where that is killed."""
    context = get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(there, work, arguments))
    process.start()
    there.close()  # so that the end of the process is seen
    try:
        result, error = here.recv()
    except EOFError:
        from engine.costs.measuring import BROKEN  # noqa: PLC0415 - what lists the groups imports none of them

        process.join()
        how = f"the process that measures has ended with {process.exitcode}"
        raise BrokerError(BROKEN, f"{how}: see what it says above, or give it more memory") from None
    except BaseException:
        process.terminate()
        raise
    finally:
        here.close()
        process.join()
    if error is not None:
        raise error
    return result  # type: ignore[no-any-return]  # what comes by a pipe has no type


def _answer(there: Connection, work: Callable[..., Any], arguments: tuple[object, ...]) -> None:
    try:
        answer: tuple[Any, BrokerError | None] = (work(*arguments), None)
    except BrokerError as error:
        answer = (None, error)
    there.send(answer)
