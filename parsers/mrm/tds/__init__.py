"""TDS, the Tagged/Delimited String format: messages that are text, with tags, delimiters, lengths and patterns."""

from __future__ import annotations

from engine.parser import Form, Portion
from engine.source import Handle, Source
from engine.tree import Element
from parsers.mrm.tds.declared import TdsField, TdsFormat, TdsGroup
from parsers.mrm.tds.plan import Plans
from parsers.mrm.tds.source import TOP, Text
from parsers.mrm.tds.writing import Writing
from parsers.mrm.wire_format import Codec, Definition, wire_format


class TaggedText:
    """Reads and writes one message; CCSIDs are those of the message, or the format's where it has none."""

    __slots__ = ("_plans",)

    def __init__(self, definition: Definition) -> None:
        self._plans = Plans(definition)
        self._plans.top()

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        """The text as a lazy source."""
        follow = portion.follow
        ccsid = follow.ccsid or self._plans.ccsid
        return Text(self._plans, portion, self._plans.coding(ccsid, follow.encoding)), TOP

    def write(self, element: Element, form: Form) -> bytes:
        """The bytes of the message that an element stands for."""
        ccsid = form.ccsid or self._plans.ccsid
        coding = self._plans.coding(ccsid, form.encoding)
        return coding.data(Writing(self._plans, coding).content(self._plans.top(), element, ()))


@wire_format("TDS", settings=TdsFormat, field=TdsField, group=TdsGroup)
def compile_text(definition: Definition) -> Codec:
    """The codec of a definition."""
    return TaggedText(definition)
