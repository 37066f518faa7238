"""Miscellaneous functions: choices, identifiers, waiting, and bytes in base64 and text in URLs."""

from __future__ import annotations

import base64
import binascii
import uuid
from typing import Final
from urllib.parse import quote, unquote_to_bytes

from esql.functions import Blob, Character, Nullable, Numeric, String, arguments, function
from esql.functions.arguments import character, integer
from esql.operators.comparison import equal
from esql.runtime.invocation import Invocation
from esql.values.errors import cast_failure, out_of_range
from esql.values.literals import shown
from esql.values.types import Bit, Value

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


_KEPT: Final = "-_.~"


@function("BASE64ENCODE", grows=True)
def base64_encode(source: String) -> str:
    """Bytes in base64; of a CHARACTER those of its UTF-8, of a BIT those of its BLOB.

    `BASE64ENCODE(X'48656C6C6F') = 'SGVsbG8='`
    `BASE64ENCODE('Hello') = 'SGVsbG8='`
    `BASE64ENCODE(B'01001000') = 'SA=='`
    `BASE64ENCODE(X'') = ''`
    `BASE64ENCODE(B'101') fails S22023`
    `BASE64ENCODE(5) fails S42804`
    `BASE64ENCODE(NULL) IS NULL`
    """
    given = arguments.string("BASE64ENCODE", source)
    if isinstance(given, str):
        given = given.encode("utf-8", "surrogatepass")
    elif isinstance(given, Bit):
        if given.length % 8:
            raise out_of_range("BASE64ENCODE", f"{given.length} bits are no whole number of bytes")
        given = given.number.to_bytes(given.length // 8, "big")
    return base64.b64encode(given).decode("ascii")


@function("BASE64DECODE")
def base64_decode(source: Character) -> bytes:
    """The bytes that stand in base64; line ends and blanks in it do not count.

    `BASE64DECODE('SGVsbG8=') = X'48656C6C6F'`
    `BASE64DECODE('SGVs bG8=') = X'48656C6C6F'`
    `BASE64DECODE('') = X''`
    `BASE64DECODE('SGVsbG8') fails S22023`
    `BASE64DECODE('S?==') fails S22023`
    `BASE64DECODE(NULL) IS NULL`
    """
    text = "".join(character("BASE64DECODE", source).split())
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise out_of_range("BASE64DECODE", f"{text[:20]!r} is not base64: {error}") from error


@function("URLENCODE", grows=True)
def url_encode(source: Character) -> str:
    """Text with each byte of its UTF-8 that RFC 3986 does not let stand in a URL as % and two digits.

    `URLENCODE('Address=Hampshire,United Kingdom') = 'Address%3DHampshire%2CUnited%20Kingdom'`
    `URLENCODE('Hampshire~United') = 'Hampshire~United'`
    `URLENCODE('é') = '%C3%A9'`
    `URLENCODE(5) fails S42804`
    `URLENCODE(NULL) IS NULL`
    """
    return quote(character("URLENCODE", source), safe=_KEPT, errors="surrogatepass")


@function("URLDECODE")
def url_decode(source: Character) -> str:
    """Text from a URL: % and two digits are a byte of UTF-8, + is a blank.

    `URLDECODE('Address%3DHampshire%2CUnited%20Kingdom') = 'Address=Hampshire,United Kingdom'`
    `URLDECODE('United+Kingdom') = 'United Kingdom'`
    `URLDECODE('100%') = '100%'`
    `URLDECODE('%C3%A9') = 'é'`
    `URLDECODE('%FF') fails S22023`
    `URLDECODE(NULL) IS NULL`
    """
    text = character("URLDECODE", source)
    try:
        return unquote_to_bytes(text.replace("+", " ")).decode()
    except UnicodeDecodeError as error:
        raise out_of_range("URLDECODE", f"{text[:40]!r} is not UTF-8: {error.reason}") from error
