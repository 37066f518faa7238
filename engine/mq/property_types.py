"""The types of message properties: their values, and the texts that say them in an MQRFH2."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, TypeAlias

from engine.errors import MessageException

Property: TypeAlias = str | bool | int | float | bytes | None

PROPERTY_NAME: Final = 2442
PROPERTY_TYPE: Final = 2473
MIXED_CONTENT: Final = 2498

_NUMBERS_OF_JMS: Final = frozenset({"jms.Tms", "jms.Exp", "jms.Dlv", "jms.Pri", "jms.Seq"})  # numbers without a dt
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,19}")
_PLAIN: Final = bytes(byte for byte in range(0x20, 0x7F) if byte not in b"&<>")  # stand for themselves
_SPECIAL: Final = re.compile("[&<>\0-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")  # escaped, or forbidden
_FORBIDDEN: Final = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_ENTITIES: Final = {"lt": "<", "gt": ">", "amp": "&", "apos": "'", "quot": '"'}
_REFERENCE: Final = re.compile(r"&(lt|gt|amp|apos|quot|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});")
_TRUTH: Final = {"1": True, "true": True, "0": False, "false": False}


class I1(int):
    """A whole number of one byte (dt i1)."""

    __slots__ = ()


class I2(int):
    """A whole number of two bytes (dt i2)."""

    __slots__ = ()


class I8(int):
    """A whole number of eight bytes (dt i8), though four may do for it."""

    __slots__ = ()


class R4(float):
    """A float of four bytes (dt r4)."""

    __slots__ = ()


_INTEGERS: Final[dict[str, tuple[type[int], int]]] = {
    "i1": (I1, 7),
    "i2": (I2, 15),
    "i4": (int, 31),
    "i8": (I8, 63),
    "int": (int, 63),
}
_WRITTEN: Final[dict[type, str]] = {
    I1: "i1",
    I2: "i2",
    I8: "i8",
    R4: "r4",
    float: "r8",
    bool: "boolean",
    bytes: "bin.hex",
}


def value_of(name: str, text: str, kind: str) -> Property:
    """Returns the value of a property that a header spells; ValueError or OverflowError where it is none.

    >>> value_of("n", "5", "i4"), value_of("colour", "a &amp; b", "")
    (5, 'a & b')
    """
    text = _unescaped(text) if "&" in text else text
    if name in _NUMBERS_OF_JMS and not kind and _NUMBER.fullmatch(text):
        return int(text)
    return text if kind in {"", "string"} else _typed(text.strip(), kind)


def _unescaped(text: str) -> str:
    if text.count("&") != len(_REFERENCE.findall(text)):
        raise ValueError(text)
    return _REFERENCE.sub(lambda found: _ENTITIES.get(found[1]) or _numbered(found[1]), text)


def _numbered(reference: str) -> str:
    return chr(int(reference[2:], 16) if reference[1] == "x" else int(reference[1:]))


def _typed(text: str, kind: str) -> Property:
    if kind in _INTEGERS:
        made, bits = _INTEGERS[kind]
        number = int(text) if _NUMBER.fullmatch(text) else 1 << 64
        if not -(1 << bits) <= number < 1 << bits:
            raise ValueError(text)
        if kind in {"i8", "int"} and not -(1 << 31) <= number < 1 << 31:
            return number
        return made(number)
    if kind == "boolean" and text.lower() in _TRUTH:
        return _TRUTH[text.lower()]
    if kind == "bin.hex":
        return bytes.fromhex(text)
    if kind in {"r4", "r8"} and "_" not in text:
        return R4(text) if kind == "r4" else float(text)
    raise ValueError(text)


def spelled_of(properties: Mapping[str, Property]) -> tuple[tuple[str | None, ...], tuple[str, ...]]:
    """Returns the types and the texts of values; no types where all are texts that stand for themselves, as most do."""
    values = tuple(properties.values())
    try:
        joined = "".join(values)  # type: ignore[arg-type]  # or a TypeError
        others = joined.encode().translate(None, _PLAIN)  # in a third of the time that a search takes
        if not others or _SPECIAL.search(joined) is None:
            return (), values  # type: ignore[return-value]  # all are texts, as they could be joined
    except (TypeError, UnicodeEncodeError):
        pass  # some are of other types, or no characters
    each = [_spelled(name, value) for name, value in properties.items()]
    return tuple([kind for kind, _ in each]), tuple([text for _, text in each])


def _spelled(name: str, value: Property) -> tuple[str | None, str]:
    """Returns the type and the text of a value; NULL has no type."""
    if value is None:
        return None, ""
    if isinstance(value, str):
        if _FORBIDDEN.search(value):
            raise refused(name, f"property {name} has a character that no header can hold; take it out", PROPERTY_TYPE)
        return "", value.translate(_ESCAPES)
    if isinstance(value, bytes):
        return "bin.hex", value.hex().upper()
    if isinstance(value, bool):
        return "boolean", str(int(value))
    if type(value) is int:
        if not -(1 << 63) <= value < 1 << 63:
            raise refused(name, f"property {name} does not fit 64 bits; write it as a text", PROPERTY_TYPE)
        kind = "i4" if -(1 << 31) <= value < 1 << 31 else "i8"
        return "" if name in _NUMBERS_OF_JMS else kind, str(value)
    kind = _WRITTEN.get(type(value), "")
    if not kind:
        problem = f"property {name} is {type(value).__name__}; it takes a text, a number, a truth value or bytes"
        raise refused(name, problem, PROPERTY_TYPE)
    return kind, str(int(value)) if isinstance(value, int) else repr(float(value))


def refused(name: str, problem: str, reason: int) -> MessageException:
    """Returns the error of a property that no message can have."""
    return MessageException(reason, f"{problem} ({reason})", name, reason=reason)
