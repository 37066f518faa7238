"""Conversion: a message's text and headers in another CCSID and encoding, as a get with MQGMO_CONVERT has them."""

from __future__ import annotations

from typing import Final

from engine.descriptor import Descriptor
from engine.errors import BrokerError, ConversionException
from engine.message.received import Part, Received, part_element
from engine.parser import Follow, Form, Header, conversion_catalog
from parsers.charsets.ccsid import codec, decode, encode, inherited, is_ebcdic

TEXT: Final = "MQSTR"
NOT_CONVERTED: Final = 2119  # MQRC_NOT_CONVERTED


@conversion_catalog.register("get")
def converted(descriptor: Descriptor, body: bytes, encoding: int, ccsid: int) -> tuple[Descriptor, bytes]:
    r"""The message in this encoding and CCSID; one of a format that cannot be converted is a ConversionException.

    >>> converted(Descriptor(format="MQSTR", coded_char_set_id=500), b"\xc1", 546, 1208)[1]
    b'A'
    """
    codec(ccsid)
    if (encoding, ccsid) == (descriptor.encoding, descriptor.coded_char_set_id):
        return descriptor, body
    try:
        parts = Received(descriptor, body).parts[2:]
        follows = [*(part.portion.follow for part in parts[1:]), None]
        pieces = [_converted(part, after, encoding, ccsid) for part, after in zip(parts, follows, strict=True)]
    except BrokerError as error:
        text = f"a message of format {descriptor.format!r} cannot be converted to CCSID {ccsid}: {error.text}"
        raise ConversionException(NOT_CONVERTED, text, descriptor.format) from error
    return descriptor._replace(encoding=encoding, coded_char_set_id=ccsid), b"".join(pieces)


def _converted(part: Part, after: Follow | None, encoding: int, ccsid: int) -> bytes:
    portion, parser = part.portion, part.parser
    if isinstance(parser, Header):
        announces = None if after is None else after._replace(encoding=encoding, ccsid=ccsid, template=None)
        return parser.write(part_element(part), Form(encoding, ccsid, next=announces))
    if portion.follow.format.strip() == TEXT:
        before = inherited(portion.follow.ccsid, ccsid)
        text = decode(portion.bytes, before, portion.follow.encoding)
        if is_ebcdic(before) and not is_ebcdic(ccsid):
            text = text.replace("\x85", "\n")  # NL_TO_LF, which queue managers do unless they are told otherwise
        return encode(text, ccsid, encoding)
    if not portion.bytes:
        return b""
    raise ConversionException(NOT_CONVERTED, f"bytes of format {portion.follow.format!r} are not known to be text")
