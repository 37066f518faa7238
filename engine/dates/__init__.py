"""Dates and times as text, by patterns: as ESQL's FORMAT and message sets spell them."""

from engine.dates.patterns import BEYOND, FORM, PATTERN, MomentError, write_moment
from engine.dates.reading import CENTURY, Fields, read_moment

__all__ = ["BEYOND", "CENTURY", "FORM", "PATTERN", "Fields", "MomentError", "read_moment", "write_moment"]
