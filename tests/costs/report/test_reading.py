"""Reading results: what was written is read again, and what is no results is refused with the field that is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.costs.measuring import Measured, Spread
from engine.costs.report.earlier_results import read_results, results_from, results_json
from engine.costs.results import Key, Node, Results, Row, Taken
from engine.errors import ConfigurationException
from tests.costs.report.examples import example

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
AMOUNTS = st.floats(0, 1e12)
COUNTS = st.integers(0, 10**12)
SPREADS = st.tuples(AMOUNTS, AMOUNTS, AMOUNTS).map(lambda each: Spread(*(sorted(each)[place] for place in (1, 0, 2))))
KEYS = st.builds(Key, TEXTS, TEXTS, st.booleans(), COUNTS)
NODES = st.lists(st.builds(Node, TEXTS, AMOUNTS), max_size=3).map(tuple)
TAKEN = st.builds(
    Taken, st.integers(1, 99), COUNTS, COUNTS, SPREADS, SPREADS, SPREADS, st.none() | SPREADS, NODES, AMOUNTS
)
ROWS = st.builds(Row, KEYS, st.sampled_from(["memory", "spark"]), st.none() | TAKEN, TEXTS)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.floats(-1e15, 1e15) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
FIGURES = st.floats(-1e12, 1e12)
BOUNDS = st.builds(
    Measured,
    *(TEXTS, TEXTS, st.none() | FIGURES, FIGURES, FIGURES, st.sampled_from(["x", "µs"]), FIGURES, FIGURES),
    beside=st.none() | FIGURES,
    at_least=st.booleans(),
)
RESULTS = st.builds(
    Results,
    machine=st.dictionaries(TEXTS, TEXTS, max_size=3),
    started=TEXTS,
    options=st.dictionaries(TEXTS, PLAIN, max_size=3),
    rows=st.lists(ROWS, max_size=4, unique_by=lambda row: (row.key, row.place)).map(tuple),
    bounds=st.lists(BOUNDS, max_size=2).map(tuple),
)


@given(results=RESULTS)
def test_round_trip(results: Results) -> None:
    """What is read is what was written."""
    assert results == results_from(json.loads(results_json(results)))


def test_a_whole_run_in_a_file(tmp_path: Path) -> None:
    """A run with all rows of the report comes back from its file as it was."""
    path = tmp_path / "results.json"
    path.write_text(results_json(example()), encoding="utf-8")
    assert example() == read_results(path)


def _set(*way: str | int, to: object) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        inside: Any = data
        for step in way[:-1]:
            inside = inside[step]
        inside[way[-1]] = to

    return change


def _gone(*way: str | int) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        inside: Any = data
        for step in way[:-1]:
            inside = inside[step]
        del inside[way[-1]]

    return change


ROW, TAKEN_FIRST = ("rows", 0), ("rows", 0, "taken")
WRONG: tuple[tuple[Callable[[dict[str, Any]], None], str], ...] = (
    (_set("format", to=2), "the document: results of format 1 are expected"),
    (_set("format", to="1"), "the document: results of format 1 are expected"),
    (_set("format", to=True), "the document: results of format 1 are expected"),
    (_gone("format"), "the document: these are no results of penstock costs"),
    (_gone("rows"), "the document: the field rows is missing"),
    (_set("row", to=[]), "the document: there is no field called row; did you mean rows?"),
    (_set("rows", to={}), "rows: a list is expected here, and it is fields"),
    (_set("rows", to=[1]), "rows[0]: an object is expected here, and it is a number"),
    (_set("rows", to=[0] * 100_001), "rows: 100,001 items are more than the 100,000 allowed"),
    (_set("machine", to=[]), "machine: an object is expected here, and it is a list"),
    (_set("machine", "cores", to=2), "machine.cores: a text is expected here, and it is a number"),
    (_set("machine", "x" * 201, to="2"), "the name is longer than 200 characters"),
    (_set("started", to=None), "started: a text is expected here, and it is null"),
    (_set("started", to="x" * 10_001), "started: a text of 10,001 characters is longer than the 10,000 allowed"),
    (_set("options", "deep", to=json.loads("[" * 40 + "]" * 40)), "it is nested too deeply"),
    (_gone(*ROW, "reason"), "rows[0]: the field reason is missing"),
    (_set(*ROW, "place", to="moon"), "rows[0].place: one of memory, broker, spark is expected here"),
    (_set(*ROW, "key", "persistent", to="no"), "rows[0].key.persistent: true or false is expected here"),
    (_set(*ROW, "key", "message_bytes", to=1.5), "rows[0].key.message_bytes: a whole number is expected here"),
    (_set(*ROW, "key", "message_bytes", to=-1), "rows[0].key.message_bytes: a whole number from 0 to"),
    (_set(*ROW, "key", "message_bytes", to=10**400), "rows[0].key.message_bytes: a whole number from 0 to"),
    (_set(*TAKEN_FIRST, "runs", to=0), "rows[0].taken.runs: a whole number from 1 to"),
    (_set(*TAKEN_FIRST, "rate", to=3), "rows[0].taken.rate: an object is expected here, and it is a number"),
    (_set(*TAKEN_FIRST, "rate", "low", to=10**9), "rows[0].taken.rate: the median is not between its quartiles"),
    (_set(*TAKEN_FIRST, "cpu_ms", "median", to=-1), "rows[0].taken.cpu_ms.median: it cannot be negative: -1"),
    (_set(*TAKEN_FIRST, "cpu_ms", "median", to=True), "rows[0].taken.cpu_ms.median: a number is expected here"),
    (_set(*TAKEN_FIRST, "rss_mib", to=10**400), "rows[0].taken.rss_mib: the number is too large"),
    (_set(*TAKEN_FIRST, "nodes", 1, "label", to=7), "rows[0].taken.nodes[1].label: a text is expected here"),
    (_set("bounds", 0, "unit", to="parsec"), "bounds[0].unit: one of x, µs, s, bytes, /s is expected here"),
    (_gone("bounds", 1, "met"), "bounds[1]: the field met is missing"),
    (_set("bounds", 1, "value", to="3"), "bounds[1].value: a number is expected here, and it is a text"),
    (lambda data: data["rows"].append(data["rows"][0]), "the row stands there twice: mq_input_output, 1 KiB"),
)


@pytest.mark.parametrize(("change", "problem"), WRONG, ids=[problem for _, problem in WRONG])
def test_wrong_fields(change: Callable[[dict[str, Any]], None], problem: str) -> None:
    """A field that is missing, unknown, of another type or absurd is named, with what is expected there."""
    data = json.loads(results_json(example()))
    change(data)
    with pytest.raises(ConfigurationException) as raised:
        results_from(data, "old.json")
    assert str(raised.value).startswith("BIP2066 old.json: ")
    assert problem in str(raised.value)


NOT_JSON: tuple[tuple[bytes, str], ...] = (
    (b"", "the file is not JSON as results are"),
    (b"\xff\xfe", "the file is not JSON as results are"),
    (b'{"format": 1', "the file is not JSON as results are"),
    (b"[" * 200_000, "the file is not JSON as results are: it is nested too deeply"),
    (b'{"format": NaN}', "NaN is no number of JSON"),
    (b'{"format": -Infinity}', "-Infinity is no number of JSON"),
    (b'{"format": 1, "format": 1}', "the field format stands twice in one object"),
    (b'{"format": ' + b"9" * 5000 + b"}", "the file is not JSON as results are"),
    (b"[]", "the document: these are no results of penstock costs"),
    (b"null", "the document: these are no results of penstock costs"),
    (b"1e999", "the document: these are no results of penstock costs"),
)


@pytest.mark.parametrize(("data", "problem"), NOT_JSON, ids=range(len(NOT_JSON)))
def test_files_that_are_no_results(data: bytes, problem: str, tmp_path: Path) -> None:
    """A file that is not JSON, or is some other JSON, is refused by name."""
    path = tmp_path / "x.json"
    path.write_bytes(data)
    with pytest.raises(ConfigurationException) as raised:
        read_results(path)
    assert str(path) in str(raised.value)
    assert problem in str(raised.value)


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is not there, a folder, and one that is too large are refused."""
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(ConfigurationException, match="the results cannot be read: "):
            read_results(path)
    large = tmp_path / "large.json"
    large.write_bytes(b" " * 2000)
    monkeypatch.setattr("engine.costs.report.earlier_results.LARGEST", 1999)
    with pytest.raises(ConfigurationException, match="larger than the 1,999 bytes"):
        read_results(large)
