"""Profiles: names of objects, or generic ones that many names match, of which the most specific counts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Generic, TypeVar

from engine.errors import MessageException

_TOKEN: Final = re.compile(r"\*\*|\*|\?|[^*?]")
_GENERIC: Final = ("?", "*", "**")
_END: Final = len(_GENERIC) + 1
_WRONG: Final = 3213
Kept = TypeVar("Kept")


def is_generic(profile: str) -> bool:
    """Returns True where more than one name may match a profile."""
    return "*" in profile or "?" in profile


def specificity(profile: str) -> tuple[int, ...]:
    """Returns what generic profiles are sorted by: the first that matches a name is the most specific.

    They are compared from the left: a character is more specific than ?, which is more than *, which is more than **.

    >>> specificity("AB.C*") < specificity("AB.*") < specificity("AB.**")
    True
    """
    return (*(_GENERIC.index(token) + 1 if token in _GENERIC else 0 for token in _TOKEN.findall(profile)), _END)


def compiled(profile: str) -> re.Pattern[str]:
    """Returns the pattern of a profile: ? is a character, * any in one qualifier, ** any number of qualifiers.

    >>> [bool(compiled("A.**").fullmatch(name)) for name in ("A", "A.B.C", "AB")]
    [True, True, False]
    """
    qualifiers = profile.split(".")
    if profile.count("**") > 1 or any("**" in one and one != "**" for one in qualifiers):
        text = f"profile {profile:.60} is none: ** stands once, for whole qualifiers, such as ORDERS.**"
        raise MessageException(_WRONG, text, profile, reason=_WRONG)
    if profile == "**":
        return re.compile(".*", re.DOTALL)
    pieces = [re.escape(one).replace(r"\?", "[^.]").replace(r"\*", "[^.]*") for one in qualifiers if one != "**"]
    if "**" not in qualifiers:
        return re.compile(r"\.".join(pieces), re.DOTALL)
    at = qualifiers.index("**")
    before, behind = pieces[:at], pieces[at:]
    if not before:
        return re.compile(r"(?:.*\.)?" + r"\.".join(behind), re.DOTALL)
    if not behind:
        return re.compile(r"\.".join(before) + r"(?:\..*)?", re.DOTALL)
    return re.compile(r"\.".join(before) + r"\.(?:.*\.)?" + r"\.".join(behind), re.DOTALL)


class Profiles(Generic[Kept]):
    """Values by profiles; for a name, the most specific profile that it matches counts."""

    __slots__ = ("_exact", "_generic")

    def __init__(self) -> None:
        self._exact: dict[str, Kept] = {}
        self._generic: list[tuple[tuple[int, ...], str, re.Pattern[str], Kept]] = []

    def put(self, profile: str, value: Kept) -> None:
        """Add a value, in place of one of the same profile."""
        if not is_generic(profile):
            self._exact[profile] = value
            return
        made = (specificity(profile), profile, compiled(profile), value)
        self._generic = sorted(
            [*(one for one in self._generic if one[1] != profile), made], key=lambda one: (one[0], one[1])
        )

    def remove(self, profile: str) -> None:
        """Remove the value of a profile."""
        self._exact.pop(profile, None)
        self._generic = [one for one in self._generic if one[1] != profile]

    def find(self, name: str) -> Kept | None:
        """Returns the value of the most specific profile that a name matches, or None where it matches none."""
        found = self._exact.get(name)
        if found is None and self._generic:
            return next((value for _, _, pattern, value in self._generic if pattern.fullmatch(name)), None)
        return found

    def exactly(self, profile: str) -> Kept | None:
        """Returns the value of a profile."""
        found = self._exact.get(profile)
        return found if found is not None else next((one[3] for one in self._generic if one[1] == profile), None)

    def __iter__(self) -> Iterator[str]:
        yield from list(self._exact)
        yield from (profile for _, profile, _, _ in self._generic)

    def __bool__(self) -> bool:
        return bool(self._exact or self._generic)
