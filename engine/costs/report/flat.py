"""Rows as CSV: one line a row, flat columns, for spreadsheets and other programs."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from io import StringIO

from engine.costs.report.lines import Line, lines
from engine.costs.results import Results, Spread, Taken


def rows_csv(results: Results) -> str:
    """Every row, in the report's order; a cell is empty where there is no figure."""
    rows = [_columns(line) for line in lines(results)]
    names = list(_columns(None))
    stream = StringIO()
    writer = csv.DictWriter(stream, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def _columns(line: Line | None) -> Mapping[str, object]:
    """All columns of a line by name; of no line: the names alone."""
    key, taken, report = (line.key, line.taken, line.report) if line else (None, None, None)
    return {
        "section": _inert(key.section) if key else None,
        "scenario": _inert(key.scenario) if key else None,
        "persistent": ("yes" if key.persistent else "no") if key else None,
        "message_bytes": key.message_bytes if key else None,
        "place": line.row.place if line else None,
        **dict(_of_taken(taken)),
        "report_messages_per_s": report.rate if report else None,
        "report_cpu_percent": report.cpu_percent if report else None,
        "report_cpu_ms_per_message": report.cpu_ms if report else None,
        "cpu_ms_ratio_to_report": line.ratio if line else None,
        "rate_ratio_to_report": line.rate_ratio if line else None,
        "cpu_ms_ratio_to_limit": line.times_limit if line else None,
        "nodes_cpu_ms": _nodes(taken),
        "reason": _inert(line.row.reason) if line else None,
    }


def _of_taken(taken: Taken | None) -> Iterator[tuple[str, object]]:
    yield "runs", taken.runs if taken else None
    yield "messages", taken.messages if taken else None
    yield "drivers", taken.drivers if taken else None
    yield from _of_spread("messages_per_s", taken.rate if taken else None)
    yield from _of_spread("cpu_percent", taken.cpu_percent if taken else None)
    yield from _of_spread("cpu_ms_per_message", taken.cpu_ms if taken else None)
    yield from _of_spread("limit_cpu_ms_per_message", taken.limit_ms if taken else None)
    yield "rss_mib", taken.rss_mib if taken else None


def _of_spread(name: str, spread: Spread | None) -> Iterator[tuple[str, float | None]]:
    yield name, spread.median if spread else None
    yield f"{name}_low", spread.low if spread else None
    yield f"{name}_high", spread.high if spread else None


def _nodes(taken: Taken | None) -> str | None:
    """What each node took, in the order of the flow: `In=0.01; Compute=0.2; =0.005`, around the nodes the last."""
    return _inert("; ".join(f"{node.label}={node.cpu_ms:g}" for node in taken.nodes)) if taken else None


def _inert(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
