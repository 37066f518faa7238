"""The words of a copybook: logical lines cut into what COPY REPLACING compares, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from parsers.importers.copybook.findings import Findings, Spot
from parsers.importers.copybook.source import Line

# A literal with its prefix, the mark of pseudo-text, a run of letters, digits and hyphens, any other character.
_WORD: Final = re.compile(
    r"""(?P<comment>(?:(?<=\s)|^)\*>.*)
      | (?P<literal>(?:\b(?:[XNGBZUH]|NX|BX|NC|HX|UX))?(?:'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)))
      | (?P<mark>==)
      | (?P<run>[\w\-]+)
      | (?P<sign>\S)""",
    re.VERBOSE | re.IGNORECASE,
)


class Word(NamedTuple):
    """A piece of text: `kind` is run, literal, mark or sign; `glued` says that no space is before it."""

    text: str
    kind: str
    spot: Spot
    glued: bool = False
    opens: bool = False

    @property
    def upper(self) -> str:
        """The text as names and keywords are compared."""
        return self.text if self.kind == "literal" else self.text.upper()


def words_of(file: str, lines: Iterable[Line], findings: Findings) -> Iterator[Word]:
    """The words of logical lines; a word that opens a line says so."""
    for line in lines:
        text = "".join(piece.text for piece in line.pieces)
        piece, begins, end, opens = 0, 0, -1, True
        for found in _WORD.finditer(text):
            kind = str(found.lastgroup)
            if kind == "comment":
                break
            while found.start() >= begins + len(line.pieces[piece].text):
                begins += len(line.pieces[piece].text)
                piece += 1
            at = line.pieces[piece]
            spot = Spot(file, at.line, at.column + found.start() - begins)
            yield Word(found[0], kind, spot, glued=found.start() == end, opens=opens)
            end, opens = found.end(), False
