"""The text of a copybook as logical lines, by the options of its compiler; positions in it, and what is wrong there.

Columns, indicators, comments, directives and continuation are done with in a logical line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from engine.errors import Place, Problem, marked

SourceFormat: TypeAlias = Literal["auto", "fixed", "free", "variable"]
BinarySize: TypeAlias = Literal["2-4-8", "1-2-4-8", "1--8"]

SOURCE_FORMATS: Final[tuple[str, ...]] = get_args(SourceFormat)
BINARY_SIZES: Final[tuple[str, ...]] = get_args(BinarySize)


@dataclass(frozen=True, slots=True)
class Dialect:
    """The options of a compiler that change how a copybook is read or its records are laid out.

    `binary_size` are the bytes that COMP items take by their digits, `lp` the bits of pointers, `folders` where
    COPY looks beside the copybook's own folder, `allowed` where links in these folders may lead.
    """

    source_format: SourceFormat = "auto"
    folders: tuple[Path, ...] = ()
    decimal_point_is_comma: bool = False
    currency: str = "$"
    binary_size: BinarySize = "2-4-8"
    lp: Literal[32, 64] = 32
    debugging: bool = False
    allowed: tuple[Path, ...] = ()


IBM: Final = Dialect()

UNFIT: Final = 2066
MOST: Final = 200


LAST_COLUMN: Final = 72
INDICATORS: Final = " *-/dD$"
LONGEST_LINE: Final = 65_536

_LEVEL_FIRST: Final = re.compile(r"\s{0,5}(?:\d{1,2}\s+[\w(:$#@.'\"]|COPY\s|REPLACE\s)", re.I)
_ENTRY: Final = re.compile(r"\s*\d{1,2}\s")
_FREE: Final = re.compile(
    r"(?:\s*>>\s*SOURCE\s+(?:FORMAT\s+)?(?:IS\s+)?|.{0,6}\s*\$\s*SET\s+SOURCEFORMAT\s*\(?\s*[\"']?)(\w+)", re.I
)
_SKIPPED: Final = re.compile(
    r"\s*(?:(?:EJECT|SKIP[123])\s*\.?|TITLE\s+(?:'.*'|\".*\")\s*\.?|(?:CBL|PROCESS)\s.*|[*$]\s*SET\s.*)\s*$", re.I
)
_CONDITIONAL: Final = re.compile(r"\s*(?:>>|\$)\s*(IF|ELSE|ELIF|ELSE-IF|END-IF|END|EVALUATE|WHEN|END-EVALUATE)\b", re.I)
_UTF_16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_INCLUDE: Final = re.compile(r".{0,6}\s*(?:\+\+INCLUDE|-INC)\s+([\w$#@-]+)", re.I)


class Spot(NamedTuple):
    """A position in a copybook; lines and columns count from 1."""

    file: str
    line: int
    column: int = 0


@dataclass(slots=True)
class Findings:
    """The problems of one reading; `lines` are those of each file that was read, `cut` those not read to their end."""

    lines: dict[str, tuple[str, ...]] = field(default_factory=dict)
    cut: set[tuple[str, int]] = field(default_factory=set)
    found: dict[Problem, None] = field(default_factory=dict)

    def add(self, spot: Spot, text: str, about: str = "") -> None:
        """Note a problem where it stands; `about` is the word of the line to mark."""
        if len(self.found) >= MOST:
            return
        lines = self.lines.get(spot.file, ())
        line = lines[spot.line - 1] if 0 < spot.line <= len(lines) else ""
        if (spot.file, spot.line) in self.cut:
            text += "; of this line columns 73 and on are not read, but in the source format variable"
        place = Place(file=spot.file, line=spot.line, column=max(1, spot.column))
        self.found[marked(place, text, about, UNFIT, line)] = None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All problems, in the order of their places."""
        return tuple(sorted(self.found))


class Piece(NamedTuple):
    """A part of a logical line, and where it stands in its file."""

    text: str
    line: int
    column: int


Line: TypeAlias = tuple[Piece, ...]  # a logical line: the pieces of a physical line and of those that continue it


