"""String functions: of CHARACTER, BLOB and BIT alike where the manual does not say CHARACTER."""

from __future__ import annotations

from typing import Any, Final

from esql.functions import Numeric, Same, String, arguments, function
from esql.functions.arguments import character, integer, strings
from esql.functions.string_search import find, units
from esql.runtime.invocation import Invocation
from esql.values.errors import SUBSTRING_RANGE, out_of_range
from esql.values.types import Bit, Value

_MOST_REPEATED: Final = 32 * 1024 * 1024
_MANY_UNITS: Final = 100  # that are trimmed, of which each is looked at for each character


def _empty(like: Any) -> Any:
    return like[0:0]


@function("LENGTH")
def length(source: String) -> int:
    """The number of characters, bytes or bits of a string.

    `LENGTH('Hello World!') = 12`
    `LENGTH('') = 0`
    `LENGTH(X'0A0B') = 2`
    `LENGTH(B'101') = 3`
    `LENGTH(NULL) IS NULL`
    `LENGTH(5) fails S42804`
    """
    return len(arguments.string("LENGTH", source))


@function("SUBSTRING", form=True)
def substring(source: String, start: Value, length: Numeric = None, *, preposition: str = "FROM") -> Same:
    """The part of a string from a place, or in front of or behind the first occurrence of another string.

    Forms: SUBSTRING(source FROM start FOR length), SUBSTRING(source BEFORE start FOR length), SUBSTRING(source AFTER
    start FOR length); `preposition` is FROM, BEFORE or AFTER.

    `SUBSTRING('Hello World!' FROM 7 FOR 4) = 'Worl'`
    `SUBSTRING('Hello World!' FROM 7) = 'World!'`
    `SUBSTRING('Hello' FROM -1 FOR 4) = 'He'`
    `SUBSTRING('Hello' FROM 0) = 'Hello'`
    `SUBSTRING('Hello' FROM 9) = ''`
    `SUBSTRING('Hello' FROM 4 FOR 10) = 'lo'`
    `SUBSTRING('Hello' FROM 2 FOR 0) = ''`
    `SUBSTRING('Hello' FROM 2 FOR -1) fails S22011`
    `SUBSTRING('Hello World!' BEFORE 'World') = 'Hello '`
    `SUBSTRING('Hello World!' BEFORE 'World' FOR 3) = 'lo '`
    `SUBSTRING('Hello World!' AFTER 'Hello ') = 'World!'`
    `SUBSTRING('Hello World!' AFTER 'Hello ' FOR 2) = 'Wo'`
    `SUBSTRING('Hello World!' AFTER 'x') = ''`
    `SUBSTRING('Hello World!' BEFORE 'x') = ''`
    `SUBSTRING(X'0A0B0C' FROM 2 FOR 1) = X'0B'`
    `SUBSTRING(B'10110' FROM 2 FOR 3) = B'011'`
    `SUBSTRING('Hello' FROM NULL) IS NULL`
    `SUBSTRING('Hello' FROM 1 FOR NULL) IS NULL`
    """
    text: Any = arguments.string("SUBSTRING", source)
    size = None if length is None else integer("SUBSTRING", length, "length")
    if size is not None and size < 0:
        raise out_of_range("SUBSTRING", f"its length is not negative, as {size} is", SUBSTRING_RANGE)
    if preposition == "FROM":
        begin = integer("SUBSTRING", start, "start") - 1
        end = len(text) if size is None else begin + size
        return text[max(begin, 0) : max(end, 0)]
    strings("SUBSTRING", text, start)
    at = find(text, start)
    if at < 0:
        return _empty(text)
    if preposition == "BEFORE":
        return text[0 if size is None else max(at - size, 0) : at]
    at += len(start)
    return text[at : None if size is None else at + size]


@function("OVERLAY", form=True)
def overlay(source: String, replacement: String, start: Numeric, length: Numeric = None, *, here: Invocation) -> Same:
    """A string with a part of it replaced.

    Form: OVERLAY(source PLACING replacement FROM start FOR length).

    `OVERLAY('ABCDEFGHIJ' PLACING '1234' FROM 4 FOR 3) = 'ABC1234GHIJ'`
    `OVERLAY('ABCDEFGHIJ' PLACING '1234' FROM 4) = 'ABC1234HIJ'`
    `OVERLAY('ABC' PLACING 'x' FROM 1 FOR 0) = 'xABC'`
    `OVERLAY('ABC' PLACING 'x' FROM 9) = 'ABCx'`
    `OVERLAY('ABC' PLACING '' FROM 2 FOR 1) = 'AC'`
    `OVERLAY(X'0A0B0C' PLACING X'FF' FROM 2) = X'0AFF0C'`
    `OVERLAY('ABC' PLACING 'x' FROM 0) fails S22011`
    `OVERLAY('ABC' PLACING NULL FROM 1) IS NULL`
    """
    strings("OVERLAY", source, replacement)
    begin = integer("OVERLAY", start, "start") - 1
    size = len(replacement) if length is None else integer("OVERLAY", length, "length")
    if begin < 0 or size < 0:
        raise out_of_range("OVERLAY", "it starts at 1 or later, and its length is not negative", SUBSTRING_RANGE)
    here.grow(len(source) + len(replacement))
    return source[:begin] + replacement + source[begin + size :]


