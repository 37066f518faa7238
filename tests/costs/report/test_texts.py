"""Tables, CSV and comparisons as text, complete, in the files beside."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from engine.costs.report.earlier_results import changes_table, compare
from engine.costs.report.tables import rows_csv, tables, terminal_tables
from engine.costs.results import Key, Node, Results, Row, published
from tests.costs.report.examples import example, later, only, spread, taken

EXPECTED = Path(__file__).parent / "expected"


def earlier() -> Results:
    """A run before the example: a row dearer, one cheaper, one a little, one wider spread, some not there."""

    def changed(row: Row) -> Row:
        factor, width = {
            ("filter", 1024): (1.3, 0.03),
            ("compute_simple", 4096): (0.8, 0.03),
            ("compute_simple", 1024): (1.04, 0.001),
            ("compute_simple", 16384): (1.3, 0.9),
        }.get((row.key.scenario, row.key.message_bytes), (1.0, 0.03))
        if not row.taken or row.place == "spark":
            return row
        return replace(row, taken=replace(row.taken, cpu_ms=spread(row.taken.cpu_ms.median * factor, width)))

    old = only(example(), lambda row: row.key != Key("7.1", "mq_input_output", False, 4096))
    more = Key("7.3", "database_insert_delete_coordinated", False, 1024)
    rows = [changed(row) for row in old.rows if row.key != more]
    rows.append(Row(more, "memory", taken(more, published()[more])))
    machine, options = {**old.machine, "python": "3.11.2"}, {**old.options, "seconds": 5}
    return replace(old, rows=tuple(rows), started="2026-10-01T09:30:00+00:00", machine=machine, options=options)


def hostile() -> Results:
    """Names and reasons that would like to be something else, and figures at the edge."""
    key = Key("7.99", "=cmd|' /C calc'!A0\x1b[31m</table><script>", persistent=True, message_bytes=1000)
    found = taken(key, next(iter(published().values())))
    nothing = replace(found, rate=spread(0), cpu_ms=spread(0), limit_ms=None, nodes=(Node("=1+1", 0),), rss_mib=0)
    rows = (
        Row(key, "memory", nothing),
        Row(replace(key, message_bytes=0), "memory", None, "-1+1\u202e\nsecond line"),
        Row(replace(key, message_bytes=10**12), "spark", replace(found, cpu_ms=spread(1e-9), rate=spread(1e9))),
        Row(replace(key, scenario="", section=""), "memory", None, ""),
    )
    return replace(example(), rows=rows, bounds=())


FILES: dict[str, Callable[[], str]] = {
    "tables.txt": lambda: tables(example()),
    "tables_of_80_columns.txt": lambda: tables(
        only(example(), lambda row: row.key.section in {"7.2.2", "7.8.3", "7.10"}), width=80
    ),
    "nothing_measured.txt": lambda: tables(only(example(lambda _: False), lambda row: row.key.section == "7.4")),
    "no_rows.txt": lambda: tables(only(example(), lambda _: False)),
    "hostile.txt": lambda: tables(hostile()),
    "rows.csv": lambda: rows_csv(example()),
    "hostile.csv": lambda: rows_csv(hostile()),
    "no_rows.csv": lambda: rows_csv(only(example(), lambda _: False)),
    "changes.txt": lambda: changes_table(compare(earlier(), example())),
    "no_changes.txt": lambda: changes_table(compare(example(), example())),
}


@pytest.mark.parametrize("name", FILES)
def test_texts(name: str, accept: bool) -> None:
    """Each text is that of its file, character by character; `pytest --accept` rewrites them."""
    found = FILES[name]()
    if accept:
        (EXPECTED / name).write_text(found, "utf-8", newline="")
    assert found == (EXPECTED / name).read_bytes().decode("utf-8")


@pytest.mark.parametrize(("width", "most"), [(120, 120), (100, 100), (80, 86)])
def test_tables_keep_to_their_width(width: int, most: int) -> None:
    """Tables of sections fit into the columns that there are, 80 at the least but for the widest figures."""
    found = tables(only(example(), lambda _: True), width=width)
    assert max(map(len, found.split("\n\npers.: ")[0].splitlines())) <= most


def test_every_row_is_in_every_form() -> None:
    """No row of the report is missing, whether it was measured or not; those that were not have their reason."""
    found = list(csv.DictReader(StringIO(rows_csv(example()))))
    on_broker = [row for row in found if row["place"] == "memory"]
    names = [
        (row["section"], row["scenario"], row["persistent"] == "yes", int(row["message_bytes"])) for row in on_broker
    ]
    assert sorted(names) == sorted(
        (key.section, key.scenario, key.persistent, key.message_bytes) for key in published()
    )
    assert all(bool(row["reason"]) == (row["messages_per_s"] == "") for row in found)
    assert sum(row["reason"] != "" for row in on_broker) == sum(map(later, published()))
    text = tables(example())
    assert text.count("not yet measurable [1]") == sum(map(later, published()))


def test_a_cell_is_no_formula() -> None:
    """No cell of text begins with what a spreadsheet would run."""
    cells = [cell for row in csv.reader(StringIO(rows_csv(hostile()))) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@", "-")) and not cell[1:2].isdigit()]
    assert any(cell.startswith("'=cmd") for cell in cells)


def test_a_terminal_shows_the_same_text() -> None:
    """On a terminal the text is coloured, and else the same."""
    console = Console(width=200, force_terminal=True, color_system="standard", legacy_windows=False, file=StringIO())
    coloured = terminal_tables(example())
    console.print(coloured)
    assert isinstance(console.file, StringIO)
    assert "\x1b[" in console.file.getvalue()
    assert coloured.plain == tables(example())
    styles = {str(span.style) for span in coloured.spans}
    assert {"bold", "cyan", "yellow", "green", "bold red"} <= styles
