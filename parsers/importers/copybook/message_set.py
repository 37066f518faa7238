"""Copybooks as message sets: each record a message, each item a field with the type and CWF properties IBM chooses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Literal

from engine.errors import ConfigurationException
from parsers.importers.copybook.items import Copybook, DataItem, Record
from parsers.importers.copybook.offsets import BINARY, origin
from parsers.mrm.cwf.properties import CWF, CwfField, CwfFormat
from parsers.mrm.model import (
    NOTHING,
    UNBOUNDED,
    Field,
    Group,
    Kind,
    Member,
    Message,
    MessageSet,
    SimpleType,
    WireFormatUse,
)

ByteOrder = Literal["", "bigEndian", "littleEndian"]
FloatForm = Literal["", "ieee", "s390"]

_ADDRESSES: Final = frozenset({"POINTER", "POINTER-32", "PROCEDURE-POINTER", "FUNCTION-POINTER", "OBJECT"})
_WIDTH_KINDS: Final[dict[tuple[int, bool], Kind]] = {
    (1, True): "byte",
    (2, True): "short",
    (4, True): "int",
    (8, True): "long",
    (1, False): "unsignedByte",
    (2, False): "unsignedShort",
    (4, False): "unsignedInt",
    (8, False): "unsignedLong",
}
_UTF_8: Final = 1208


@dataclass(frozen=True, slots=True)
class PhysicalOptions:
    """The coding of fields where it is not their message's; what is empty or 0 is the message's."""

    ccsid: int = 0
    byte_order: ByteOrder = ""
    native_order: ByteOrder = ""
    float_format: FloatForm = ""
    sign_ebcdic_custom: bool = False
    national_ccsid: int = 1200


def has_number(item: DataItem) -> bool:
    """Returns whether an elementary item is a number, and not an address or an edited one."""
    if item.usage in _ADDRESSES:
        return False
    return item.picture is None or item.picture.category == "numeric"


def simple_type_of(item: DataItem) -> SimpleType:
    """The simple type of an elementary item."""
    picture = item.picture
    if item.usage in _ADDRESSES or item.usage == "COMP-6":
        return SimpleType("binary", max_length=item.length)
    if item.usage in {"COMP-1", "COMP-2"}:
        return SimpleType("float" if item.usage == "COMP-1" else "double")
    if picture is None:
        return SimpleType(_WIDTH_KINDS[item.length, not item.entry.unsigned])
    if item.usage in BINARY and picture.category == "alphanumeric":
        return SimpleType("unsignedLong")
    if picture.category != "numeric":
        return SimpleType("string", max_length=picture.positions)
    if picture.scale:
        digits = max(picture.digits, picture.scale, picture.digits - picture.scale)
        return SimpleType("decimal", total_digits=digits, fraction_digits=max(0, picture.scale))
    kind: Kind = "short" if picture.digits <= 4 else "int" if picture.digits <= 9 else "long"
    return SimpleType(kind if picture.digits <= 18 else "integer")


def physical_of(item: DataItem, options: PhysicalOptions) -> CwfField:
    """Returns what CWF says of an elementary item."""
    said = _number(item, options) if has_number(item) else _text(item, options)
    return CwfField(**{"length": item.length, "leading_skip_count": slack_of(item)} | said)


def slack_of(item: DataItem) -> int:
    """Returns the bytes in front of an item that put it on its boundary: of what shares a storage, those of the first.

    They stand in each option of a choice, as all of them begin where the one before the choice ends.
    """
    return origin(item).slack


def _text(item: DataItem, options: PhysicalOptions) -> dict[str, Any]:
    picture = item.picture
    if picture is None:
        return {"physical_type": "binary"}
    said: dict[str, Any] = {"physical_type": "fixedLengthString", "padding_character": "SPACE"}
    said["justification"] = "right" if item.entry.justified else "left"
    if item.usage in BINARY:
        return {"physical_type": "integer", "signed": False, "byte_order": _order(item, options)}
    if item.usage in {"NATIONAL", "DISPLAY-1"}:
        return said | {"length": picture.positions, "length_units": "characters", "ccsid": options.national_ccsid}
    return said | {"ccsid": _UTF_8 if picture.category == "utf-8" else options.ccsid}


def _number(item: DataItem, options: PhysicalOptions) -> dict[str, Any]:
    picture = item.picture
    if item.usage in {"COMP-1", "COMP-2"}:
        return {"physical_type": "float", "float_format": options.float_format, "byte_order": options.byte_order}
    if item.usage == "COMP-6":
        return {"physical_type": "binary"}
    if picture is None:
        return {"physical_type": "integer", "signed": not item.entry.unsigned, "byte_order": _order(item, options)}
    said = {"signed": picture.signed, "virtual_decimal_point": picture.scale}
    if item.usage in BINARY:
        return said | {"physical_type": "integer", "byte_order": _order(item, options)}
    if item.usage == "PACKED-DECIMAL":
        return said | {"physical_type": "packedDecimal"}
    return said | _zoned(item, options)


def _zoned(item: DataItem, options: PhysicalOptions) -> dict[str, Any]:
    said: dict[str, Any] = {"physical_type": "externalDecimal", "padding_character": "0", "justification": "right"}
    said["ccsid"] = options.ccsid
    if item.usage == "NATIONAL":
        said |= {"ccsid": options.national_ccsid, "length": item.length // 2, "length_units": "characters"}
    sign = item.sign
    if sign is not None and item.picture is not None and item.picture.signed:
        said["sign_orientation"] = ("leading" if sign.leading else "trailing") + "Separate" * sign.separate
    said["sign_ebcdic_custom"] = options.sign_ebcdic_custom and bool(item.picture and item.picture.signed)
    if item.entry.blank_when_zero:
        said |= {"encoding_null": "nullLiteralFill", "encoding_null_value": " "}
    return said


def _order(item: DataItem, options: PhysicalOptions) -> ByteOrder:
    if item.usage == "COMP-X":
        return "bigEndian"
    return options.byte_order if item.usage == "BINARY" else options.native_order or options.byte_order


def field_names(item: DataItem, *, fillers: bool = True) -> dict[int, str]:
    """The names of the fields that the items of a group are, by the ids of their entries.

    An item without a name is FILLER; one whose name is taken has a number behind it. Without `fillers`, an item that
    has no name and none with a name in it has none.
    """
    names: dict[int, str] = {}
    used: set[str] = set()
    for child in item.children:
        if not fillers and not any(inner.name for inner in child.walk()):
            names[id(child.entry)] = ""
            continue
        name = key = child.name or "FILLER"
        number = 1
        while key in used:
            number += 1
            key = f"{name}_{number}"
        used.add(key)
        names[id(child.entry)] = key
    return names


FORMAT: Final = "CWF1"
AS_MESSAGE: Final = PhysicalOptions()


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """The options of an import: the coding of fields that is not the message's, and whether VALUE makes defaults.

    Without `fillers`, an item that has no name and none with a name in it is a field without a name.
    """

    physical: PhysicalOptions = AS_MESSAGE
    defaults: bool = False
    fillers: bool = True


def message_set_of(name: str, books: Iterable[Copybook], options: ImportOptions) -> MessageSet:
    """The message set of copybooks; two records of one name are refused."""
    importer = Importer(options)
    messages: dict[str, Message] = {}
    for book in books:
        for record in book.records:
            if record.name in messages:
                raise ConfigurationException(
                    f"{book.file}: there is another record called {record.name}: import it into a set of its own"
                )
            messages[record.name] = importer.message(record)
    return _set_of(name, messages)


def message_set_of_record(record: Record, options: ImportOptions) -> tuple[MessageSet, dict[int, DataItem]]:
    """Returns the message set of one record, and the item that each field is of, by the field's id."""
    importer = Importer(options)
    made = _set_of(record.name, {record.name: importer.message(record)})
    return made, importer.items


