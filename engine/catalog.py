"""Catalogues: things found by name, which register themselves by decorator; the only discovery code."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from engine.errors import ConfigurationException

T = TypeVar("T")
Named = TypeVar("Named")


class Catalog(Generic[T]):
    """The things of one kind, by name; the package that holds them is imported when a name is first asked for.

    >>> colours = Catalog("colour", package="")
    >>> _ = colours.register("red")(0xFF0000)
    >>> colours.find("red") == 0xFF0000
    True
    >>> colours.suggest("redd")
    '; did you mean red?'
    """

    def __init__(self, kind: str, package: str) -> None:
        self.kind = kind
        self._package = package
        self._entries: dict[str, T] = {}
        self._failure: ConfigurationException | None = None
        self.get: Callable[[str], T | None] = self._loaded_first  # the thing of a name, or None

    def register(self, *names: str) -> Callable[[Named], Named]:
        """A decorator that puts what it decorates into the catalogue under these names."""

        def enter(thing: Named) -> Named:
            for name in names:
                known = self._entries.get(name)
                if known is not None and known is not thing:
                    raise ConfigurationException(f"there are two {self.kind}s called {name}: rename one of them")
                self._entries[name] = thing  # type: ignore[assignment]  # a decorator is typed by what it decorates
            return thing

        return enter

    def _loaded_first(self, name: str) -> T | None:
        """Imports the package and answers; from then on `get` asks the entries alone."""
        self._load()
        self.get = self._entries.get
        return self.get(name)

    def find(self, name: str) -> T:
        """The thing of that name; an unknown name raises an error that suggests a close one."""
        found = self.get(name)
        if found is None:
            raise ConfigurationException(f"no {self.kind} called {name}{self.suggest(name)}")
        return found

    def suggest(self, name: str) -> str:
        """A phrase to end an error with: the closest known name, or nothing where none is close."""
        return did_you_mean(name, self)

    def __iter__(self) -> Iterator[str]:
        """All names, sorted."""
        self._load()
        return iter(sorted(self._entries))

    def _load(self) -> None:
        if self._failure is not None:
            raise self._failure
        package = self._package
        if not package:
            return
        name = package
        try:
            for module in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
                name = module.name
                importlib.import_module(name)
        except Exception as error:  # a module that is imported may raise anything, and its name must be told
            text = f"{name} cannot be loaded, where {self.kind}s are looked for: {error}"
            self._failure = ConfigurationException(text)
            raise self._failure from error
        self._package = ""  # not before all of it is there, which other threads may ask for meanwhile


def did_you_mean(name: str, known: Iterator[str] | Catalog[T] | tuple[str, ...] | list[str]) -> str:
    """A phrase to end an error with: the closest of the known names, or nothing where none is close.

    >>> did_you_mean("queuName", ["queueName", "transactionMode"])
    '; did you mean queueName?'
    >>> did_you_mean("x", ["queueName"])
    ''
    >>> did_you_mean("XMLNCS", ["XMLNS", "XMLNSC"])  # letters that changed places are likelier than one too many
    '; did you mean XMLNSC?'
    """
    names = list(known)
    folded = {n.lower(): n for n in reversed(names)}
    swapped = [n for n in folded if n != name.lower() and sorted(n) == sorted(name.lower())]
    close = swapped or difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.7)
    return f"; did you mean {folded[close[0]]}?" if close else ""
