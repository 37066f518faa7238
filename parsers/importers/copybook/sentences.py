"""Tokens to sentences: one for each entry, ended by its period or by the entry that begins without one."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.importers.copybook.findings import Findings
from parsers.importers.copybook.words import Word


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
    """Whether a number that opens a line may belong to the clause before it, as values on lines of their own do."""
    last = sentence[-1]
    return last.upper in {"VALUE", "VALUES", "IS", "ARE", "THRU", "THROUGH", "OCCURS", "TO"} or any(
        word.upper in {"VALUE", "VALUES"} for word in sentence
    )


def _unended(sentence: list[Word], findings: Findings) -> None:
    last = sentence[-1]
    name = sentence[1].text if len(sentence) > 1 else sentence[0].text
    findings.add(last.spot, f"{name} is not ended by a period", last.text)
