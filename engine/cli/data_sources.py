"""The data sources that a command is given, opened for as long as it runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.databases.sources import Sources


def sources_of(options: list[str] | None) -> Sources | None:
    """The data sources of --data-source; None where none is given."""
    if not options:
        return None
    from engine.databases.definitions import definitions_of
    from engine.databases.sources import Sources

    return Sources(definitions_of(options))


@contextmanager
def opened(options: list[str] | None) -> Iterator[Sources | None]:
    """The data sources of --data-source, closed at the end."""
    sources = sources_of(options)
    try:
        yield sources
    finally:
        if sources is not None:
            sources.close()
