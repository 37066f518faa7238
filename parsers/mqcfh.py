"""MQCFH, the header of programmable command formats: commands, replies and events, as parameters by number."""

from __future__ import annotations

from typing import Final

from engine.parser import Follow, Form, Header, Portion, parser
from engine.tree.element import Element
from engine.tree.source import Handle, Source
from parsers.headers import fields
from parsers.headers.fields import long
from parsers.headers.layout import TOP, Extended, Laid, Layout, shape_of, whole
from parsers.headers.pcf import Parameters, render, walk

_COMMAND: Final = 1  # MQCFT_COMMAND
_LAST: Final = 1  # MQCFC_LAST
_FIELDS: Final = (
    long("Type", _COMMAND),
    long("StrucLength", 36),
    long("Version", 1),
    long("Command"),
    long("MsgSeqNumber", 1),
    long("Control", _LAST),
    long("CompCode"),
    long("Reason"),
    fields.hidden("ParameterCount"),
)

# Versions differ in which parameters there may be, not in the header.
LAYOUT: Final = Layout("MQPCF", "", tuple(shape_of(version, _FIELDS) for version in (1, 2, 3)), ())
_COUNT_AT: Final = 32
_LENGTH: Final = 36


@parser
class MqCfh(Header):
    """A PCF message: a header of 36 bytes and its parameters.

    The tree is IBM's MQPCF: a Parameter, Parameter64, ParameterList, ParameterList64, Filter or Group has the
    parameter's number as its value, and what the parameter says below it. ParameterCount is not shown, as IBM does
    not: it is counted when the message is written. Nothing follows but what parameters leave over.
    """

    __slots__ = ()
    name = "MQPCF"
    formats = ("MQADMIN", "MQEVENT", "MQPCF")
    whole = True
    nameless = "Value"

    def measure(self, portion: Portion) -> tuple[int, Follow]:
        laid, _ = _open(portion)
        return laid.length, Follow("", portion.follow.encoding, portion.follow.ccsid)

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        return Extended(*_open(portion)), TOP

    def write(self, element: Element, form: Form) -> bytes:
        fixed, source = LAYOUT.fixed(element, form), whole(element)
        same: Parameters | None = None
        if LAYOUT.same_form(element, form) and isinstance(source, Extended) and isinstance(source.rest, Parameters):
            same = source.rest
        own = fields.form_of(form.encoding, form.ccsid)
        parameters = [render(child, own, same) for child in element if not LAYOUT.is_own(child)]
        fixed[_COUNT_AT : _COUNT_AT + 4] = own.packed(len(parameters))
        return bytes(fixed) + b"".join(parameters)


def _open(portion: Portion) -> tuple[Laid, Parameters]:
    form = fields.form_of(portion.follow.encoding, portion.follow.ccsid)
    left = portion.end - portion.start
    if left < _LENGTH:
        raise LAYOUT.garbled(portion, f"is cut off: it takes {_LENGTH} bytes and {left} are left")
    laid = Laid(LAYOUT, LAYOUT.newest, portion, form, _LENGTH)
    length, version, count = (laid.integer(name) for name in ("StrucLength", "Version", "ParameterCount"))
    if length != _LENGTH:
        raise LAYOUT.garbled(portion, f"says it is {length} bytes long, and it takes {_LENGTH}")
    if LAYOUT.shape(version) is None:
        raise LAYOUT.garbled(portion, f"has version {version}, and only {LAYOUT.versions()} can be read")
    if count < 0:
        raise LAYOUT.garbled(portion, f"has {count} parameters")
    parameters, end = walk(portion, form, portion.start + _LENGTH, count)
    laid.length = end - portion.start
    return laid, Parameters(portion, form, parameters)
