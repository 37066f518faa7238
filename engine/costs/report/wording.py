"""Wording: what sections and scenarios are called, and figures as people read them."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor, log10
from types import MappingProxyType
from typing import Final

from engine.costs.results import Key, Place, Row

DASH: Final = "–"
SECTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "7.1": "MQInput and MQOutput",
        "7.2.1": "Simple Compute node",
        "7.2.2": "Complex Compute node",
        "7.2.3": "Five complex Compute nodes",
        "7.2.4": "Very complex Compute node",
        "7.3": "Database node: insert and delete",
        "7.4": "Filter node",
        "7.5.1": "RouteToLabel node, 1 destination",
        "7.5.2": "RouteToLabel node, 100 destinations",
        "7.6": "Publication node, 1 subscriber",
        "7.7": "Conversions between formats",
        "7.8.1": "Additional instances",
        "7.8.2": "Copies of the flow",
        "7.8.3": "Execution groups",
        "7.9": "A transactional flow",
        "7.10": "Coordinated transactions",
        "7.11": "More subscribers",
    }
)
_SMALLEST_PLAIN, _LARGEST_PLAIN = 1e-4, 1e12  # anything beyond is written with an exponent
_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {"mq": "MQ", "xml": "XML", "cwf": "CWF", "tds": "TDS", "mrm": "MRM", "x5": "five"}
)


def title(section: str) -> str:
    """A section of the published report with its number and what it is about.

    >>> title("7.4"), title("9.9")
    ('7.4 Filter node', '9.9')
    """
    return f"{section} {SECTIONS.get(section, '')}".strip() or "no section"


def spoken(scenario: str) -> str:
    """A scenario's name with spaces, for headings and beside charts.

    >>> spoken("convert_mrm_xml_to_cwf")
    'convert MRM XML to CWF'
    """
    return " ".join(_WORDS.get(word, word) for word in scenario.split("_"))


def size(message_bytes: int) -> str:
    """A message's size.

    >>> size(16384), size(100)
    ('16 KiB', '100 B')
    """
    return f"{message_bytes} B" if message_bytes % 1024 else f"{message_bytes // 1024} KiB"


def kind(key: Key) -> str:
    """Size and persistence, as they tell the rows of one scenario apart.

    >>> kind(Key("7.4", "filter", True, 1024))
    '1 KiB persistent'
    """
    return f"{size(key.message_bytes)}{' persistent' if key.persistent else ''}"


def run_on(place: Place) -> str:
    """Returns what is behind a scenario's name where it did not run on the broker."""
    return {"spark": " on Spark", "broker": " on a broker"}.get(place, "")


def named(row: Row) -> str:
    """A row in words.

    >>> named(Row(Key("7.8.1", "flow_copies_2", False, 4096), "spark", None))
    'flow_copies_2 on Spark, 4 KiB'
    """
    return f"{row.key.scenario}{run_on(row.place)}, {kind(row.key)}"


def figure(value: float | None, digits: int = 3) -> str:
    """A figure with as many digits as say something; a dash for none.

    >>> figure(0.08123), figure(1.5), figure(23.961), figure(1644.722), figure(0.0), figure(None)
    ('0.0812', '1.50', '24.0', '1,645', '0', '–')
    """
    if value is None:
        return DASH
    if value == 0:
        return "0"
    if not _SMALLEST_PLAIN <= abs(value) < _LARGEST_PLAIN:
        return f"{value:.{digits - 1}e}"
    places = max(0, digits - 1 - floor(log10(abs(value))))
    return f"{value:,.{places}f}"


def span(low: float, high: float) -> str:
    """Two ends of a range, to the same number of places.

    >>> span(0.0812, 0.1204)
    '0.0812–0.1204'
    """
    smaller = min(abs(low), abs(high)) or max(abs(low), abs(high))
    places = max(0, min(6, 2 - floor(log10(smaller)))) if smaller else 0
    return f"{low:,.{places}f}–{high:,.{places}f}"


def times(value: float | None) -> str:
    """A ratio.

    >>> times(0.0613), times(14.2), times(None)
    ('0.061×', '14×', '–')
    """
    return DASH if value is None else f"{figure(value, 2)}×"


def counted(number: int, what: str) -> str:
    """A number of things.

    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def printable(text: str) -> str:
    """A text without the characters that a terminal would obey or XML has no way to write."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