@function("TRIM", form=True)
def trim(source: String, singleton: String = None, *, side: str = "BOTH") -> Same:
    """A string without a character, byte or bit at its ends, or without any of several.

    Form: TRIM(side singleton FROM source); `side` is LEADING, TRAILING or BOTH, the singleton a blank, X'00' or B'0'
    where it is not said. Of a longer singleton each character is one to be trimmed, in whatever order they stand.

    `TRIM(TRAILING 'b' FROM 'aaabBb') = 'aaabB'`
    `TRIM(LEADING FROM '  a  ') = 'a  '`
    `TRIM('b' FROM 'bbbaaabbb') = 'aaa'`
    `TRIM('  a  ') = 'a'`
    `LENGTH(TRIM(TRAILING FROM '  a  ')) = 3`
    `TRIM('   ') = ''`
    `TRIM(X'00FF00') = X'FF'`
    `TRIM(B'00100') = B'1'`
    `TRIM(BOTH X'FF' FROM X'FF00FF') = X'00'`
    `TRIM('ste' FROM 'testmgktest') = 'mgk'`
    `TRIM(LEADING ' -' FROM '- - a - ') = 'a - '`
    `TRIM(X'EFBBBF' FROM X'EFBBBF31') = X'31'`
    `TRIM('' FROM 'a') = 'a'`
    `TRIM(NULL) IS NULL`
    """
    arguments.string("TRIM", source)
    if singleton is not None:
        strings("TRIM", source, singleton)
    if isinstance(source, Bit):
        return Bit.of(_stripped(source.digits, "0" if singleton is None else singleton.digits, side))
    default = " " if isinstance(source, str) else b"\0"
    return _stripped(source, default if singleton is None else singleton, side)


def _stripped(source: Any, singleton: Any, side: str) -> Any:
    if len(singleton) > _MANY_UNITS:
        singleton = singleton[:0].join(dict.fromkeys(singleton[at : at + 1] for at in range(len(singleton))))
    if side == "LEADING":
        return source.lstrip(singleton)
    return source.rstrip(singleton) if side == "TRAILING" else source.strip(singleton)


@function("LTRIM")
def ltrim(source: String) -> Same:
    """A string without the blanks, zero bytes or zero bits at its beginning.

    `LTRIM('  a ') = 'a '`
    `LTRIM(X'000A') = X'0A'`
    `LTRIM(NULL) IS NULL`
    """
    return trim(source, side="LEADING")


@function("RTRIM")
def rtrim(source: String) -> Same:
    """A string without the blanks, zero bytes or zero bits at its end.

    `LENGTH(RTRIM(' a  ')) = 2`
    `RTRIM(B'1000') = B'1'`
    `RTRIM(NULL) IS NULL`
    """
    return trim(source, side="TRAILING")


@function("UPPER", "UCASE", grows=True)
def upper(source: String) -> str:
    """A CHARACTER in capitals.

    `UPPER('Hello World!') = 'HELLO WORLD!'`
    `UCASE('éß1') = 'ÉSS1'`
    `UPPER(NULL) IS NULL`
    `UPPER(X'41') fails S42804`
    """
    return character("UPPER", source).upper()


@function("LOWER", "LCASE", grows=True)
def lower(source: String) -> str:
    """A CHARACTER in small letters.

    `LOWER('Hello World!') = 'hello world!'`
    `LCASE('É1') = 'é1'`
    `LOWER(NULL) IS NULL`
    """
    return character("LOWER", source).lower()


@function("LEFT")
def left(source: String, length: Numeric) -> Same:
    """The first characters, bytes or bits of a string.

    `LEFT('ABCDEF', 2) = 'AB'`
    `LEFT('AB', 5) = 'AB'`
    `LEFT('AB', 0) = ''`
    `LEFT('AB', -1) = ''`
    `LEFT(X'0A0B', 1) = X'0A'`
    `LEFT('AB', NULL) IS NULL`
    """
    text: Any = arguments.string("LEFT", source)
    return text[: max(integer("LEFT", length, "length"), 0)]


