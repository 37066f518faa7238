"""COPY, REPLACE and EXEC: the words of a copybook with everything put in, exchanged and taken out that they ask for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from engine.files.allowed_folders import is_within
from parsers.importers.copybook.source import Dialect, Findings, lines_of, text_of
from parsers.importers.copybook.tokens import Cursor, Word, words_of


class Replacement(NamedTuple):
    """A text to look for and its replacement; `part` is LEADING or TRAILING where a part of a word is meant."""

    wanted: tuple[Word, ...]
    given: tuple[Word, ...]
    part: str = ""


def read_replacing(words: Cursor, findings: Findings) -> tuple[Replacement, ...]:
    """The replacements that follow, up to a period."""
    read: list[Replacement] = []
    while words.peek() not in {"", "."}:
        start = words.tokens[words.at]
        part = start.upper if start.upper in {"LEADING", "TRAILING"} and words.peek(1) not in {"", "BY"} else ""
        words.at += bool(part)
        wanted = _operand(words, findings)
        if not words.accept("BY"):
            findings.add(start.spot, "REPLACING wants: what is there BY what is to be there", start.text)
            words.skip_to(".")
            break
        given = _operand(words, findings)
        if not wanted or (part and (len(wanted) != 1 or len(given) > 1)):
            what = f"{part} wants one word BY one word" if part else "REPLACING looks for nothing"
            findings.add(start.spot, what, start.text)
        else:
            read.append(Replacement(wanted, given, part))
        while words.accept(",", ";"):
            pass
    return tuple(read)


def _operand(words: Cursor, findings: Findings) -> tuple[Word, ...]:
    """Pseudo-text, a literal, or a name with what is attached to it."""
    start = words.at
    if not words.accept("=="):
        return _attached(words, {".", ",", ";"})
    words.skip_to("==")
    if not words.accept("=="):
        findings.add(words.tokens[start].spot, "the pseudo-text is not closed: == is missing at its end", "==")
        return ()
    return tuple(word for word in words.tokens[start + 1 : words.at - 1] if word.text != ";")


def _attached(words: Cursor, marks: set[str]) -> tuple[Word, ...]:
    """The next word with all that is attached to it, up to one of some marks to which nothing is attached."""
    start, tokens = words.at, words.tokens
    words.at = min(start + 1, len(tokens))
    while words.at < len(tokens) and tokens[words.at].glued:
        ends = words.at + 1 == len(tokens) or not tokens[words.at + 1].glued
        if ends and tokens[words.at].text in marks:
            break
        words.at += 1
    return tuple(tokens[start : words.at])


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


DEEPEST: Final = 32
MOST_WORDS: Final = 300_000
LARGEST_FILE: Final = 64 * 1024 * 1024
EXTENSIONS: Final = ("", ".cpy", ".cbl", ".cob", ".copy", ".cobol", ".inc", ".txt")


@dataclass(slots=True)
class _Reading:
    """One reading of a copybook with all that it copies."""

    dialect: Dialect
    findings: Findings
    words: int = 0
    full: bool = False
    read: dict[Path, list[Word]] = field(default_factory=dict)

    def file_words(self, file: Path, statement: Word, open_files: tuple[Path, ...]) -> list[Word]:
        """The words of a file, its COPY and EXEC statements carried out; each file is read once."""
        known = self.read.get(file)
        if known is None:
            text, before = text_of(file.read_bytes()), len(self.findings.found)
            known = self.carried_out(str(file), text, open_files)
            if len(self.findings.found) == before:
                self.read[file] = known
        else:
            self.count(statement, len(known))
        return list(known)

    def carried_out(self, name: str, text: str, open_files: tuple[Path, ...]) -> list[Word]:
        words = Cursor(list(words_of(name, lines_of(name, text, self.dialect, self.findings), self.findings)))
        made: list[Word] = []
        while words.at < len(words.tokens) and not self.full:
            word = words.tokens[words.at]
            if word.kind == "run" and word.upper == "COPY" and _names_text(words.tokens, words.at):
                made += self.copy(words, open_files)
            elif word.kind == "run" and word.upper in {"EXEC", "EXECUTE"} and not word.glued:
                self.skip_exec(words)
            else:
                made.append(word)
                self.count(word, 1)
                words.at += 1
        return made

    def count(self, word: Word, more: int) -> None:
        """Stop where copies of copies come to more than any copybook has."""
        self.words += more
        if self.words > MOST_WORDS and not self.full:
            self.full = True
            self.findings.add(word.spot, f"with all that it copies there are more than {MOST_WORDS:,} words")

    def skip_exec(self, words: Cursor) -> None:
        """Leave out a statement of another language."""
        statement = words.tokens[words.at]
        words.skip_to("END-EXEC")
        if words.accept("END-EXEC"):
            words.accept(".")
        else:
            self.findings.add(statement.spot, "EXEC has no END-EXEC", statement.text)

    def copy(self, words: Cursor, open_files: tuple[Path, ...]) -> list[Word]:
        """The words of what a COPY statement names."""
        statement = words.tokens[words.at]
        words.at += 1
        name = _joined(words)
        library = _joined(words) if words.peek(1) and words.accept("OF", "IN") else ""
        words.accept("SUPPRESS", "LIST", "NOLIST")
        replacements = read_replacing(words, self.findings) if words.accept("REPLACING") else ()
        words.accept(".")
        found = self.find(statement, name, library, open_files)
        return [] if found is None else replaced(self.file_words(found, statement, (*open_files, found)), replacements)

    def find(self, word: Word, name: str, library: str, open_files: tuple[Path, ...]) -> Path | None:
        """The file that a name stands for, or None where it may not be put in."""
        here = Path(word.spot.file).parent
        found = find_text((here, *self.dialect.folders), name, library)
        if found is None:
            searched = ", ".join(str(folder) for folder in dict.fromkeys((here, *self.dialect.folders)))
            self.findings.add(word.spot, f"COPY finds no {name} in {searched}; name its folder with --copybooks", name)
        elif found.resolve() in {file.resolve() for file in open_files}:
            way = " copies ".join(str(file) for file in (*open_files, found))
            self.findings.add(word.spot, f"COPY goes in a circle: {way}", name)
        elif len(open_files) >= DEEPEST:
            self.findings.add(word.spot, f"COPY goes deeper than {DEEPEST} files", name)
        elif not is_within(found, (here, *self.dialect.folders, *self.dialect.allowed)):
            text = f"{found} leads to a file outside the folders of copybooks"
            self.findings.add(word.spot, f"{text}: allow its folder with --allow-files, or copy it here", name)
        elif found.stat().st_size > LARGEST_FILE:
            self.findings.add(word.spot, f"{found} has more than {LARGEST_FILE:,} bytes", name)
        else:
            return found
        return None


def read_words(file: str, text: str, dialect: Dialect, findings: Findings) -> list[Word]:
    """The words of a copybook, COPY, REPLACE and EXEC done with."""
    reading = _Reading(dialect, findings)
    words = reading.carried_out(file, text, (Path(file),))
    return [] if reading.full else list(_replace_statements(words, findings))


def find_text(folders: tuple[Path, ...], name: str, library: str) -> Path | None:
    """The file of a text name in the first folder that has it, whatever the case of its letters and its extension.

    A name does not lead out of the folders: it is data of a copybook.
    """
    wanted = name.strip("'\"").replace("\\", "/")
    parts = [part for part in (library.strip("'\"") + "/" + wanted).split("/") if part not in {"", "."}]
    if not parts or ".." in parts:
        return None
    for folder in folders:
        for path in dict.fromkeys((tuple(parts), tuple(parts[1:]) if library else tuple(parts))):
            found = _in_folder(folder, path)
            if found is not None:
                return found
    return None


def _in_folder(folder: Path, parts: tuple[str, ...]) -> Path | None:
    at = folder
    for part in parts[:-1]:
        inner = _named(at, (part.lower(),))
        if inner is None or not inner.is_dir():
            return None
        at = inner
    found = _named(at, tuple(parts[-1].lower() + extension for extension in EXTENSIONS))
    return found if found is not None and found.is_file() else None


def _named(folder: Path, names: tuple[str, ...]) -> Path | None:
    """The entry of a folder that has the first of some names, in any case."""
    if not folder.is_dir():
        return None
    entries = {entry.name.lower(): entry for entry in sorted(folder.iterdir(), reverse=True) if not entry.is_dir()}
    entries |= {entry.name.lower(): entry for entry in folder.iterdir() if entry.is_dir() and len(names) == 1}
    return next((entries[name] for name in names if name in entries), None)


def _names_text(words: list[Word], at: int) -> bool:
    """Returns whether a word COPY is the statement: it stands where a sentence or a line begins, and a name follows."""
    before = words[at - 1] if at else None
    begins = before is None or before.text == "." or words[at].opens
    after = words[at + 1] if at + 1 < len(words) else None
    return after is not None and after.kind in {"run", "literal"} and (begins or not _is_level(before))


def _is_level(word: Word | None) -> bool:
    return word is not None and word.text.isdecimal() and len(word.text) <= 2


def _joined(words: Cursor) -> str:
    """A name made of pieces without a space between them, such as a file name with its extension."""
    return "".join(word.text for word in _attached(words, {".", ","}))


def _replace_statements(tokens: list[Word], findings: Findings) -> Iterator[Word]:
    """The words with each REPLACE statement carried out on those that follow it."""
    replacements: tuple[Replacement, ...] = ()
    words, start = Cursor(tokens), 0
    while words.at < len(tokens):
        if not _is_replace(tokens, words.at):
            words.at += 1
            continue
        yield from replaced(tokens[start : words.at], replacements)
        words.at += 1
        also = words.accept("ALSO")
        read = () if words.accept("OFF") else read_replacing(words, findings)
        words.accept(".")
        replacements = (*read, *replacements) if also else read
        start = words.at
    yield from replaced(tokens[start:], replacements)


def _is_replace(words: list[Word], at: int) -> bool:
    return (
        words[at].upper == "REPLACE"
        and (at == 0 or words[at - 1].text == "." or words[at].opens)
        and at + 1 < len(words)
        and (words[at + 1].text == "==" or words[at + 1].upper in {"OFF", "ALSO", "LEADING", "TRAILING"})
    )
