"""Coding: what a record's bytes mean beyond what its copybook says, as frozen data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from parsers.charsets.ccsid import codec, is_little_endian, is_single_byte

ZonedSign: TypeAlias = Literal["ascii", "ebcdic", "ebcdic-custom"]
Trim: TypeAlias = Literal["both", "left", "right", "none"]
FloatFormat: TypeAlias = Literal["ieee-big", "ieee-little", "hexadecimal"]

ZONED_SIGNS: Final = ("ascii", "ebcdic", "ebcdic-custom")
TRIMS: Final = ("right", "left", "both", "none")
ORDERS: Final = ("big", "little")
TURNED: Final[dict[Trim, Trim]] = {"right": "left", "left": "right", "both": "both", "none": "none"}  # right-justified

MAINFRAME: Final = 785
WORKSTATION: Final = 530  # 546 would turn packed decimals around, which no compiler does
_FLOATS: Final = 0x00000F00
_DECIMALS: Final = 0x000000F0
_FLOAT_FORMATS: Final[dict[int, FloatFormat]] = {0x100: "ieee-big", 0x200: "ieee-little", 0x300: "hexadecimal"}


@dataclass(frozen=True, slots=True)
class Coding:
    """The coding of fields: `encoding` is MQ's, `native` the byte order of COMP-5 and the like.

    `sign` is how a digit holds the sign of a zoned number, `trim` the ends of strings that lose their blanks;
    `blank_is_null` takes a number of blanks for one that is not there.
    """

    ccsid: int
    encoding: int
    sign: ZonedSign
    native: Literal["big", "little"]
    national_ccsid: int = 1200
    trim: Trim = "right"
    blank_is_null: bool = False

    @property
    def order(self) -> Literal["big", "little"]:
        """The byte order of binary integers."""
        return "little" if is_little_endian(self.encoding) else "big"

    @property
    def reversed_packed(self) -> bool:
        """Returns whether packed decimals have their bytes in reverse."""
        return self.encoding & _DECIMALS == 0x20

    @property
    def floats(self) -> FloatFormat:
        """The form of floating-point numbers."""
        return _FLOAT_FORMATS.get(self.encoding & _FLOATS, "ieee-big")


def is_ebcdic(ccsid: int) -> bool:
    """Returns whether digits of a CCSID are EBCDIC's.

    >>> is_ebcdic(37), is_ebcdic(819)
    (True, False)
    """
    return is_single_byte(ccsid) and codec(ccsid).encode("0")[0] == b"\xf0"


def coding_of(
    ccsid: int, encoding: int | None = None, sign: ZonedSign | None = None, native: str | None = None
) -> Coding:
    """A coding with what is not given taken from the CCSID: EBCDIC is a mainframe's, all else a workstation's.

    >>> coding_of(37).encoding, coding_of(819).sign
    (785, 'ascii')
    """
    ebcdic = is_ebcdic(ccsid)
    chosen = (MAINFRAME if ebcdic else WORKSTATION) if encoding is None else encoding
    order: Literal["big", "little"] = "little" if (native or "") == "little" else "big"
    if native is None:
        order = "little" if is_little_endian(chosen) else "big"
    return Coding(ccsid, chosen, sign or ("ebcdic" if ebcdic else "ascii"), order)
