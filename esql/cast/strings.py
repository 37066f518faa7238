"""Casts to CHARACTER, BLOB and BIT."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, time, timedelta
from decimal import Decimal
from typing import Any

from engine.dates.patterns import write_moment
from esql.cast.number_patterns import number_pattern
from esql.cast.request import Job
from esql.values.literal_contents import read_literal
from esql.values.literals import to_text
from esql.values.types import Bit, Moment, Number, Strings, is_gmt


def characters(value: Strings, job: Job) -> str:
    """The characters of a string: those that its bytes stand for, where it has bytes."""
    if isinstance(value, str):
        return value
    return job.decoded(value if isinstance(value, bytes) else as_bytes(value, job))


def as_bytes(value: Bit, job: Job) -> bytes:
    """The bytes of a BIT string."""
    if value.length % 8:
        raise job.failure(value, f"its {value.length} bits are not whole bytes: the length must be a multiple of 8")
    return value.number.to_bytes(value.length // 8)


def as_bits(value: bytes) -> Bit:
    """The bits of a BLOB.

    >>> as_bits(bytes([5])).digits
    '00000101'
    """
    return Bit(len(value) * 8, int.from_bytes(value))


def _packed(data: bytes, job: Job) -> bytes | Bit:
    return as_bits(data) if job.target.name == "BIT" else data


def to_character(value: Any, job: Job) -> str:
    """A value without a FORMAT as CHARACTER: as a literal, or as the characters that bytes stand for."""
    if job.converts and isinstance(value, bytes | Bit):
        return characters(value, job)
    return to_text(value)


def number_to_character(value: Number, job: Job) -> str:
    """A number as CHARACTER, by FORMAT where there is one."""
    if job.clauses.format is None:
        return to_text(value)
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    return number_pattern(job.clauses.format).write(exact)


def moment_to_character(value: Moment, job: Job) -> str:
    """A date or time as CHARACTER, by FORMAT where there is one."""
    if job.clauses.format is None:
        return to_text(value)
    if is_gmt(value) or not isinstance(value, time | datetime):
        return write_moment(value, job.clauses.format, timedelta())
    return write_moment(value, job.clauses.format, job.here.zone())


def formatted(to_characters: Callable[[Any, Job], str]) -> Callable[[Any, Job], bytes | Bit]:
    """The cast of a value by FORMAT to BLOB or BIT: the characters, encoded."""

    def cast(value: Any, job: Job) -> bytes | Bit:
        if job.clauses.format is None:
            raise job.failure(value, "it needs a FORMAT")
        return _packed(job.encoded(to_characters(value, job)), job)

    return cast


def character_to_string(value: str, job: Job) -> bytes | Bit:
    """A CHARACTER as BLOB or BIT: encoded, or read as the digits of a literal."""
    if job.converts:
        return _packed(job.encoded(value), job)
    found: bytes | Bit = read_literal(job.target.name, value)
    return found


def blob_to_bit(value: bytes, _: Job) -> Bit:
    """A BLOB as a BIT."""
    return as_bits(value)


def integer_to_string(value: int, job: Job) -> bytes | Bit:
    """An INTEGER as its 64 bits, or by FORMAT as encoded characters."""
    if job.clauses.format is not None:
        return _packed(job.encoded(number_to_character(value, job)), job)
    return _packed(value.to_bytes(8, signed=True), job)
