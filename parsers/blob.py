"""BLOB: a body that is bytes and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from engine.errors import ParserException
from engine.parser import Form, Parser, Portion, parser
from engine.tree.element import Element
from engine.tree.source import NAME_VALUE, Handle, Source, Value
from engine.tree.step import Step
from parsers.headers.layout import TOP, is_field

NAME: Final = "BLOB"
_WITHOUT_BYTES: Final = "UnknownParserName"  # IBM's name for the parser that would have read the bytes


class _Bytes(Source):
    """A portion as a source with one field; its handle is the field's name, TOP is the body."""

    __slots__ = ("portion",)

    def __init__(self, portion: Portion) -> None:
        self.portion = portion

    def value(self, handle: str | None) -> Value:
        return None if handle is TOP else self.portion.bytes

    def children(self, handle: str | None) -> Iterable[str]:
        return (NAME,) if handle is TOP else ()

    def element(self, handle: str, parent: Element) -> Element:
        return Element(NAME, "", NAME_VALUE, self, handle, parent)

    def first(self, handle: str | None, wanted: Step) -> str | None:
        matches = handle is TOP and wanted.name in {None, NAME} and is_field(wanted)
        return NAME if matches else None

    def every(self, handle: str | None, wanted: Step) -> tuple[str, ...]:
        return (NAME,) if self.first(handle, wanted) else ()


@parser
class Blob(Parser):
    """The body as one field called BLOB; what is written are the bytes below it, whatever the CCSID and encoding."""

    __slots__ = ()
    name = NAME

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        return _Bytes(portion), TOP

    def write(self, element: Element, form: Form) -> bytes:
        children = list(element)
        if not children and isinstance(element.value, bytes):
            return element.value
        pieces = []
        for child in children:
            if child.name == _WITHOUT_BYTES or child.value is None:
                continue
            if not isinstance(child.value, bytes):
                raise ParserException(
                    5010, f"{element.name}.{child.name} takes a BLOB, not {child.value!r:.60}: CAST it with a CCSID"
                )
            pieces.append(child.value)
        return b"".join(pieces)
