"""MomentError: why a text is no date or time by its pattern."""

from __future__ import annotations

from typing import Final

FORM: Final = "form"  # the text, or the value, does not have what the pattern asks for
BEYOND: Final = "beyond"  # it has, and there is no such day or hour
PATTERN: Final = "pattern"  # the pattern itself is none


class MomentError(Exception):
    """An error in a text, a value or a pattern; `kind` says in which of them."""

    def __init__(self, why: str, kind: str) -> None:
        super().__init__(why)
        self.why = why
        self.kind = kind
