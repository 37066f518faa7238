"""Encoding functions: bytes as base64 and text in URLs, and back."""

from __future__ import annotations

import base64
import binascii
from typing import Final
from urllib.parse import quote, unquote_to_bytes

from esql.functions import Character, String, arguments, function
from esql.functions.arguments import character
from esql.values.errors import out_of_range
from esql.values.types import Bit

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
