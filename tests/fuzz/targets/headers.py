"""Headers: each MQ header in both byte orders and in several CCSIDs, measured, read, changed and written."""

from __future__ import annotations

from typing import Final

from engine.parser import Header, parser_catalog
from tests.fuzz.target import Target
from tests.fuzz.trees import opened, seen
from tests.parsers.samples import BIG, LITTLE
from tests.parsers.test_hostile_headers import VALID, attempt

_NAMES: Final = tuple(VALID)
_CCSIDS: Final = (819, 500, 1208, 37)


def _attempt(data: bytes) -> None:
    if len(data) < 3:
        return
    name = _NAMES[data[0] % len(_NAMES)]
    encoding, ccsid = (BIG, LITTLE)[data[1] & 1], _CCSIDS[(data[1] >> 1) % len(_CCSIDS)]
    attempt(name, data[2:], encoding, ccsid)


def _any(data: bytes) -> None:
    headers = [parser for parser in map(parser_catalog.find, parser_catalog) if isinstance(parser, Header)]
    if data:
        seen(opened(headers[data[0] % len(headers)], data[1:], 546, 1208))


def _seeds() -> list[bytes]:
    return [
        bytes([number, form]) + make((BIG, LITTLE)[form & 1], _CCSIDS[form >> 1])
        for number, make in enumerate(VALID.values())
        for form in range(0, 8, 3)
        if _CCSIDS[form >> 1] != 37
    ]


TARGETS: Final = (
    Target("headers", _attempt, _seeds, (b"MD  ", b"RFH ", b"\0\0\1\x11", b"<usr>", b"</usr>", b"dt='i4'")),
    Target("any_header", _any, lambda: [bytes([number]) + bytes(64) for number in range(12)]),
)
