"""Register: which function builds what a rule of the grammar has matched; filled while modules are imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Register(Generic[T]):
    """Functions by the class of the context that the generated parser makes for a rule."""

    __slots__ = ("_functions",)

    def __init__(self) -> None:
        self._functions: dict[type, T] = {}

    def enter(self, rule: type) -> Callable[[T], T]:
        """A decorator that enters a function under a rule."""

        def entered(function: T) -> T:
            self._functions[rule] = function
            return function

        return entered

    def __getitem__(self, rule: type) -> T:
        return self._functions[rule]
