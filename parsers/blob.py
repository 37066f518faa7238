"""BLOB: a body that is bytes and nothing else."""

from __future__ import annotations

from typing import Final

from engine.errors import ParserException
from engine.parser import Form, Parser, Portion, parser
from engine.tree.element import Element
from engine.tree.source import Handle, Source
from parsers.headers.fields import TOP, Computed, ComputedFields

NAME: Final = "BLOB"
_FIELDS: Final[Computed] = {NAME: lambda portion: portion.bytes}
_WITHOUT_BYTES: Final = "UnknownParserName"  # IBM's name for the parser that would have read the bytes


@parser
class Blob(Parser):
    """The body as one field called BLOB; what is written are the bytes below it, whatever the CCSID and encoding."""

    __slots__ = ()
    name = NAME

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        return ComputedFields(_FIELDS, portion), TOP

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
