"""Comments that nest -> comments that do not, of the same length, for the grammar's."""

import re
from itertools import pairwise

_MARK = re.compile(r"/\*|\*/")
# what hides a mark outside comments, and what starts a comment; an executable one starts none
_OUTSIDE = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\r\n]*|(/\*)(?!!\{)")


def flattened(text: str) -> str:
    """Blank the marks within nested comments; a comment that does not come out even ends at its first end.

    >>> flattened("/* a /* b */ c */ d")
    '/* a    b    c */ d'
    >>> flattened("/* a /* b */ c")
    '/* a /* b */ c'
    """
    marks = list(_MARK.finditer(text))
    if not any(first[0] == second[0] == "/*" for first, second in pairwise(marks)):
        return text
    ends = _ends(marks)
    pieces, done, place = [], 0, 0
    while (found := _OUTSIDE.search(text, place)) is not None:
        place = found.end()
        if found[1] is None or found.start() not in ends:
            # an uneven comment: the first end is where the grammar ends it too
            place = text.find("*/", place) + 2 if found[1] and text.find("*/", place) >= 0 else place
            continue
        end = ends[found.start()]
        pieces += [text[done:place], _MARK.sub("  ", text[place : end - 2])]
        done, place = end - 2, end
    return "".join((*pieces, text[done:]))


def _ends(marks: list[re.Match[str]]) -> dict[int, int]:
    """Find for each opening mark the end of the comment that it opens, where there is one."""
    ends, open_marks = {}, []
    for mark in marks:
        if mark[0] == "/*":
            open_marks.append(mark.start())
        elif open_marks:
            ends[open_marks.pop()] = mark.end()
    return ends
