"""TDS, the Tagged/Delimited String format: messages that are text, with tags, delimiters, lengths and patterns."""

from __future__ import annotations

from engine.parser import Form, Portion
from engine.tree.element import Element
from engine.tree.source import Handle, Source
from parsers.mrm.model import Codec, Definition, wire_format
from parsers.mrm.tds.message_plan import Plans
from parsers.mrm.tds.properties import TdsField, TdsFormat, TdsGroup
from parsers.mrm.tds.reading import TOP, Text
from parsers.mrm.tds.scanning import Coding
from parsers.mrm.tds.writing import Writing


class TaggedText:
    """Reads and writes one message; CCSIDs are those of the message, or the format's where it has none."""

    __slots__ = ("_by_ccsid", "_plans")

    def __init__(self, definition: Definition) -> None:
        self._plans = Plans(definition)
        self._plans.top()
        self._by_ccsid: dict[int, Plans] = {}

    def _in(self, ccsid: int, encoding: int) -> tuple[Plans, Coding]:
        """The plans for messages of that CCSID: where its characters are parted, markup is as well."""
        coding = self._plans.coding(ccsid, encoding)
        if not coding.parted:
            return self._plans, coding
        plans = self._by_ccsid.get(ccsid)
        if plans is None:
            plans = self._by_ccsid[ccsid] = Plans(self._plans.definition, coding)
        return plans, coding

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        """The text as a lazy source."""
        follow = portion.follow
        plans, coding = self._in(follow.ccsid or self._plans.ccsid, follow.encoding)
        return Text(plans, portion, coding), TOP

    def write(self, element: Element, form: Form) -> bytes:
        """The bytes of the message that an element stands for."""
        plans, coding = self._in(form.ccsid or self._plans.ccsid, form.encoding)
        return coding.data(Writing(plans, coding).message(element))


@wire_format("TDS", settings=TdsFormat, field=TdsField, group=TdsGroup)
def compile_text(definition: Definition) -> Codec:
    """The codec of a definition."""
    return TaggedText(definition)
