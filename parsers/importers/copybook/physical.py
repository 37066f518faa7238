"""Types and CWF properties of elementary items, as IBM's importer chooses them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from parsers.importers.copybook.arrange import origin
from parsers.importers.copybook.items import Item
from parsers.importers.copybook.storage import BINARY
from parsers.mrm.cwf.declared import CwfField
from parsers.mrm.model import Kind, SimpleType

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


def has_number(item: Item) -> bool:
    """Returns whether an elementary item is a number, and not an address or an edited one."""
    if item.usage in _ADDRESSES:
        return False
    return item.picture is None or item.picture.category == "numeric"


def simple_type_of(item: Item) -> SimpleType:
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


def physical_of(item: Item, options: PhysicalOptions) -> CwfField:
    """Returns what CWF says of an elementary item."""
    said = _number(item, options) if has_number(item) else _text(item, options)
    return (
        CwfField(length=item.length, leading_skip_count=slack_of(item), **said)
        if "length" not in said
        else CwfField(leading_skip_count=slack_of(item), **said)
    )


def slack_of(item: Item) -> int:
    """Returns the bytes in front of an item that put it on its boundary: of what shares a storage, those of the first.

    They stand in each option of a choice, as all of them begin where the one before the choice ends.
    """
    return origin(item).slack


def _text(item: Item, options: PhysicalOptions) -> dict[str, Any]:
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


def _number(item: Item, options: PhysicalOptions) -> dict[str, Any]:
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


def _zoned(item: Item, options: PhysicalOptions) -> dict[str, Any]:
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


def _order(item: Item, options: PhysicalOptions) -> ByteOrder:
    if item.usage == "COMP-X":
        return "bigEndian"
    return options.byte_order if item.usage == "BINARY" else options.native_order or options.byte_order
