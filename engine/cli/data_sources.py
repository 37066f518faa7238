"""The data sources that a command is given, opened for as long as it runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.databases.definitions import Definition
    from engine.databases.sources import Sources


def sources_of(options: list[str] | None, further: Iterable[Definition] = ()) -> Sources | None:
    """The data sources of --data-source, and further ones of other names; None where there are none."""
    further = tuple(further)
    if not options and not further:
        return None
    from engine.databases.definitions import definitions_of
    from engine.databases.sources import Sources

    return Sources(definitions_of(options or (), further))


@contextmanager
def opened(options: list[str] | None, further: Iterable[Definition] = ()) -> Iterator[Sources | None]:
    """The data sources of --data-source, and further ones of other names, closed at the end."""
    sources = sources_of(options, further)
    try:
        yield sources
    finally:
        if sources is not None:
            sources.close()