def _set_of(name: str, messages: dict[str, Message]) -> MessageSet:
    formats = {FORMAT: WireFormatUse(FORMAT, CWF, CwfFormat())}
    return MessageSet(name, formats=formats, messages=messages, default_format=FORMAT)


@dataclass(frozen=True, slots=True)
class Around:
    """A group around an item, with the names that its fields have."""

    item: DataItem
    names: dict[int, str]


class Importer:
    """Makes messages of records; `items` are those that fields were made of, by the ids of the fields."""

    __slots__ = ("_options", "items")

    def __init__(self, options: ImportOptions) -> None:
        self._options = options
        self.items: dict[int, DataItem] = {}

    def message(self, record: Record) -> Message:
        """The message of a record."""
        top = record.top
        if top.is_group and top.occurs is None:
            content = self._group(top, ())
        else:
            content = Group((self._field(top, record.name, ()),))
        return Message(record.name, content, documentation=_documented(top, record))

    def _group(self, item: DataItem, above: tuple[Around, ...]) -> Group:
        """The fields of a group; those that share their storage are a choice."""
        names = field_names(item, fillers=self._options.fillers)
        way = (*above, Around(item, names))
        members: list[Member] = []
        for area in _areas(item):
            fields = tuple(self._field(child, names[id(child.entry)], way) for child in area)
            members.append(fields[0] if len(fields) == 1 else Group(fields, "choice"))
        return Group(tuple(members))

    def _field(self, item: DataItem, name: str, way: tuple[Around, ...]) -> Field:
        options = self._options
        most = UNBOUNDED if item.open or (item.occurs is not None and item.occurs.most is None) else item.most
        least = item.least if item.open or item.counter is not None else most
        physical = self._physical(item)
        made = Field(
            name,
            self._group(item, way) if item.is_group else simple_type_of(item),
            min_occurs=least,
            max_occurs=most,
            repeat_reference="" if item.counter is None else self._path(item.counter, way),
            default=_default(item) if options.defaults and not item.is_group else None,
            nullable=item.entry.blank_when_zero and has_number(item),
            documentation=_documented(item, None),
            physical={FORMAT: physical} if physical != CwfField() else NOTHING,
        )
        self.items[id(made)] = item
        return made

    def _path(self, counter: DataItem, way: tuple[Around, ...]) -> str:
        """The path to a counter: from the innermost group around the table that holds it."""
        for around in reversed(way):
            names = self._names_to(counter, around.item, around.names)
            if names:
                return ".".join(names)
        return counter.name

    def _names_to(self, wanted: DataItem, group: DataItem, names: dict[int, str]) -> list[str]:
        for child in group.children:
            name = names[id(child.entry)]
            if child.entry is wanted.entry:
                return [name]
            if child.is_group:
                inner = self._names_to(wanted, child, field_names(child, fillers=self._options.fillers))
                if inner:
                    return [name, *inner]
        return []

    def _physical(self, item: DataItem) -> CwfField:
        if not item.is_group:
            return physical_of(item, self._options.physical)
        end = max(child.offset + child.total for child in item.children)
        return CwfField(leading_skip_count=slack_of(item), trailing_skip_count=item.offset + item.length - end)


