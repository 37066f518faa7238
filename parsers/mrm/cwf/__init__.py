"""The CWF wire format: a message compiled once for each encoding and CCSID, then read and written by its layout."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from engine.parser import Form, Portion
from engine.tree.element import Element
from engine.tree.source import Handle, Source
from parsers.mrm.cwf.layout import MOST_FIELDS, lay_out
from parsers.mrm.cwf.properties import CWF, CwfField, CwfFormat, CwfGroup
from parsers.mrm.cwf.properties import Form as RecordForm
from parsers.mrm.cwf.record import fixed_place, open_record
from parsers.mrm.cwf.writing import Plan, origin_of, patched, rendered
from parsers.mrm.model import Definition, wire_format

_ENCODING: Final = 0xFFF  # the bits of an encoding that say something of numbers
_MOST_PLANS: Final = 32


@wire_format(CWF, settings=CwfFormat, field=CwfField, group=CwfGroup)
class CwfCodec:
    """Reads and writes one message."""

    __slots__ = ("_plan", "definition")

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        fields = self._compiled(0x111, 1208).fields  # so that a model that cannot be laid out is refused at once
        self._plan = lru_cache(maxsize=max(1, min(_MOST_PLANS, MOST_FIELDS // max(fields, 1))))(self._compiled)

    def plan(self, encoding: int, ccsid: int) -> Plan:
        """The message as it is laid out in that encoding and CCSID."""
        return self._plan(encoding & _ENCODING, ccsid)

    def _compiled(self, encoding: int, ccsid: int) -> Plan:
        root, fields = lay_out(self.definition, RecordForm(encoding, ccsid))
        settings: CwfFormat = self.definition.settings or CwfFormat()
        return Plan(root, fixed_place(root), bytes.fromhex(settings.byte_alignment_pad) or b"\0", fields)

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        """The record as a lazy source."""
        plan = self._plan(portion.follow.encoding & _ENCODING, portion.follow.ccsid)
        record = open_record(portion.bytes, plan.root, plan.fixed, plan)
        return record, record.top

    def write(self, element: Element, form: Form) -> bytes:
        """The record: the bytes that were read with what has changed, or all of it anew."""
        plan = self.plan(form.encoding, form.ccsid)
        origin = origin_of(element, plan)
        done = None if origin is None else patched(element, origin)
        return rendered(element, plan) if done is None else done
