"""Parsers of lxml for one thread each: threads that share one share its dictionary of names, and destroy it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Final, TypeVar

from lxml import etree

KindT = TypeVar("KindT", bound=Hashable)

_MOST: Final = 256  # kinds of parsers that a thread keeps


class OwnParsers(threading.local):
    """The parsers of a thread by their kinds; each thread that asks for its own begins with none.

    Who reads looks into `kept` itself, and asks for what is not there: a call more would be felt with each document.
    """

    def __init__(self) -> None:
        self.kept: dict[Hashable, etree.XMLParser] = {}
        # A thread has the names of the first parser that it uses, and where it makes a document before, those of the
        # main thread. libxml2 looks names up without a lock, so that two threads destroy what they share.
        etree.fromstring(b"<own/>", etree.XMLParser())

    def made(self, kind: KindT, make: Callable[[KindT], etree.XMLParser]) -> etree.XMLParser:
        """Returns a parser of a kind that the thread has none of yet, which it keeps."""
        if len(self.kept) >= _MOST:
            self.kept.clear()
        parser = self.kept[kind] = make(kind)
        return parser

    def forget(self) -> None:
        """Have the thread make its parsers anew, such as where one was left in the middle of a document."""
        self.kept.clear()

    def keep_names_apart(self) -> None:
        """Have lxml keep the names of documents that the thread makes apart: by now `self` has been made for it."""


PARSERS: Final = OwnParsers()
