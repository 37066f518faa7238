"""Compression of bodies in the store: a body made smaller where that pays, and whole again by the number of its codec.

RLE is zstd at a level that takes the least time. ZLIBFAST writes zlib's format in little time, and looks for runs alone
where a sample says that this leaves less; ZLIBHIGH is zlib's highest level. ANY is RLE where a sample says that this is
nearly as good as ZLIBFAST, which it is otherwise. ISA-L takes about a seventh of the time of zlib for what is written
fast; zlib does it where the machine has none, and RLE looks for runs alone where the machine has no zstd.
"""

from __future__ import annotations

import struct
import zlib
from collections import deque
from collections.abc import Iterable
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from engine.mq.refusals import UNEXPECTED_ERROR, refusal
from engine.mq.store.records import damaged

NONE: Final = "NONE"
PLAIN: Final = 0  # the codec of a body as it is
_RUNS, _FAST, _HIGH, _ZSTD = 1, 2, 3, 4
ZSTD: Final[Any] = import_module("zstandard") if find_spec("zstandard") else None
_RLE: Final = _ZSTD if ZSTD else _RUNS
_CHOICES: Final = {"RLE": (_RLE,), "ZLIBFAST": (_FAST, _RUNS), "ZLIBHIGH": (_HIGH,), "ANY": (_RLE, _FAST)}
_ENOUGH: Final = {"ZLIBFAST": 1.0, "ANY": 1.1}  # the first of two is taken that leaves so much of what the other does
ISAL: Final[Any] = import_module("isal.igzip_lib") if find_spec("isal") else None  # not every machine has a wheel
_BY_ISAL: Final = {_RUNS: (1, 1), _FAST: (2, zlib.MAX_WBITS)}  # ISA-L's level, and the bits of how far back it looks
_LEVELS: Final = {
    _RUNS: (1, zlib.Z_RLE),
    _FAST: (1, zlib.Z_DEFAULT_STRATEGY),
    _HIGH: (9, zlib.Z_DEFAULT_STRATEGY),
}
_SHORTEST: Final = 1_024  # bytes of a body that is tried
_PIECES: Final = 4
_PIECE: Final = 512  # a sample has so many bytes from each of so many places
_PAYS: Final = {"ZLIBHIGH": 0.97}  # of the sample that is left at most
_PAYS_FAST: Final = 0.85  # by other names: to write a little less takes less time than to find it
_ZSTD_LEVEL: Final = -3
_MOST_IDLE: Final = 16  # compressors
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
    if codec not in {*_LEVELS, _ZSTD} or len(data) < _LENGTH.size:
        raise damaged(f"a body has the codec {codec}, which is none")
    (length,) = _LENGTH.unpack_from(data)
    body = (_of_zstd if codec == _ZSTD else _of_zlib)(memoryview(data)[_LENGTH.size :], length)
    if len(body) != length:
        raise damaged(f"a compressed body of {length} bytes has {len(body)}")
    return body


def _of_zlib(data: memoryview, length: int) -> bytes:
    reader = zlib.decompressobj()
    try:
        body = reader.decompress(data, length + 1)
    except zlib.error as error:
        raise damaged(f"a compressed body cannot be read ({error})") from error
    return body if reader.eof else b""


def _of_zstd(data: memoryview, length: int) -> bytes:
    if ZSTD is None:
        raise refusal(UNEXPECTED_ERROR, "a body is compressed by zstd: install the package zstandard to read it")
    try:
        if ZSTD.frame_content_size(data) != length:
            return b""
        body: bytes = ZSTD.ZstdDecompressor().decompress(data, allow_extra_data=False)
    except ZSTD.ZstdError as error:
        raise damaged(f"a compressed body cannot be read ({error})") from error
    return body


def _chosen(body: bytes, name: str) -> int:
    """Returns the codec for a body, by a sample of it where it is long; PLAIN where none pays."""
    codecs = _CHOICES[name]
    sample = body
    if len(body) > 4 * _PIECES * _PIECE:
        step = (len(body) - _PIECE) // (_PIECES - 1)
        sample = b"".join([body[at : at + _PIECE] for at in range(0, _PIECES * step, step)])
    elif name != "ANY":
        return codecs[0]
    sizes = [len(_compressed(codec, sample)) for codec in codecs]
    if min(sizes) > _PAYS.get(name, _PAYS_FAST) * len(sample):
        return PLAIN
    return codecs[0] if sizes[0] <= _ENOUGH.get(name, 1.0) * min(sizes) else codecs[-1]


def _compressed(codec: int, body: bytes) -> bytes:
    data: bytes
    if codec == _ZSTD:
        idle = _idle()
        try:
            own = idle.pop()
        except IndexError:
            own = ZSTD.ZstdCompressor(level=_ZSTD_LEVEL)
        data = own.compress(body)
        idle.append(own)
        return data
    if ISAL is not None and codec in _BY_ISAL:
        level, far = _BY_ISAL[codec]
        data = ISAL.compress(body, level, ISAL.COMP_ZLIB, hist_bits=far)
        return data
    level, strategy = _LEVELS[codec]
    writer = zlib.compressobj(level, zlib.DEFLATED, zlib.MAX_WBITS, _MEMORY, strategy)
    return writer.compress(body) + writer.flush()


@lru_cache(maxsize=1)
def _idle() -> deque[Any]:
    """Returns the compressors that no thread uses now; to make one takes ten times as long as to compress a sample."""
    return deque(maxlen=_MOST_IDLE)
