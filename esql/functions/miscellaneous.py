"""Miscellaneous functions: choices, identifiers, waiting."""

from __future__ import annotations

import uuid
from typing import Final

from esql.functions import Blob, Character, Nullable, Numeric, function
from esql.functions.arguments import character, integer
from esql.operators.comparison import equal
from esql.runtime.invocation import Invocation
from esql.values.errors import cast_failure, out_of_range
from esql.values.literals import shown
from esql.values.types import Value

_LONGEST_SLEEP: Final = 2**31 - 1


@function("COALESCE")
def coalesce(first: Nullable, second: Nullable, *others: Nullable) -> Value:
    """The first argument that is not NULL.

    `COALESCE(NULL, 'a', 'b') = 'a'`
    `COALESCE(1, NULL) = 1`
    `COALESCE(NULL, NULL) IS NULL`
    `COALESCE(Environment.Order.Missing, 'none') = 'none'`
    """
    return next((value for value in (first, second, *others) if value is not None), None)


@function("NULLIF")
def null_if(first: Nullable, second: Nullable, *, here: Invocation) -> Value:
    """The first argument, but NULL where it is equal to the second.

    `NULLIF(1, 1) IS NULL`
    `NULLIF('a', 'b') = 'a'`
    `NULLIF('a', 'a ') IS NULL`
    `NULLIF(1, NULL) = 1`
    `NULLIF(NULL, 1) IS NULL`
    `NULLIF(1, 1.0) IS NULL`
    `NULLIF(1, TRUE) fails S42804`
    """
    return None if equal(first, second, here.zone) else first


@function("UUIDASCHAR", parentheses="optional")
def uuid_as_character(source: Blob = None) -> str:
    """A new universally unique identifier, or the one that a BLOB holds, as CHARACTER.

    `LENGTH(UUIDASCHAR()) = 36`
    `UUIDASCHAR() <> UUIDASCHAR()`
    `UUIDASCHAR(X'f81d4fae7dec11d0a76500a0c91e6bf6') = 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'`
    `UUIDASCHAR(X'00') fails S22018`
    `UUIDASCHAR(NULL) IS NULL`
    """
    if source is None:
        return str(uuid.uuid4())
    if not isinstance(source, bytes) or len(source) != 16:
        raise cast_failure(shown(source), "BLOB", "a UUID", "a UUID has 16 bytes")
    return str(uuid.UUID(bytes=source))


@function("UUIDASBLOB", parentheses="optional")
def uuid_as_blob(source: Character = None) -> bytes:
    """A new universally unique identifier, or the one that a CHARACTER holds, as BLOB.

    `LENGTH(UUIDASBLOB()) = 16`
    `UUIDASBLOB('f81d4fae-7dec-11d0-a765-00a0c91e6bf6') = X'f81d4fae7dec11d0a76500a0c91e6bf6'`
    `UUIDASBLOB('abc') fails S22018`
    `UUIDASBLOB(NULL) IS NULL`
    """
    if source is None:
        return uuid.uuid4().bytes
    text = character("UUIDASBLOB", source)
    try:
        return uuid.UUID(text).bytes
    except ValueError as error:
        raise cast_failure(
            shown(text), "CHARACTER", "a UUID", "a UUID is written in 32 digits and 4 hyphens"
        ) from error


@function("SLEEP", action=True)
def sleep(milliseconds: Numeric, *, here: Invocation) -> bool:
    """TRUE, after so many thousandths of a second.

    `SLEEP(0)`
    `SLEEP(-1) fails S22023`
    `SLEEP(2147483648) fails S22023`
    `SLEEP(NULL) IS NULL`
    """
    duration = integer("SLEEP", milliseconds)
    if duration < 0:
        raise out_of_range("SLEEP", f"it takes no negative time, as {duration} is")
    if duration > _LONGEST_SLEEP:
        raise out_of_range("SLEEP", f"it takes {_LONGEST_SLEEP} milliseconds at most, not {duration}")
    here.doze(duration / 1000)
    return True
