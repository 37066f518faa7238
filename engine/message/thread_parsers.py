"""Parsers of lxml for one thread each: threads that share one share its dictionary of names, and destroy it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Final, TypeVar

from lxml import etree

KindT = TypeVar("KindT", bound=Hashable)

_MOST: Final = 256  # kinds of parsers that a thread keeps


class _Own(threading.local):
    """The parsers of a thread by their kinds; each thread that asks for its own begins with none."""

    def __init__(self) -> None:
        self.parsers: dict[Hashable, etree.XMLParser] = {}
        # A thread has the names of the first parser that it uses, and where it makes a document before, those of the
        # main thread. libxml2 looks names up without a lock, so that two threads destroy what they share.
        etree.fromstring(b"<own/>", etree.XMLParser())

    def ready(self) -> None:
        """Do nothing more: whoever calls this has names of its own."""


@lru_cache(maxsize=1)
def _own() -> _Own:
    return _Own()


def own_parser(kind: KindT, make: Callable[[KindT], etree.XMLParser]) -> etree.XMLParser:
    """Returns this thread's parser of a kind, made where it has none yet."""
    parsers = _own().parsers
    found = parsers.get(kind)
    if found is None:
        if len(parsers) >= _MOST:
            parsers.clear()
        found = parsers[kind] = make(kind)
    return found


def forget_parsers() -> None:
    """Have this thread make its parsers anew, such as where one was left in the middle of a document."""
    _own().parsers.clear()


def keep_names_apart() -> None:
    """Have lxml keep the names of documents that this thread makes apart from those of other threads."""
    _own().ready()
