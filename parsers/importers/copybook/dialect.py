"""Dialects of copybooks: the options that compilers are given, as frozen data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

SourceFormat: TypeAlias = Literal["auto", "fixed", "free", "variable"]
BinarySize: TypeAlias = Literal["2-4-8", "1-2-4-8", "1--8"]

SOURCE_FORMATS: Final[tuple[str, ...]] = get_args(SourceFormat)
BINARY_SIZES: Final[tuple[str, ...]] = get_args(BinarySize)


@dataclass(frozen=True, slots=True)
class Dialect:
    """The options of a compiler that change how a copybook is read or its records are laid out.

    `binary_size` are the bytes that COMP items take by their digits, `lp` the bits of pointers, `folders` where
    COPY looks beside the copybook's own folder, `allowed` where links in these folders may lead.
    """

    source_format: SourceFormat = "auto"
    folders: tuple[Path, ...] = ()
    decimal_point_is_comma: bool = False
    currency: str = "$"
    binary_size: BinarySize = "2-4-8"
    lp: Literal[32, 64] = 32
    debugging: bool = False
    allowed: tuple[Path, ...] = ()


IBM: Final = Dialect()
