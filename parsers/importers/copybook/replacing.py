"""REPLACING: words exchanged for others, as COPY and REPLACE ask."""

from __future__ import annotations

from typing import NamedTuple

from parsers.importers.copybook.findings import Findings
from parsers.importers.copybook.words import Word


class Replacement(NamedTuple):
    """A text to look for and its replacement; `part` is LEADING or TRAILING where a part of a word is meant."""

    wanted: tuple[Word, ...]
    given: tuple[Word, ...]
    part: str = ""


def read_replacing(words: list[Word], at: int, findings: Findings) -> tuple[int, tuple[Replacement, ...]]:
    """The replacements that stand from a place on, and where they end."""
    read: list[Replacement] = []
    while at < len(words) and words[at].text != ".":
        part = words[at].upper if words[at].upper in {"LEADING", "TRAILING"} and _operand_follows(words, at) else ""
        start = words[at]
        at, wanted = _operand(words, at + bool(part), findings)
        if at >= len(words) or words[at].upper != "BY":
            findings.add(start.spot, "REPLACING wants: what is there BY what is to be there", start.text)
            return _sentence_end(words, at), tuple(read)
        at, given = _operand(words, at + 1, findings)
        if not wanted or (part and (len(wanted) != 1 or len(given) > 1)):
            what = f"{part} wants one word BY one word" if part else "REPLACING looks for nothing"
            findings.add(start.spot, what, start.text)
        else:
            read.append(Replacement(wanted, given, part))
        while at < len(words) and words[at].text in {",", ";"}:
            at += 1
    return at, tuple(read)


def _operand_follows(words: list[Word], at: int) -> bool:
    return at + 1 < len(words) and words[at + 1].upper != "BY"


def _sentence_end(words: list[Word], at: int) -> int:
    while at < len(words) and words[at].text != ".":
        at += 1
    return at


def _operand(words: list[Word], at: int, findings: Findings) -> tuple[int, tuple[Word, ...]]:
    """Pseudo-text, a literal, or a name with what is attached to it."""
    if at >= len(words):
        return at, ()
    if words[at].text != "==":
        end = at + 1
        while end < len(words) and words[end].glued and not _separates(words, end):
            end += 1
        return end, tuple(words[at:end])
    for end in range(at + 1, len(words)):
        if words[end].text == "==":
            return end + 1, tuple(word for word in words[at + 1 : end] if not _is_comma(word))
    findings.add(words[at].spot, "the pseudo-text is not closed: == is missing at its end", "==")
    return len(words), ()


def _separates(words: list[Word], at: int) -> bool:
    return words[at].text in {".", ",", ";"} and not (at + 1 < len(words) and words[at + 1].glued)


def _is_comma(word: Word) -> bool:
    return word.text == ";"


def replaced(words: list[Word], replacements: tuple[Replacement, ...]) -> list[Word]:
    """The words with each replacement made where it first fits; what is put in is not looked at again."""
    if not replacements:
        return words
    made: list[Word] = []
    by_first: dict[str, list[Replacement]] = {}
    parts = [replacement for replacement in replacements if replacement.part]
    for replacement in replacements:
        if not replacement.part:
            by_first.setdefault(replacement.wanted[0].upper, []).append(replacement)
    at = 0
    while at < len(words):
        found = next((r for r in by_first.get(words[at].upper, ()) if _fits(words, at, r.wanted)), None)
        if found is None:
            made.append(_part_replaced(words[at], parts))
            at += 1
            continue
        first = words[at]
        for number, given in enumerate(found.given):
            glued, opens = (first.glued, first.opens) if number == 0 else (given.glued, False)
            made.append(given._replace(spot=first.spot, glued=glued, opens=opens))
        at += len(found.wanted)
        if not found.given and at < len(words):
            after = words[at]
            words[at] = after._replace(opens=after.opens or first.opens, glued=after.glued and first.glued)
    return made


def _fits(words: list[Word], at: int, wanted: tuple[Word, ...]) -> bool:
    if at + len(wanted) > len(words):
        return False
    return all(words[at + number].upper == word.upper for number, word in enumerate(wanted))


def _part_replaced(word: Word, parts: list[Replacement]) -> Word:
    if word.kind != "run":
        return word
    for replacement in parts:
        wanted, given = replacement.wanted[0].upper, "".join(word.text for word in replacement.given)
        if replacement.part == "LEADING" and word.upper.startswith(wanted):
            return word._replace(text=given + word.text[len(wanted) :])
        if replacement.part == "TRAILING" and word.upper.endswith(wanted):
            return word._replace(text=word.text[: -len(wanted)] + given)
    return word
