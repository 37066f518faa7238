"""Moments and characters: dates and times by patterns, and text in every CCSID."""

from __future__ import annotations

from typing import Final

from engine.dates.patterns import MomentError
from parsers.charsets import ccsid as characters
from parsers.mrm.dates import DEFAULT_FORMATS, text_of, value_of
from tests.fuzz.target import Target

_KINDS: Final = tuple(DEFAULT_FORMATS)
_EXACT: Final = ("yyyy-MM-dd'T'HH:mm:ss.SSSSSSZZZ", "yyyyMMdd HHmmssSSSSSSZZZU", "yyyy DDD HH:mm:ss.SSSSSSZZZ")


def _moment(data: bytes) -> None:
    kind, whole = _KINDS[data[0] % len(_KINDS)] if data else "date", bool(data[1:2] == b"\1")
    pattern, _, text = data[2:].decode("utf-8", "replace").partition("\n")
    try:
        value = value_of(text, pattern, kind, whole=whole)
        again = text_of(value, pattern, whole=whole)
        second = text_of(value_of(again, pattern, kind, whole=whole), pattern, whole=whole)
        exact = _EXACT[len(data) % len(_EXACT)]
        if kind == "dateTime":
            assert value == value_of(text_of(value, exact), exact, kind).replace(  # type: ignore[call-arg]
                tzinfo=value.tzinfo  # type: ignore[union-attr]
            ), f"{value!r} is not {text_of(value, exact)}"
    except MomentError:
        return
    assert again == second, f"{text!r} by {pattern!r} was written {again!r}, and that {second!r}"


def _text(data: bytes) -> None:
    ccsid = int.from_bytes(data[:2], "big", signed=True)
    text = characters.decode(data[2:], ccsid)
    made = characters.encode(text, ccsid)
    assert text == characters.decode(made, ccsid), f"{data[2:].hex()} in {ccsid} is {text!r}, and that {made.hex()}"


def _seeds() -> list[bytes]:
    patterns = [
        *DEFAULT_FORMATS.values(),
        "I",
        "T",
        "yyyyMMddHHmmssZ",
        "MMdd",
        "DDD",
        "dd MMM yy, h:mma",
        "w YYYY e",
        "kk:mm z",
    ]
    texts = (
        "2003-12-31T24:00:00",
        "20030102101112+0100",
        "0229",
        "12 Jan 03, 3:45pm",
        "2003-01-02Z",
        "10:11:12.345-03:00",
    )
    return [
        bytes([number, number & 1]) + f"{pattern}\n{text}".encode()
        for number, pattern in enumerate(patterns)
        for text in texts
    ]


TARGETS: Final = (
    Target(
        "moments",
        _moment,
        _seeds,
        (b"yyyy", b"MM", b"dd", b"HH", b"ZZZU", b"'", b"+01:00", b"24", b"0229", b"E", b"\n"),
    ),
    Target(
        "ccsids",
        _text,
        lambda: [
            n.to_bytes(2, "big") + b"abc\xc3\xa9\x0e\x42\x43\x0f" for n in (1208, 819, 500, 930, 939, 1200, 943, 1388)
        ],
    ),
)
