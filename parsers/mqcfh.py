"""MQCFH, the header of programmable command formats, and the parameters behind it, read one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engine.errors import ParserException
from engine.parser import Follow, Form, Header, Portion, parser
from engine.tree.element import Element
from engine.tree.sharing import written
from engine.tree.source import Handle, Source, Value
from engine.tree.states import EDITED
from engine.tree.step import step
from parsers.charsets.ccsid import blank, decode, encode, inherited
from parsers.headers import fields
from parsers.headers.fields import TOP, Beside, Besides, long
from parsers.headers.layout import Extended, Laid, Layout, shape_of, whole

_GROUP: Final = 20
_DEEPEST: Final = 128


@dataclass(frozen=True, slots=True)
class Kind:
    """A parameter structure: behind Type, StrucLength and Parameter come Operator, CodedCharSetId, Count and Length.

    Which of these there are follows from what it holds: integers of `width` bytes, "str" or "bytes"; one, or many.
    """

    name: str
    holds: str = "int"
    width: int = 4
    many: bool = False
    operator: bool = False


KINDS: Final = {
    3: Kind("Parameter"),
    4: Kind("Parameter", "str"),
    5: Kind("ParameterList", many=True),
    6: Kind("ParameterList", "str", many=True),
    9: Kind("Parameter", "bytes"),
    13: Kind("Filter", operator=True),
    14: Kind("Filter", "str", operator=True),
    15: Kind("Filter", "bytes", operator=True),
    _GROUP: Kind("Group", "group"),
    23: Kind("Parameter64", width=8),
    25: Kind("ParameterList64", width=8, many=True),
}
_NUMBERS: Final = {kind: number for number, kind in KINDS.items()}


class Parameter(Beside):
    """A parameter structure in a message; `end` of a group is behind the last of its parameters."""

    __slots__ = ("at", "ccsid", "count", "data_at", "end", "kind", "name", "operator", "parameters", "size")

    def __init__(self, kind: Kind, at: int) -> None:
        self.kind = kind
        self.name = kind.name
        self.at = at
        self.end = at
        self.ccsid = self.operator = self.size = 0
        self.count = 1
        self.data_at = at
        self.parameters: list[Parameter] = []


class Item(Beside):
    """A value of a parameter, or the operator of a filter, which is number -1."""

    __slots__ = ("name", "number", "parameter")

    def __init__(self, parameter: Parameter, number: int) -> None:
        self.parameter = parameter
        self.number = number
        self.name = "Operator" if number < 0 else "Value"


class Parameters(Besides):
    """The parameters of a PCF message as a source; a handle is a Parameter or an Item, TOP is the message."""

    __slots__ = ("_items", "data", "form", "parameters")

    def __init__(self, portion: Portion, form: fields.Form, parameters: list[Parameter]) -> None:
        self.data = portion.data
        self.form = form
        self.parameters = parameters
        self._items: dict[Parameter, list[Item]] = {}

    def value(self, handle: Parameter | Item) -> Value:
        if isinstance(handle, Parameter):
            return self.form.integer(self.data, handle.at + 8)
        parameter = handle.parameter
        if handle.number < 0:
            return parameter.operator
        at = parameter.data_at + handle.number * parameter.size
        if parameter.kind.holds == "int":
            return self.form.integer(self.data, at, parameter.size)
        data = self.data[at : at + parameter.size]
        if parameter.kind.holds == "bytes":
            return data
        return decode(data, inherited(parameter.ccsid, self.form.ccsid), offset=at, what="the value of a PCF parameter")

    def children(self, handle: Parameter | Item | None) -> Sequence[Parameter | Item]:
        if handle is TOP:
            return self.parameters
        if isinstance(handle, Item):
            return ()
        if handle.kind.holds == "group":
            return handle.parameters
        items = self._items.get(handle)
        if items is None:
            first = -1 if handle.kind.operator else 0
            items = self._items.setdefault(handle, [Item(handle, number) for number in range(first, handle.count)])
        return items


def walk(portion: Portion, form: fields.Form, at: int, count: int) -> tuple[list[Parameter], int]:
    """So many parameters from an offset on, groups with theirs, and the offset behind them."""
    top: list[Parameter] = []
    above: list[tuple[Parameter, list[Parameter], int]] = []
    into, left = top, count
    while left or above:
        if not left:
            group, into, left = above.pop()
            group.end = at
            continue
        found = _structure(portion, form, at)
        at, left = found.end, left - 1
        into.append(found)
        if found.kind.holds == "group":
            above.append((found, into, left))
            into, left = found.parameters, found.count
    return top, at


def _structure(portion: Portion, form: fields.Form, at: int) -> Parameter:
    """One structure, its type, length and counts checked."""
    data, left = portion.data, portion.end - at
    if left < 16:
        raise _garbled(at, f"is cut off: {left} bytes are left")
    number, length = form.integer(data, at), form.integer(data, at + 4)
    kind = KINDS.get(number)
    if kind is None:
        raise _garbled(at, f"has type {number}, which is none of a parameter")
    found, head = Parameter(kind, at), at + 12
    numbers = 4 * (kind.operator + (kind.holds == "str") + kind.many + (kind.holds in {"str", "bytes", "group"}))
    reserved = 4 if kind.width == 8 and not kind.many else 0
    before = 12 + numbers + reserved
    least = before + (kind.width if kind.holds == "int" and not kind.many else 0)
    if not least <= length <= left:
        raise _garbled(at, f"says it is {length} bytes long: it takes {least} at least and {left} are left")
    found.data_at, found.end = at + before, at + length
    if kind.operator:
        found.operator, head = form.integer(data, head), head + 4
    if kind.holds == "str":
        found.ccsid, head = form.integer(data, head), head + 4
    if kind.many or kind.holds == "group":
        found.count, head = form.integer(data, head), head + 4
    found.size = form.integer(data, head) if kind.holds in {"str", "bytes"} else kind.width
    taken = 0 if kind.holds == "group" else found.count * found.size
    if found.size < 0 or not 0 <= found.count <= left or before + taken > length:
        raise _garbled(at, f"has {found.count} values of {found.size} bytes in a structure of {length}")
    return found


def _garbled(at: int, found: str) -> ParserException:
    return ParserException(5009, f"the PCF parameter at offset {at} {found}", "MQPCF")


def render(element: Element, form: fields.Form, source: Parameters | None, depth: int = 0) -> bytes:
    """A parameter from its element; one that nobody has touched as it came, where `source` is in the same form."""
    held = written(element)
    was = held.handle if isinstance(held.handle, Parameter) else None
    if was is not None and source is not None and held.source is source and not held.state & EDITED:
        return source.data[was.at : was.end]
    what = f"MQPCF.{element.name}"
    if depth > _DEEPEST:
        raise ParserException(5010, f"{what}: groups are nested deeper than {_DEEPEST} levels", "MQPCF")
    if element.value is None:
        raise ParserException(5010, f"{what} has no number: set it to that of a parameter", "MQPCF")
    head = form.packed(fields.integer(element.value, 4, what))
    if element.name == "Group":
        inner = [render(child, form, source, depth + 1) for child in element]
        return _framed(_GROUP, head + form.packed(len(inner)), form) + b"".join(inner)
    operator = element.child(step("Operator")) if element.name == "Filter" else None
    values = [child.value for child in element if child is not operator]
    kind = _kind(element.name, values, was, what)
    if kind.operator:
        said = None if operator is None else operator.value
        head += form.packed(fields.integer(0 if said is None else said, 4, f"{what}.Operator"))
    ccsid = was.ccsid if was is not None else 0
    return _framed(_NUMBERS[kind], head + _data(kind, values, form, ccsid, what), form)


def _kind(name: str, values: list[Value], was: Parameter | None, what: str) -> Kind:
    """Returns what structure holds these values under that name."""
    kinds = [kind for kind in KINDS.values() if kind.name == name]
    if not kinds:
        known = ", ".join(sorted({kind.name for kind in KINDS.values()}))
        raise ParserException(5010, f"the MQPCF has no field called {name}; its parameters are {known}", "MQPCF")
    if not kinds[0].many and len(values) != 1:
        raise ParserException(5010, f"{what} takes one value below it, and {len(values)} are there", "MQPCF")
    if not values:
        return was.kind if was is not None and was.name == name else kinds[0]
    holds = "str" if isinstance(values[0], str) else "bytes" if isinstance(values[0], bytes) else "int"
    found = next((kind for kind in kinds if kind.holds == holds), None)
    if found is None:
        raise ParserException(5010, f"{what} cannot hold {values[0]!r:.60}", "MQPCF")
    return found


def _data(kind: Kind, values: list[Value], form: fields.Form, ccsid: int, what: str) -> bytes:
    if kind.holds == "int":
        count = form.packed(len(values)) if kind.many else b"" if kind.width == 4 else bytes(4)
        return count + b"".join(form.packed(fields.integer(v, kind.width, what), kind.width) for v in values)
    if kind.holds == "bytes":
        data = values[0]
        assert isinstance(data, bytes)
        return form.packed(len(data)) + data
    own = inherited(ccsid, form.ccsid)
    texts = [encode(fields.characters(value, what), own, what=what) for value in values]
    size = max(map(len, texts), default=0)
    count = form.packed(len(texts)) if kind.many else b""
    filled = b"".join(text + blank(own) * (size - len(text)) for text in texts)
    return form.packed(ccsid) + count + form.packed(size) + filled


def _framed(number: int, data: bytes, form: fields.Form) -> bytes:
    """A structure with its type and length in front, filled up to a multiple of four."""
    data += bytes(-len(data) % 4)
    return form.packed(number) + form.packed(8 + len(data)) + data


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
