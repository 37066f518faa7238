"""Reports made of results: tables, CSV, JSON, a page, comparisons and verdicts; nothing here measures."""

from engine.costs.report.analysis import Verdict, verdict_lines, verdicts
from engine.costs.report.comparing import Change, Comparison, changes_table, compare
from engine.costs.report.page import html
from engine.costs.report.reading import read_results, results_json
from engine.costs.report.tables import rows_csv, tables, terminal_tables

__all__ = [
    "Change",
    "Comparison",
    "Verdict",
    "changes_table",
    "compare",
    "html",
    "read_results",
    "results_json",
    "rows_csv",
    "tables",
    "terminal_tables",
    "verdict_lines",
    "verdicts",
]
