"""Target: one reader or writer to be fuzzed, and all of them by name."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from random import Random

from tests.fuzz import targets


@dataclass(frozen=True, slots=True)
class Target:
    """What is fuzzed: `attempt` takes bytes and raises BrokerError or nothing; all else that it raises is a finding.

    `seeds` are inputs to begin with, `words` what mutations put in. `generate` makes an input from nothing, where that
    is more than bytes: a program, say. One that is `guided` is also fed by coverage; one in C has none to give.
    """

    name: str
    attempt: Callable[[bytes], object]
    seeds: Callable[[], Iterable[bytes]] = tuple
    words: tuple[bytes, ...] = ()
    generate: Callable[[Random], bytes] | None = None
    guided: bool = True


def all_targets() -> dict[str, Target]:
    """The targets of all modules, by name."""
    found: dict[str, Target] = {}
    for module in sorted(pkgutil.iter_modules(targets.__path__), key=lambda module: module.name):
        for target in import_module(f"{targets.__name__}.{module.name}").TARGETS:
            assert found.setdefault(target.name, target) is target, f"there are two targets called {target.name}"
    return found
