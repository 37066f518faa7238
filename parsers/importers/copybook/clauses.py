"""Tokens to entries: the levels, names and clauses of a data description, and constants (level 78, 01 CONSTANT)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from operator import add, mul, sub
from typing import Final

from parsers.importers.copybook.items import Entry, Occurs, Sign, Values
from parsers.importers.copybook.source import Findings
from parsers.importers.copybook.tokens import ClauseError, Sentence, Word

USAGES: Final = {
    "DISPLAY": "DISPLAY",
    **dict.fromkeys(("COMP", "COMPUTATIONAL", "COMP-0", "COMP-4", "COMPUTATIONAL-4", "BINARY"), "BINARY"),
    **dict.fromkeys(("COMP-1", "COMPUTATIONAL-1", "FLOAT-SHORT", "FLOAT-BINARY-32"), "COMP-1"),
    **dict.fromkeys(("COMP-2", "COMPUTATIONAL-2", "FLOAT-LONG", "FLOAT-BINARY-64"), "COMP-2"),
    **dict.fromkeys(("COMP-3", "COMPUTATIONAL-3", "PACKED-DECIMAL"), "PACKED-DECIMAL"),
    **dict.fromkeys(("COMP-5", "COMPUTATIONAL-5"), "COMP-5"),
    **dict.fromkeys(("COMP-6", "COMPUTATIONAL-6"), "COMP-6"),
    **dict.fromkeys(("COMP-X", "COMPUTATIONAL-X"), "COMP-X"),
    **dict.fromkeys(("COMP-N", "COMPUTATIONAL-N"), "COMP-N"),
    **{name: name for name in ("INDEX", "POINTER", "PROCEDURE-POINTER", "FUNCTION-POINTER", "POINTER-32")},
    **{name: name for name in ("NATIONAL", "DISPLAY-1", "UTF-8", "OBJECT")},
    **{name: name for name in ("BINARY-CHAR", "BINARY-SHORT", "BINARY-LONG", "BINARY-DOUBLE")},
    **dict.fromkeys(("SIGNED-SHORT", "UNSIGNED-SHORT"), "BINARY-SHORT"),
    **dict.fromkeys(("SIGNED-INT", "UNSIGNED-INT"), "BINARY-LONG"),
    **dict.fromkeys(("SIGNED-LONG", "UNSIGNED-LONG"), "BINARY-DOUBLE"),
}
FIGURATIVE: Final = frozenset(
    f"{name}{ending}"
    for name, endings in {
        "ZERO": ("", "S", "ES"),
        "SPACE": ("", "S"),
        "HIGH-VALUE": ("", "S"),
        "LOW-VALUE": ("", "S"),
        "QUOTE": ("", "S"),
        "NULL": ("", "S"),
    }.items()
    for ending in endings
)
UNSUPPORTED: Final = frozenset({"TYPEDEF", "TYPE", "SAME", "LIKE", "DYNAMIC", "ANY", "SQL", "PROPERTY"})
_IGNORED: Final = frozenset({"GLOBAL", "EXTERNAL", "VOLATILE", "BASED", "THREAD-LOCAL", "ALIGNED", "STRONG"})
_NEED_OPERAND: Final = frozenset(
    {
        *("VALUE", "VALUES", "OCCURS", "REDEFINES", "SIGN", "USAGE", "GROUP-USAGE"),
        *("LEADING", "TRAILING", "BLANK", "JUST", "SYNC", *_IGNORED),
    }
)
LARGEST_LEVEL: Final = 49
_NUMBER: Final = re.compile(r"\+?\d{1,12}")
_NAME_IN_PICTURE: Final = re.compile(r"\(([A-Za-z0-9][\w-]*)\)")
_BETWEEN: Final = frozenset({"CONSTANT", "VALUE", "VALUES", "IS", "AS", "GLOBAL"})
_OPERATORS: Final[Mapping[str, Callable[[int, int], int]]] = {"+": add, "-": sub, "*": mul}


def read_entry(sentence: Sentence, findings: Findings) -> Entry | None:
    """The entry of a sentence that begins with a level number; None where nothing is left of it."""
    first = sentence.next("a level number")
    level = int(first.text)
    entry = Entry(first, level)
    if not (1 <= level <= LARGEST_LEVEL or level in {66, 77, 78, 88}):
        findings.add(first.spot, f"there is no level {first.text}: levels are 01 to 49, 66, 77, 78 and 88", first.text)
        return None
    try:
        entry = _with_name(sentence, entry)
        if level == 66:
            return _renames(sentence, entry)
        while sentence.at < len(sentence.tokens):
            entry = _clause(sentence, entry)
    except ClauseError as error:
        findings.add(error.word.spot, f"{entry.name or 'FILLER'} {error.text}", error.word.text)
        return replace(entry, faulty=True) if level <= LARGEST_LEVEL or level == 77 else None
    return entry


def _with_name(sentence: Sentence, entry: Entry) -> Entry:
    upper = sentence.peek()
    if not upper or (upper in CLAUSES and not _is_name(sentence)):
        return entry
    word = sentence.next("a name")
    if word.kind != "run":
        tag = "; what stands between colons is put in by COPY REPLACING" if word.text == ":" else ""
        raise ClauseError(word, f"has {word.text} where its name should be{tag}")
    return replace(entry, word=word, name="" if upper == "FILLER" else word.text)


def _is_name(sentence: Sentence) -> bool:
    """Returns whether a keyword stands for itself: its clause would need what does not follow."""
    word, after = sentence.peek(), sentence.peek(1)
    return (word in _NEED_OPERAND and after in {"PIC", "PICTURE", ""}) or (word == "DATE" and after != "FORMAT")


def _renames(sentence: Sentence, entry: Entry) -> Entry:
    if not sentence.accept("RENAMES"):
        raise ClauseError(entry.word, "has level 66 and no RENAMES")
    names = [_qualified(sentence)[0]]
    if sentence.accept("THRU", "THROUGH"):
        names.append(_qualified(sentence)[0])
    return replace(entry, renames=tuple(names))


def _qualified(sentence: Sentence) -> tuple[str, ...]:
    names = [_name(sentence)]
    while sentence.accept("OF", "IN"):
        names.append(_name(sentence))
    if sentence.accept("("):
        while sentence.peek() not in {")", ""}:
            sentence.at += 1
        sentence.accept(")")
    return tuple(names)


def _name(sentence: Sentence) -> str:
    word = sentence.next("a name")
    if word.kind != "run":
        raise ClauseError(word, f"has {word.text} where a name should be")
    return word.text


def _clause(sentence: Sentence, entry: Entry) -> Entry:
    word = sentence.next("a clause")
    upper = word.upper
    if upper in {"IS", "ARE"}:
        return entry
    if upper in UNSUPPORTED:
        raise ClauseError(word, f"has the clause {upper}, which says nothing that could be laid out")
    read = CLAUSES.get(upper)
    if read is None:
        if word.opens and word.text.isdecimal():
            raise ClauseError(word, f"is not ended by a period before level {word.text}")
        raise ClauseError(word, f"has {word.text} where a clause should begin")
    return read(sentence, entry, word)


def _redefines(sentence: Sentence, entry: Entry, word: Word) -> Entry:
    _once(word, entry.redefines)
    target = sentence.next("the name of what is redefined")
    if target.kind != "run":
        raise ClauseError(target, f"redefines {target.text}, which is no name")
    return replace(entry, redefines=target)


def _picture(sentence: Sentence, entry: Entry, word: Word) -> Entry:
    _once(word, entry.picture)
    sentence.accept("IS")
    picture = sentence.next("a picture")
    return replace(entry, picture=picture._replace(text=with_numbers(picture.text, sentence.constants)))


def _once(word: Word, given: object) -> None:
    if given:
        raise ClauseError(word, f"has {word.upper} twice")


def _usage(sentence: Sentence, entry: Entry, word: Word) -> Entry:
    sentence.accept("IS")
    named = sentence.next("a usage")
    if named.upper not in USAGES:
        if named.upper in UNSUPPORTED:
            raise ClauseError(named, f"has the clause {named.upper}, which says nothing that could be laid out")
        raise ClauseError(named, f"has the usage {named.text}, which is not known")
    return _named_usage(sentence, entry, named)


def _named_usage(sentence: Sentence, entry: Entry, word: Word) -> Entry:
    usage = USAGES[word.upper]
    _once(word, entry.usage)
    unsigned = word.upper.startswith("UNSIGNED")
    if usage == "OBJECT":
        sentence.accept("REFERENCE")
        if sentence.peek() and sentence.peek() not in CLAUSES:
            sentence.at += 1
    if usage in {"DISPLAY", "NATIONAL", "DISPLAY-1"}:
        sentence.accept("NATIVE")
    if usage == "PACKED-DECIMAL" and sentence.peek() in {"WITH", "NO"}:
        sentence.accept("WITH")
        if sentence.accept("NO") and sentence.accept("SIGN"):
            usage = "COMP-6"
    if usage.startswith("BINARY-") and sentence.accept("UNSIGNED"):
        unsigned = True
    elif usage.startswith("BINARY-"):
        sentence.accept("SIGNED")
    return replace(entry, usage=usage, unsigned=unsigned)


def _sign(sentence: Sentence, entry: Entry, word: Word) -> Entry:
    if word.upper == "SIGN":
        sentence.accept("IS")
        word = sentence.next("LEADING or TRAILING")
    if word.upper not in {"LEADING", "TRAILING"}:
        raise ClauseError(word, f"has {word.text} where LEADING or TRAILING should be")
    separate = sentence.accept("SEPARATE")
    if separate:
        sentence.accept("CHARACTER")
    return replace(entry, sign=Sign(word.upper == "LEADING", separate))


def _occurs(sentence: Sentence, entry: Entry, word: Word) -> Entry:
    _once(word, entry.occurs)
    least, most = _times(sentence)
    depending: tuple[str, ...] = ()
    sentence.accept("TIMES", "TIME")
    if sentence.accept("DEPENDING"):
        sentence.accept("ON")
        depending = _qualified(sentence)
    while sentence.accept("ASCENDING", "DESCENDING", "INDEXED"):  # keys and indexes say nothing of a layout
        sentence.accept("KEY")
        sentence.accept("IS", "BY", "ARE")
        sentence.accept("KEYS")
        _name(sentence)
        while sentence.peek() and sentence.peek() not in CLAUSES and sentence.peek() not in {"ASCENDING", "DESCENDING"}:
            _qualified(sentence)
    if most is not None and (least > most or most < 1):
        raise ClauseError(word, f"occurs {least} to {most} times: the second number is the larger, and 1 or more")
    if not depending and least != most:
        raise ClauseError(word, f"occurs {least} to {most or 'UNBOUNDED'} times and does not say DEPENDING ON what")
    if depending and least == most:
        least = min(1, least)
    return replace(entry, occurs=Occurs(least, most, depending))


def _times(sentence: Sentence) -> tuple[int, int | None]:
    if sentence.accept("UNBOUNDED"):
        return 0, None
    least = sentence.integer("how often it occurs")
    if not sentence.accept("TO"):
        return least, least
    if sentence.accept("UNBOUNDED"):
        return least, None
    return least, sentence.integer("how often it occurs at most")


def _synchronized(sentence: Sentence, entry: Entry, word: Word) -> Entry:
    sentence.accept("LEFT", "RIGHT")
    return replace(entry, synchronized=True)


def _justified(sentence: Sentence, entry: Entry, word: Word) -> Entry:
    sentence.accept("RIGHT")
    return replace(entry, justified=True)


def _blank(sentence: Sentence, entry: Entry, word: Word) -> Entry:
    sentence.accept("WHEN")
    if not sentence.accept("ZERO", "ZEROS", "ZEROES"):
        raise ClauseError(word, "has BLANK without WHEN ZERO")
    return replace(entry, blank_when_zero=True)


def _value(sentence: Sentence, entry: Entry, word: Word) -> Entry:
    sentence.accept("IS", "ARE")
    values = [_range(sentence)]
    while sentence.peek() and (_is_literal(sentence) or sentence.peek() == "ALL"):
        values.append(_range(sentence))
    if entry.level == 88:
        _when_false(sentence, word)
    return replace(entry, values=tuple(values))


def _when_false(sentence: Sentence, word: Word) -> None:
    """WHEN SET TO FALSE IS and a literal, of which FALSE alone has to be there."""
    announced = sentence.accept("WHEN")
    sentence.accept("SET")
    sentence.accept("TO")
    if sentence.accept("FALSE"):
        sentence.accept("IS")
        _literal(sentence)
    elif announced:
        raise ClauseError(word, "has WHEN without SET TO FALSE")


def _range(sentence: Sentence) -> Values:
    first = _literal(sentence)
    return Values(first, _literal(sentence)) if sentence.accept("THRU", "THROUGH") else Values(first)


def _literal(sentence: Sentence) -> str:
    if sentence.accept("ALL"):
        return f"ALL {_literal(sentence)}"
    if not _is_literal(sentence):
        word = sentence.next("a value")
        raise ClauseError(word, f"has the value {word.text}, which is neither a literal nor a figurative constant")
    text = sentence.next("a value").text
    while sentence.peek() == "&":
        sentence.at += 1
        text += f" & {sentence.next('a value').text}"
    return text


def _is_literal(sentence: Sentence) -> bool:
    if sentence.at >= len(sentence.tokens):
        return False
    word = sentence.tokens[sentence.at]
    number = word.text.lstrip("+-").replace(".", "").replace(",", "")
    return (
        word.kind == "literal"
        or word.upper in FIGURATIVE
        or word.upper in sentence.constants
        or number.isdecimal()
        or (number[:1].isdecimal() and number.upper().replace("E", "").replace("-", "").isdecimal())
    )


def _national_group(sentence: Sentence, entry: Entry, word: Word) -> Entry:
    sentence.accept("IS")
    if not sentence.accept("NATIONAL"):
        raise ClauseError(word, "has GROUP-USAGE without NATIONAL")
    return replace(entry, national_group=True)


def _ignored(sentence: Sentence, entry: Entry, word: Word) -> Entry:
    if word.upper == "EXTERNAL" and sentence.accept("AS"):
        sentence.next("a literal")
    return entry


def _date(sentence: Sentence, entry: Entry, word: Word) -> Entry:
    """DATE FORMAT IS of the millennium language extensions, which changes nothing in storage."""
    if not sentence.accept("FORMAT"):
        raise ClauseError(word, "has DATE where a clause should begin")
    sentence.accept("IS")
    sentence.next("a date pattern")
    return entry


def note_constant(tokens: list[Word], constants: dict[str, int], findings: Findings) -> bool:
    """Note a constant; one that is no number means nothing to a layout until it is used in one."""
    words = [token.upper for token in tokens]
    declares = words[2:3] == ["CONSTANT"] if words[0] in {"01", "1"} else words[0] == "78" and words[2:3] != ["RENAMES"]
    if not declares:
        return False
    if len(words) == 1:
        findings.add(tokens[0].spot, "a constant has level 78 and no name", words[0])
        return True
    number = _worked_out([word for word in words[2:] if word not in _BETWEEN], constants)
    if number is not None:
        constants[words[1]] = number
    return True


def _worked_out(value: list[str], constants: Mapping[str, int]) -> int | None:
    """The number that a constant stands for: digits, another constant, or two of these and an operator."""
    if len(value) == 3 and value[1] in _OPERATORS:
        left, right = _worked_out(value[:1], constants), _worked_out(value[2:], constants)
        return None if left is None or right is None else _OPERATORS[value[1]](left, right)
    if len(value) != 1:
        return None
    return int(value[0]) if _NUMBER.fullmatch(value[0]) else constants.get(value[0])


def with_numbers(picture: str, constants: Mapping[str, int]) -> str:
    """A picture with numbers for the constants in its parentheses.

    >>> with_numbers("X(NAME-LENGTH)", {"NAME-LENGTH": 30})
    'X(30)'
    """

    def number(found: re.Match[str]) -> str:
        return f"({constants.get(found[1].upper(), found[1])})"

    return _NAME_IN_PICTURE.sub(number, picture)


Clause = Callable[[Sentence, Entry, Word], Entry]
CLAUSES: Final[dict[str, Clause]] = {
    "REDEFINES": _redefines,
    "PIC": _picture,
    "PICTURE": _picture,
    "USAGE": _usage,
    "SIGN": _sign,
    "LEADING": _sign,
    "TRAILING": _sign,
    "OCCURS": _occurs,
    "SYNC": _synchronized,
    "SYNCHRONIZED": _synchronized,
    "SYNCHRONISED": _synchronized,
    "JUST": _justified,
    "JUSTIFIED": _justified,
    "BLANK": _blank,
    "VALUE": _value,
    "VALUES": _value,
    "GROUP-USAGE": _national_group,
    "DATE": _date,
    **dict.fromkeys(_IGNORED, _ignored),
    **dict.fromkeys(USAGES, _named_usage),
}
