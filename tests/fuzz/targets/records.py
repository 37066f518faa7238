"""Records: copybooks as text, and files of records by copybooks, to JSON lines and back."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any, Final

from parsers.importers.copybook import read_text
from parsers.importers.copybook.message_set import ImportOptions, message_set_of
from parsers.records.framing import RECORD_FORMATS, Cut, Framing
from parsers.records.json_fields import coding_of, from_json, to_json
from parsers.records.record_file import Choices, RecordFile, record_file
from tests.fuzz.target import Target

_BOOKS: Final = (
    "01 R. 05 N PIC 9(2). 05 T PIC X(3) OCCURS 0 TO 99 DEPENDING ON N. 05 Z PIC S9(3)V99 COMP-3.",
    "01 R. 05 A PIC S9(4) COMP. 05 B PIC S9(3) SIGN LEADING SEPARATE. 05 SIGNS REDEFINES B PIC X(4). 05 D COMP-2.",
    "01 R. 05 N PIC 9(8). 05 M PIC 9. 05 T OCCURS 0 TO 99999999 DEPENDING ON N."
    " 10 X PIC X OCCURS 0 TO 9 DEPENDING ON M.",
    "01 R. 05 A PIC ZZ9.99-. 05 B PIC N(2). 05 C PIC X(4) JUST RIGHT. 05 D PIC 9(3) BLANK WHEN ZERO. 05 E POINTER.",
    "01 R. 05 A PIC S9(9) COMP-5 SYNC. 05 G OCCURS 2. 10 B PIC SP9. 10 C PIC 9P. 05 F COMP-1. 05 FILLER PIC X.",
)
_SIGNS: Final = "SIGNS"  # a text over a number: it shows which of the signs with the same meaning are written
_MORE: Final = (
    "REPLACE ALSO ==A== BY ==B==. 01 A. 05 B PIC X VALUE 'x''y'. 66 C RENAMES B. 88 D VALUE 1 THRU 2. 78 E VALUE 3.",
    "       01  R.\n      *  comment\n           COPY X REPLACING ==:A:== BY ==B==.\n      -    'a'\n",
)
_WORDS: Final = (
    *(b" PIC ", b"X(3)", b"S9(5)V99", b" COMP-3", b" OCCURS 3", b" DEPENDING ON N", b" REDEFINES A", b" VALUE ", b"."),
    *(
        b"COPY X.",
        b"REPLACE ALSO",
        b"REPLACING",
        b"==",
        b" BY ",
        b"EXEC SQL",
        b"END-EXEC",
        b"\n       ",
        b"01 ",
        b"05 ",
    ),
)
_CCSIDS: Final = (819, 37, 1208, 500)
_FOLDER: Final = Path(__file__).resolve().parents[2] / "problems" / "copybooks"


def _copybook(data: bytes) -> None:
    book = read_text("fuzz/none/c.cpy", data.decode("latin-1"))
    message_set_of("S", [book], ImportOptions())


def _records(data: bytes) -> None:
    if len(data) < 3:
        return
    book, coding = read_text("c.cpy", _BOOKS[data[0] % len(_BOOKS)]), coding_of(_CCSIDS[data[1] % len(_CCSIDS)])
    framing = Framing(RECORD_FORMATS[data[2] % 4])  # type: ignore[arg-type]
    kind = record_file(book, framing, coding, Choices())
    for cut in kind.cut(BytesIO(data[3:])):
        value = kind.decode(cut)
        once = _written_and_read(kind, cut, value)
        twice = _written_and_read(kind, cut, once)
        assert _shown(value) == _shown(once), f"{value!r:.500} became {once!r:.500}"
        assert to_json(once) == to_json(twice), f"{once!r:.500} became {twice!r:.500}"


def _written_and_read(kind: RecordFile, cut: Cut, value: Any) -> Any:
    line = from_json(to_json(value), 1)
    return kind.decode(cut._replace(data=kind.encode(line, cut.number)))


def _shown(value: Any) -> str:
    return to_json({name: each for name, each in value.items() if name != _SIGNS})


def _lines(data: bytes) -> None:
    value = from_json(data.decode("utf-8", "replace"), 1)
    assert to_json(value) == to_json(from_json(to_json(value), 1))


def _record_seeds() -> list[bytes]:
    texts = (
        b"02abcdef\x12\x34\x5c",
        b"\0\7-123\0\0\0\0\0\0\0\0",
        b"999999990",
        b" 12.50-\0a\0b abc   \0\0\0\0",
        bytes(24),
    )
    return [bytes([book, ccsid, form]) + text for book, text in enumerate(texts) for ccsid in (0, 1) for form in (0, 1)]


def _copybook_seeds() -> list[bytes]:
    problems = [path.read_bytes()[:3000] for path in sorted(_FOLDER.glob("*.cpy"))]
    return [*(text.encode() for text in (*_BOOKS, *_MORE)), *problems]


TARGETS: Final = (
    Target("copybook", _copybook, _copybook_seeds, _WORDS),
    Target("records", _records, _record_seeds, (b"\x0c", b"\x0d", b"+", b"-", b" ", b"\0\x0a\0\0")),
    Target(
        "json_lines", _lines, lambda: [b'{"a": 1.50, "b": [null, "x"], "c": {"d": NaN}}'], (b'"a":', b"1e9", b"[", b"]")
    ),
)