def _areas(item: DataItem) -> Iterator[list[DataItem]]:
    area: list[DataItem] = []
    for child in item.children:
        if child.redefines is None and area:
            yield area
            area = []
        area.append(child)
    if area:
        yield area


def _default(item: DataItem) -> str | None:
    """The VALUE of an item as XML Schema writes it; None where it is no plain literal."""
    if len(item.entry.values) != 1:
        return None
    literal = item.entry.values[0].first
    upper = literal.upper()
    if has_number(item):
        if upper in {"ZERO", "ZEROS", "ZEROES"}:
            return "0"
        try:
            return str(Decimal(literal))
        except ArithmeticError:
            return None
    if upper in {"SPACE", "SPACES"}:
        return ""
    quote = literal[:1]
    return literal[1:-1].replace(quote * 2, quote) if quote in {"'", '"'} and len(literal) > 1 else None


def _documented(item: DataItem, record: Record | None) -> str:
    """Returns what a copybook says that a message set has no place for: condition names and renamings."""
    said = [f"88 {c.name} VALUE {', '.join(str(value) for value in c.values)}" for c in item.conditions]
    for renaming in record.renamings if record is not None else ():
        through = "" if renaming.first == renaming.last else f" THRU {renaming.last}"
        said.append(f"66 {renaming.name} RENAMES {renaming.first}{through}")
    return "; ".join(said)
