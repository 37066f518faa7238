"""Weeks and days of weeks: a week goes from Sunday to Saturday, and the first one has the first day."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final

WEEKDAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


def day_of_week(day: date) -> int:
    """The day of the week: Sunday is 1.

    >>> day_of_week(date(2006, 7, 12))
    4
    """
    return day.isoweekday() % 7 + 1


def _weeks_since(start: date, day: date) -> int:
    return ((day - start).days + day_of_week(start) - 1) // 7 + 1


def week_of_year(day: date) -> int:
    """The week of the year, counted from the one with 1 January.

    >>> week_of_year(date(2000, 2, 29)), week_of_year(date(2006, 12, 31))
    (10, 53)
    """
    return _weeks_since(day.replace(month=1, day=1), day)


def week_of_month(day: date) -> int:
    """The week of the month, counted from the one with its first day.

    >>> week_of_month(date(2006, 7, 5))
    2
    """
    return _weeks_since(day.replace(day=1), day)


def year_and_week(day: date) -> tuple[int, int]:
    """The week of the year as FORMAT has it: the last days of December belong to the week of the next 1 January.

    >>> year_and_week(date(2006, 12, 31)), year_and_week(date(2006, 12, 30))
    ((2007, 1), (2006, 52))
    """
    if day.month == 12 and day.day + 7 - day_of_week(day) > 31:
        return day.year + 1, 1
    return day.year, week_of_year(day)


def in_week(start: date, week: int, weekday: int) -> date:
    """The day of a week that is counted from the one with `start`.

    >>> in_week(date(2005, 1, 1), 1, 2)
    datetime.date(2004, 12, 27)
    """
    return start + timedelta(days=(week - 1) * 7 + weekday - day_of_week(start))
