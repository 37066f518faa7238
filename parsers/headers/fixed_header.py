"""Headers that one layout describes whole: their bytes are its fields, and nothing follows within the header."""

from __future__ import annotations

from typing import ClassVar

from engine.parser import Follow, Form, Header, Portion
from engine.tree.element import Element
from engine.tree.source import Handle, Source
from parsers.headers.layout import Layout


class FixedHeader(Header):
    """A header that is read and written by its layout alone."""

    __slots__ = ()
    layout: ClassVar[Layout]

    def measure(self, portion: Portion) -> tuple[int, Follow]:
        return self.layout.measure(portion)

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        return self.layout.read(portion)

    def write(self, element: Element, form: Form) -> bytes:
        return self.layout.write(element, form)
