"""Codecs of bodies in the store: a body compressed where that pays, and whole again by the number of its codec.

RLE is deflate that looks for runs of a byte alone, which takes the least time; ZLIBFAST and ZLIBHIGH are zlib's lowest
and highest level; ANY is RLE where a sample says that this is nearly as good as ZLIBFAST, which it is otherwise.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from typing import Final

from engine.mq.store.records import damaged

NONE: Final = "NONE"
PLAIN: Final = 0  # the codec of a body as it is
_RLE, _FAST, _HIGH = 1, 2, 3
_CHOICES: Final = {"RLE": (_RLE,), "ZLIBFAST": (_FAST,), "ZLIBHIGH": (_HIGH,), "ANY": (_RLE, _FAST)}
_LEVELS: Final = {
    _RLE: (1, zlib.Z_RLE),
    _FAST: (1, zlib.Z_DEFAULT_STRATEGY),
    _HIGH: (9, zlib.Z_DEFAULT_STRATEGY),
}
_SHORTEST: Final = 1_024  # bytes of a body that is tried
_PIECES: Final = 4
_PIECE: Final = 512  # a sample has so many bytes from each of so many places
_PAYS: Final = 0.97  # of the sample that is left at most
_NEARLY: Final = 1.1
_MEMORY: Final = 9  # zlib's most, by which it takes less time and finds more
_LENGTH: Final = struct.Struct(">Q")  # of the body, before what it is compressed to

Packed = dict[int, tuple[int, bytes]]  # the codec of a body and what it is compressed to, by the body's identity


def packed(bodies: Iterable[bytes], name: str) -> Packed:
    """Returns what bodies are compressed to, those for which it pays.

    >>> body = bytes(5_000)
    >>> codec, data = packed([body], "ANY")[id(body)]
    >>> len(data) < 100, unpacked(codec, data) == body, packed([body], "NONE")
    (True, True, {})
    """
    found: Packed = {}
    for body in bodies if name != NONE else ():
        if len(body) >= _SHORTEST and id(body) not in found and (codec := _chosen(body, name)):
            data = _LENGTH.pack(len(body)) + _compressed(codec, body)
            if len(data) < len(body):
                found[id(body)] = codec, data
    return found


def unpacked(codec: int, data: bytes) -> bytes:
    """Returns a body by its codec and what it was compressed to."""
    if codec == PLAIN:
        return data
    if codec not in _LEVELS or len(data) < _LENGTH.size:
        raise damaged(f"a body has the codec {codec}, which is none")
    (length,) = _LENGTH.unpack_from(data)
    reader = zlib.decompressobj()
    try:
        body = reader.decompress(memoryview(data)[_LENGTH.size :], length + 1)
    except zlib.error as error:
        raise damaged(f"a compressed body cannot be read ({error})") from error
    if len(body) != length or not reader.eof:
        raise damaged(f"a compressed body of {length} bytes has {len(body)}")
    return body


def _chosen(body: bytes, name: str) -> int:
    """Returns the codec for a body, by a sample of it where it is long; PLAIN where none pays."""
    codecs = _CHOICES[name]
    sample = body
    if len(body) > 4 * _PIECES * _PIECE:
        step = (len(body) - _PIECE) // (_PIECES - 1)
        sample = b"".join([body[at : at + _PIECE] for at in range(0, _PIECES * step, step)])
    elif len(codecs) == 1:
        return codecs[0]
    sizes = [len(_compressed(codec, sample)) for codec in codecs]
    if min(sizes) > _PAYS * len(sample):
        return PLAIN
    return codecs[0] if sizes[0] <= _NEARLY * min(sizes) else codecs[-1]


def _compressed(codec: int, body: bytes) -> bytes:
    level, strategy = _LEVELS[codec]
    writer = zlib.compressobj(level, zlib.DEFLATED, zlib.MAX_WBITS, _MEMORY, strategy)
    return writer.compress(body) + writer.flush()
