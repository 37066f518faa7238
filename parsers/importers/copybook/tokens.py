"""Words, tokens and sentences of a copybook: logical lines cut into words, words put together, entries told apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from parsers.importers.copybook.source import Findings, Line, Spot


def sentences(tokens: Iterator[Word], findings: Findings) -> Iterator[list[Word]]:
    """The tokens of each sentence; one that lacks its period ends where the next level number opens a line."""
    sentence: list[Word] = []
    for token in tokens:
        if token.text == ".":
            if sentence:
                yield sentence
            sentence = []
        else:
            if sentence and token.opens and _begins_entry(token) and not _expects_number(sentence):
                _unended(sentence, findings)
                yield sentence
                sentence = []
            sentence.append(token)
    if sentence:
        _unended(sentence, findings)
        yield sentence


def _begins_entry(token: Word) -> bool:
    return token.kind == "run" and token.text.isdecimal() and len(token.text) <= 2


def _expects_number(sentence: list[Word]) -> bool:
    """Returns True where a number that opens a line may belong to the clause before it, as values do."""
    last = sentence[-1]
    return last.upper in {"VALUE", "VALUES", "IS", "ARE", "THRU", "THROUGH", "OCCURS", "TO"} or any(
        word.upper in {"VALUE", "VALUES"} for word in sentence
    )


def _unended(sentence: list[Word], findings: Findings) -> None:
    last = sentence[-1]
    name = sentence[1].text if len(sentence) > 1 else sentence[0].text
    findings.add(last.spot, f"{name} is not ended by a period", last.text)


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
        text = "".join(piece.text for piece in line)
        piece, begins, end, opens = 0, 0, -1, True
        for found in _WORD.finditer(text):
            kind = str(found.lastgroup)
            if kind == "comment":
                break
            while found.start() >= begins + len(line[piece].text):
                begins += len(line[piece].text)
                piece += 1
            at = line[piece]
            spot = Spot(file, at.line, at.column + found.start() - begins)
            yield Word(found[0], kind, spot, glued=found.start() == end, opens=opens)
            end, opens = found.end(), False


_SEPARATORS: Final = frozenset({".", ",", ";"})
_NATIONAL_MARKS: Final = frozenset("#@$")
_PICTURE: Final = frozenset({"PIC", "PICTURE"})


def tokens_of(words: Sequence[Word]) -> Iterator[Word]:
    """Names, numbers, literals, signs and picture strings; a period is a token where it ends a sentence.

    A separator comma or semicolon means nothing and is left out.
    """
    at, picture = 0, False
    while at < len(words):
        end = at + 1
        while end < len(words) and words[end].glued:
            end += 1
        chunk = words[at:end]
        at = end
        if picture and chunk[0].upper != "IS":
            yield from _picture(chunk)
            picture = False
            continue
        if not picture or len(chunk) > 1:
            yield from _split(chunk)
        picture = chunk[-1].upper in _PICTURE or (picture and len(chunk) == 1)


def _picture(chunk: Sequence[Word]) -> Iterator[Word]:
    body = list(chunk)
    tail: list[Word] = []
    while len(body) > 1 and body[-1].text in _SEPARATORS:
        tail.insert(0, body.pop())
    yield body[0]._replace(text="".join(word.text for word in body), kind="picture")
    yield from (word for word in tail if word.text == ".")


def _split(chunk: Sequence[Word]) -> Iterator[Word]:
    """The tokens of words that stand together: a sign and the parts of a number are one."""
    chunk = _with_whole_names(chunk)
    number: list[Word] = []
    last = len(chunk) - 1
    for at, word in enumerate(chunk):
        if _continues(number, word, chunk[at + 1] if at < last else None):
            number.append(word)
            continue
        if number:
            yield _joined(number)
            number = []
        if word.text in {",", ";"}:
            continue
        if word.text in {"+", "-"} or _is_number(word):
            number = [word]
        else:
            yield word
    if number:
        yield _joined(number)


def _with_whole_names(chunk: Sequence[Word]) -> list[Word]:
    """The words with runs put together that REPLACING has set side by side, and with the marks that stand in names."""
    whole: list[Word] = []
    for word in (word._replace(kind="run") if word.text in _NATIONAL_MARKS else word for word in chunk):
        if whole and word.kind == whole[-1].kind == "run":
            whole[-1] = whole[-1]._replace(text=whole[-1].text + word.text)
        else:
            whole.append(word)
    return whole


def _continues(number: list[Word], word: Word, after: Word | None) -> bool:
    """Returns whether a word goes on with the number before it: digits, or a decimal point with digits behind it."""
    if word.text in {".", ","}:
        return after is not None and after.text[:1].isdecimal()
    if not number:
        return False
    if number[-1].text in {"+", ".", ","}:
        return word.text[:1].isdecimal() or word.text in {".", ","}
    return False


def _is_number(word: Word) -> bool:
    return word.kind == "run" and word.text.lstrip("-").isdecimal()


def _joined(number: list[Word]) -> Word:
    return number[0]._replace(text="".join(word.text for word in number))


class ClauseError(Exception):
    """A clause that cannot be read, at a word."""

    def __init__(self, word: Word, text: str) -> None:
        super().__init__(text)
        self.word = word
        self.text = text


@dataclass(slots=True)
class Cursor:
    """Words, and the place in them that reading has come to."""

    tokens: list[Word]
    at: int = 0

    def peek(self, ahead: int = 0) -> str:
        """The next token as keywords are compared, empty at the end."""
        at = self.at + ahead
        return self.tokens[at].upper if at < len(self.tokens) else ""

    def accept(self, *words: str) -> bool:
        """Go past the next token where it is one of these."""
        if self.peek() in words:
            self.at += 1
            return True
        return False

    def skip_to(self, word: str) -> None:
        """Go on to the next token that is this one, or to the end."""
        while self.peek() not in {"", word}:
            self.at += 1


@dataclass(slots=True)
class Sentence(Cursor):
    """The tokens of one entry, up to its period."""

    constants: dict[str, int] = field(default_factory=dict)

    def next(self, wanted: str) -> Word:
        """The next token; `wanted` says what should be there."""
        if self.at >= len(self.tokens):
            raise ClauseError(self.tokens[-1], f"ends where {wanted} should follow")
        self.at += 1
        return self.tokens[self.at - 1]

    def integer(self, wanted: str) -> int:
        """A number, or the name of a constant."""
        word = self.next(wanted)
        if word.upper in self.constants:
            return self.constants[word.upper]
        if not word.text.isdecimal() or len(word.text) > 12:
            raise ClauseError(word, f"has {word.text} where {wanted} should be")
        return int(word.text)
