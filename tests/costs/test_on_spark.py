"""Node costs on Spark: what is measured there, how it lies, and what is said where Spark is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engine.costs import spark
from engine.costs.hand_written import complex_path_by_hand
from engine.costs.nodes import How, chosen
from engine.costs.sample_messages import Sample, paths
from engine.costs.spark import FEWEST, parallel, rows
from engine.errors import BrokerError

QUICK = How(seconds=0.001, runs=2)


@dataclass
class Fake:
    """What stands for Spark: it notes what is asked of it, and writes a body where output is looked for."""

    folder: Path
    body: bytes
    asked: list[tuple[int, list[str], int, int]] = field(default_factory=list)
    slots: int = 0
    count: int = 0

    @contextmanager
    def carrier(self, slots: int) -> Iterator[Fake]:
        self.slots = slots
        yield self

    def ready(self, files: Sequence[Path], partitions: int, message: Sample, count: int) -> Fake:
        queues = [line for file in files for line in file.read_text("utf-8").split() if line.startswith("COSTS.IN")]
        self.count = count
        self.asked.append((self.slots, [queue.rstrip(",") for queue in queues], partitions, count))
        return self

    def run(self) -> tuple[float, Path, Any]:
        output = self.folder / "output"
        output.mkdir(exist_ok=True)
        (output / "body").write_bytes(self.body)
        return 0.5, output, SimpleNamespace(queues={"COSTS.OUT": self.count}, failures=0)

    def stand_in(self, monkeypatch: pytest.MonkeyPatch) -> Fake:
        monkeypatch.setattr(spark, "carrier", self.carrier)
        monkeypatch.setattr(spark, "first_body", lambda output: (output / "body").read_bytes())
        return self


def test_what_is_measured_there() -> None:
    """The parallel scenarios in all their sizes, without persistent messages, which Spark has not."""
    found = parallel(chosen())
    assert 27 == len(found)
    assert {"7.8.1", "7.8.2", "7.8.3"} == {key.section for key in found}
    assert not any(key.persistent for key in found)


@pytest.mark.parametrize(
    ("name", "queues", "partitions"),
    [
        ("additional_instances_4", 1, 4),
        ("flow_copies_2", 2, 1),
        ("execution_groups_4", 4, 1),
    ],
)
def test_how_scenarios_lie(
    name: str, queues: int, partitions: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Instances are partitions of one flow; copies and groups are flows, each with a queue of its own."""
    fake = Fake(tmp_path, complex_path_by_hand(paths(4096).body)).stand_in(monkeypatch)
    (row,) = rows(parallel(chosen([name], [4096])), QUICK)
    ((slots, read, dealt, count),) = fake.asked
    assert [f"COSTS.IN.{number}" for number in range(1, queues + 1)] == read
    assert (partitions, FEWEST) == (dealt, count)
    assert slots == 4 or name != "execution_groups_4"
    assert row.taken is not None
    assert ("spark", 2, 2 * FEWEST) == (row.place, row.taken.runs, row.taken.messages)
    assert 2 * FEWEST == row.taken.rate.median


def test_another_message_than_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An output that is wrong stops the suite there as well."""
    Fake(tmp_path, b"<CSIM/>").stand_in(monkeypatch)
    with pytest.raises(BrokerError, match="flow_copies_1, 4096 bytes: on Spark"):
        list(rows(parallel(chosen(["flow_copies_1"], [4096])), QUICK))


def test_without_spark() -> None:
    """Rows are there with the reason why they are not measured."""
    found = list(rows(parallel(chosen()), QUICK, "needs Java"))
    assert {("spark", None, "needs Java")} == {(row.place, row.taken, row.reason) for row in found}
