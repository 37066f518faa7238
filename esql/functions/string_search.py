"""Functions that look for a string in another: POSITION, CONTAINS, STARTSWITH, ENDSWITH."""

from __future__ import annotations

from typing import Any, Final

from engine.budget import pay
from esql.functions import Numeric, String, function
from esql.functions.arguments import integer, strings
from esql.values.types import Bit

_LONG_PART: Final = 64  # characters of a string that is looked for many times


def units(text: Any) -> Any:
    """A string as Python can search it."""
    return text.digits if isinstance(text, Bit) else text


def find(source: Any, search: Any) -> int:
    """Returns the place at which a string first stands in another, counted from 0; -1 where it does not."""
    return units(source).find(units(search))  # type: ignore[no-any-return]


@function("POSITION", form=True)
def position(search: String, source: String, *, start: Numeric = None, repeat: Numeric = None) -> int:
    """The place of the n-th occurrence of a string in another, counted from 1; 0 where there is none.

    Form: POSITION(search IN source FROM start REPEAT repeat). A negative repeat looks backwards, from the end unless
    FROM says otherwise; occurrences may overlap.

    `POSITION('Village' IN 'Hursley Village') = 9`
    `POSITION('Town' IN 'Hursley Village') = 0`
    `POSITION('A' IN 'ABCABCABCABCABC' FROM 4) = 4`
    `POSITION('C' IN 'ABCABCABCABCABC' FROM 2) = 3`
    `POSITION('B' IN 'ABCABCABCABCABC' REPEAT 2) = 5`
    `POSITION('C' IN 'ABCABCABCABCABC' REPEAT 4) = 12`
    `POSITION('A' IN 'ABCABCABCABCABC' FROM 4 REPEAT 2) = 7`
    `POSITION('AB' IN 'ABCABCABCABCABC' FROM 2 REPEAT 3) = 10`
    `POSITION('A' IN 'ABCABCABCABCABC' REPEAT -2) = 10`
    `POSITION('BC' IN 'ABCABCABCABCABC' FROM 2 REPEAT -3) = 0`
    `POSITION('' IN 'abc') = 1`
    `POSITION('' IN '') = 1`
    `POSITION('a' IN '') = 0`
    `POSITION('a' IN 'aaa' FROM 9) = 0`
    `POSITION('a' IN 'aaa' FROM 2 REPEAT -1) = 2`
    `POSITION('aa' IN 'aaaa' REPEAT -2) = 2`
    `POSITION(B'11' IN B'0111' REPEAT 2) = 3`
    `POSITION(B'1' IN B'0101' REPEAT -2) = 2`
    `POSITION('a' IN 'aaa' FROM -5) = 1`
    `POSITION(X'0B' IN X'0A0B') = 2`
    `POSITION(B'1' IN B'001') = 3`
    `POSITION('a' IN NULL) IS NULL`
    `POSITION('a' IN X'0A') fails S42804`
    """
    strings("POSITION", source, search)
    if not len(search):
        return 1
    times = 1 if repeat is None else integer("POSITION", repeat, "REPEAT")
    text, part = units(source), units(search)
    if times < 0:
        last = len(text) if start is None else integer("POSITION", start, "FROM")
        found = (
            _occurrence(part[::-1], text[::-1], max(len(text) - last - len(part) + 1, 0), -times) if last > 0 else -1
        )
        return len(text) - len(part) - found + 1 if found >= 0 else 0
    first = 1 if start is None else integer("POSITION", start, "FROM")
    return _occurrence(part, text, max(first - 1, 0), times) + 1 if times else 0


def _occurrence(part: Any, text: Any, start: int, times: int) -> int:
    """Returns the place of the n-th occurrence from `start` on, of those that may overlap; -1 where there is none."""
    if times > 1 and len(part) > _LONG_PART:
        return _occurrence_of_long(part, text, start, times)
    at = start - 1
    for _ in range(min(times, len(text) + 1)):
        at = text.find(part, at + 1)
        pay(1)
        if at < 0:
            break
    return at


def _occurrence_of_long(part: Any, text: Any, start: int, times: int) -> int:
    """The same in one look at the text, after Knuth, Morris and Pratt: what has been compared is not compared again."""
    borders = [0] * len(part)
    matched = 0
    for place in range(1, len(part)):
        while matched and part[place] != part[matched]:
            matched = borders[matched - 1]
        matched += part[place] == part[matched]
        borders[place] = matched
        pay(1)
    matched = 0
    for place in range(start, len(text)):
        while matched and (matched == len(part) or text[place] != part[matched]):
            matched = borders[matched - 1]
        matched += text[place] == part[matched]
        pay(1)
        times -= matched == len(part)
        if not times:
            return place - len(part) + 1
    return -1


@function("CONTAINS")
def contains(source: String, search: String) -> bool:
    """Returns TRUE where a string stands in another.

    `CONTAINS('Hello World!', 'World')`
    `CONTAINS('Hello World!', 'world') = FALSE`
    `CONTAINS('abc', '')`
    `CONTAINS(X'0A0B', X'0B')`
    `CONTAINS(B'0010', B'1')`
    `CONTAINS('abc', NULL) IS NULL`
    """
    strings("CONTAINS", source, search)
    return find(source, search) >= 0


@function("STARTSWITH")
def starts_with(source: String, search: String) -> bool:
    """Returns TRUE where a string begins with another.

    `STARTSWITH('Hello World!', 'Hello')`
    `STARTSWITH('Hello World!', 'World') = FALSE`
    `STARTSWITH(B'10', B'1')`
    `STARTSWITH(NULL, 'a') IS NULL`
    """
    strings("STARTSWITH", source, search)
    return bool(source[: len(search)] == search)


@function("ENDSWITH")
def ends_with(source: String, search: String) -> bool:
    """Returns TRUE where a string ends with another.

    `ENDSWITH('Hello World!', 'World!')`
    `ENDSWITH('Hello World!', 'World') = FALSE`
    `ENDSWITH('abc', '')`
    `ENDSWITH('b', 'ab') = FALSE`
    `ENDSWITH('a', NULL) IS NULL`
    """
    strings("ENDSWITH", source, search)
    return len(source) >= len(search) and bool(source[len(source) - len(search) :] == search)