@function("RIGHT")
def right(source: String, length: Numeric) -> Same:
    """The last characters, bytes or bits of a string.

    `RIGHT('ABCDEF', 2) = 'EF'`
    `RIGHT('AB', 5) = 'AB'`
    `RIGHT('AB', 0) = ''`
    `RIGHT(B'1011', 2) = B'11'`
    `RIGHT(NULL, 1) IS NULL`
    """
    text: Any = arguments.string("RIGHT", source)
    return text[max(len(text) - max(integer("RIGHT", length, "length"), 0), 0) :]


@function("REPLACE")
def replace(source: String, search: String, replacement: String = None, *, here: Invocation) -> Same:
    """A string with all occurrences of another replaced, found from the left in one pass.

    `REPLACE('ABCDABCDABCDA', 'A', 'AA') = 'AABCDAABCDAABCDAA'`
    `REPLACE('AABCDAABCDAABCDAA', 'AA', 'A') = 'ABCDABCDABCDA'`
    `REPLACE('AAAABCDEFGHAAAABCDEFGH', 'AA', 'A') = 'AABCDEFGHAABCDEFGH'`
    `REPLACE('abcabc', 'b') = 'acac'`
    `REPLACE('abc', '', 'x') = 'abc'`
    `REPLACE('abc', 'x', 'y') = 'abc'`
    `REPLACE(X'0A0B0A', X'0A', X'FF') = X'FF0BFF'`
    `REPLACE(B'1001', B'00', B'1') = B'111'`
    `REPLACE('abc', 'b', NULL) IS NULL`
    """
    new = _empty(source) if replacement is None else replacement
    strings("REPLACE", source, search, new)
    if not len(search):
        return source
    text, part, given = units(source), units(search), units(new)
    if len(given) > len(part):
        here.grow(len(text) + text.count(part) * (len(given) - len(part)))
    made = text.replace(part, given)
    return Bit.of(made) if isinstance(source, Bit) else made


@function("REPLICATE")
def replicate(pattern: String, count: Numeric, *, here: Invocation) -> Same:
    """A string many times.

    `REPLICATE('ABCD', 3) = 'ABCDABCDABCD'`
    `REPLICATE('ABCD', 0) = ''`
    `REPLICATE(X'0A', 2) = X'0A0A'`
    `REPLICATE(B'10', 2) = B'1010'`
    `REPLICATE('A', -1) fails S22023`
    `REPLICATE('A', NULL) IS NULL`
    """
    text: Any = arguments.string("REPLICATE", pattern)
    times = arguments.count("REPLICATE", count, _MOST_REPEATED // max(len(text), 1))
    here.grow(len(text) * times)
    return Bit.of(text.digits * times) if isinstance(text, Bit) else text * times


@function("SPACE")
def space(count: Numeric, *, here: Invocation) -> str:
    """So many blanks.

    `LENGTH(SPACE(3)) = 3`
    `'a' || SPACE(2) || 'b' = 'a  b'`
    `SPACE(0) = ''`
    `SPACE(-1) fails S22023`
    `SPACE(NULL) IS NULL`
    """
    size = arguments.count("SPACE", count, _MOST_REPEATED)
    here.grow(size)
    return " " * size


@function("TRANSLATE", grows=True)
def translate(source: String, search: String, replacement: String = None) -> Same:
    """A string with each of some characters replaced by the one at the same place of another string.

    What has no counterpart there is left out.

    `TRANSLATE('Hello', 'lo', 'LO') = 'HeLLO'`
    `TRANSLATE('Hello', 'lo', 'L') = 'HeLL'`
    `TRANSLATE('Hello', 'lo') = 'He'`
    `TRANSLATE('Hello', 'l', 'LXY') = 'HeLLo'`
    `TRANSLATE('abc', 'aa', 'xy') = 'xbc'`
    `TRANSLATE(X'0A0B', X'0A', X'FF') = X'FF0B'`
    `TRANSLATE(B'101', B'1', B'0') = B'000'`
    `TRANSLATE(NULL, 'a', 'b') IS NULL`
    """
    new = _empty(source) if replacement is None else replacement
    strings("TRANSLATE", source, search, new)
    if isinstance(source, Bit):
        return Bit.of(translate(source.digits, search.digits, new.digits))
    table = {unit: new[at] if at < len(new) else None for at, unit in reversed(list(enumerate(search)))}
    if isinstance(source, bytes):
        gone = bytes(unit for unit, given in table.items() if given is None)
        return source.translate(bytes(table.get(unit) or 0 if unit in table else unit for unit in range(256)), gone)
    return source.translate({ord(unit): given for unit, given in table.items()})