def text_of(data: bytes) -> str:
    r"""The text of a copybook's bytes: UTF-8, UTF-16 where its mark is at the beginning, or else one character a byte.

    >>> text_of(b"\xef\xbb\xbf01 A."), text_of(b"* caf\xe9")
    ('01 A.', '* café')
    """
    try:
        return data.decode("utf-16" if data[:2] in _UTF_16_MARKS else "utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def lines_of(file: str, text: str, dialect: Dialect, findings: Findings) -> Iterator[Line]:
    """The logical lines of a copybook."""
    physical = tuple(line.rstrip("\x00\x1a") for line in re.split(r"\r\n|[\n\r\f]", text))
    findings.lines[file] = physical
    form = format_of(physical) if dialect.source_format == "auto" else dialect.source_format
    pieces: list[Piece] = []
    quote = ""
    for number, raw in enumerate(physical, 1):
        found = _FREE.match(raw)
        if found:
            form = _named(found[1], form)
            continue
        read = _statement(Spot(file, number), raw, form, dialect, findings)
        if read is None:
            continue
        continued, piece = read
        if continued and pieces:
            quote = _continue(Spot(file, number, piece.column), pieces, piece, quote, findings)
            continue
        if pieces:
            _close(file, pieces, quote, findings)
            yield tuple(pieces)
        pieces, quote = [piece], _open_quote(piece.text, "")
    if pieces:
        _close(file, pieces, quote, findings)
        yield tuple(pieces)


def format_of(lines: tuple[str, ...]) -> str:
    """The source format that lines look as if they were in: free if text stands where fixed has its margin.

    >>> format_of(("000100 01  A.", "000200     05 B PIC X.")), format_of(("01 A.", "  05 B PIC X."))
    ('fixed', 'free')
    """
    free = False
    for raw in lines:
        line = raw.expandtabs(8)
        if not line.strip() or line.lstrip().startswith(("*", ">>")):
            continue
        margin, indicator, entry = line[:6].strip(), line[6:7] or " ", _ENTRY.match(line[7:LAST_COLUMN])
        if margin and (indicator not in INDICATORS or (_LEVEL_FIRST.match(line) and not entry)):
            free = True
        elif margin and entry:
            return "fixed"
    return "free" if free else "fixed"


def _named(word: str, form: str) -> str:
    word = word.lower()
    return word if word in {"free", "fixed", "variable"} else form


def _statement(spot: Spot, raw: str, form: str, dialect: Dialect, findings: Findings) -> tuple[bool, Piece] | None:
    """Returns what a physical line says, and whether it continues the one before; None where it says nothing."""
    if len(raw) > LONGEST_LINE:
        findings.add(spot, f"the line has {len(raw)} characters: at most {LONGEST_LINE} can be read")
        return None
    line = raw.expandtabs(8)
    include = _INCLUDE.match(line)
    if include:
        return False, Piece(f"COPY {include[1]}.", spot.line, include.start(1) + 1)
    free = False, Piece(line, spot.line, 1)
    continued, piece = free if form == "free" else _fixed(spot, line, form, dialect, findings)
    text = piece.text
    if not text.strip() or text.lstrip().startswith(("*", "/")) or _SKIPPED.match(text):
        return None
    conditional = _CONDITIONAL.match(text)
    if conditional:
        findings.add(
            spot, f"{conditional[1].upper()} is conditional compilation, which is not evaluated: leave one of the ways"
        )
    return None if text.lstrip().startswith((">>", "$")) and not continued else (continued, piece)


def _fixed(spot: Spot, line: str, form: str, dialect: Dialect, findings: Findings) -> tuple[bool, Piece]:
    """A line of fixed columns; what has no column for indicators begins where its text does."""
    indicator, end = line[6:7] or " ", LAST_COLUMN if form == "fixed" else len(line)
    if indicator in "*/$" or (indicator in "dD" and not dialect.debugging):
        return False, Piece("", spot.line, 7)
    if indicator in INDICATORS:
        text = line[7:end]
        if line[end:].strip():
            findings.cut.add((spot.file, spot.line))
        return indicator == "-", Piece(text.ljust(end - 7) if form == "fixed" else text, spot.line, 8)
    if not line[:6].strip() or line.lstrip().startswith((">>", "*")):
        start = len(line) - len(line.lstrip())
        return False, Piece(line[start:end], spot.line, start + 1)
    findings.add(
        Spot(spot.file, spot.line, 7),
        f"column 7 holds {indicator!r}, which is no indicator: indent the line to column 8, or read it as free format",
        indicator,
    )
    return False, Piece("", spot.line, 7)


def _continue(spot: Spot, pieces: list[Piece], piece: Piece, quote: str, findings: Findings) -> str:
    """Add a continuation line; answers with the quote of the literal that it leaves open."""
    text = piece.text.lstrip()
    column = piece.column + len(piece.text) - len(text)
    if quote:
        if not text.startswith(quote):
            findings.add(spot, f"the continued literal goes on without {quote}: begin it with the quote it opened with")
            return ""
        text, column = text[1:], column + 1
    else:
        last = pieces[-1]
        pieces[-1] = last._replace(text=last.text.rstrip())
    pieces.append(Piece(text, piece.line, column))
    return _open_quote(text, quote)


def _open_quote(text: str, quote: str) -> str:
    """The quote of the literal that is open at the end of a text, none where none is."""
    for at, character in enumerate(text):
        if quote:
            if character == quote:
                quote = ""
        elif character in "'\"":
            quote = character
        elif character == "*" and text[at : at + 2] == "*>" and (at == 0 or text[at - 1].isspace()):
            return ""
    return quote


def _close(file: str, pieces: list[Piece], quote: str, findings: Findings) -> None:
    if quote:
        last = pieces[-1]
        column = last.column + last.text.rfind(quote)
        findings.add(Spot(file, last.line, column), f"the literal is not closed: {quote} is missing at its end")
