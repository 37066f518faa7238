"""What fuzzing found once stays mended, targets take their seeds, and what is wrong is seen and made small."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from random import Random

import pytest

from engine.errors import BrokerError
from tests.fuzz.__main__ import CORPUS
from tests.fuzz.finding import keep
from tests.fuzz.mutating import mutate
from tests.fuzz.mutations import LONGEST, mutated
from tests.fuzz.target import Target, all_targets
from tests.fuzz.watching import wrong_with

KEPT = sorted(str(path.relative_to(CORPUS)) for path in CORPUS.glob("*/*"))


@pytest.mark.parametrize("kept", KEPT)
def test_what_was_found(kept: str) -> None:
    """An input that was a finding once is none any more."""
    target, data = all_targets()[Path(kept).parts[0]], (CORPUS / kept).read_bytes()
    assert wrong_with(target, data) is None


@pytest.mark.parametrize("name", sorted(all_targets()))
def test_seeds(name: str) -> None:
    """The seeds of a target are no findings, and neither are a few inputs made of them."""
    target, random = all_targets()[name], Random(1)  # noqa: S311
    seeds = list(target.seeds())
    made = [mutated(seeds, random, target.words) for _ in range(20)]
    made += [] if target.generate is None else [target.generate(random) for _ in range(20)]
    assert [] == [data for data in (*seeds[:20], *made) if wrong_with(target, data) is not None]


def _breaks(data: bytes) -> None:
    if b"bad" in data:
        raise ValueError(data)
    if b"worse" in data:
        while True:
            pass
    if b"refused" in data:
        raise BrokerError(5009, "as it should be")


BREAKING = Target("breaking", _breaks)


@pytest.mark.parametrize(
    ("data", "key"), [(b"good", ""), (b"refused", ""), (b"so bad", "ValueError"), (b"worse", "Hang")]
)
def test_what_is_wrong(data: bytes, key: str) -> None:
    """A foreign error and a hang are findings; an error of the product's own is none."""
    found = wrong_with(BREAKING, data, seconds=0.2)
    assert key == ("" if found is None else found.key.split()[1])


def test_findings_are_made_small(tmp_path: Path) -> None:
    """A finding is kept once, as the smallest input that shows it."""
    data = bytes(range(60)) + b"bad" + bytes(500)
    finding = wrong_with(BREAKING, data)
    assert finding is not None
    for _ in range(2):
        keep(tmp_path, BREAKING, data, finding)
    assert [b"bad"] == [path.read_bytes() for path in tmp_path.glob("*.bin")]


def test_mutations_are_the_same_again() -> None:
    """A seed makes the same inputs each time, and none of them is too long."""
    seeds = [b"one", b"two" * 1000]
    made = [[mutated(seeds, random, (b"x",)) for _ in range(200)] for random in (Random(3), Random(3))]  # noqa: S311
    assert made[0] == made[1]
    assert all(len(data) <= LONGEST for data in made[0])


def test_a_longer_run_begins_with_a_shorter_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a short run with a seed feeds to targets, a long one with that seed feeds to them first."""
    runs: list[list[bytes]] = []
    for seconds in (3, 9):
        monkeypatch.setattr("tests.fuzz.mutating.monotonic", count().__next__)
        runs.append([])
        targets = [Target(name, runs[-1].append, lambda: [b"one", b"two"]) for name in ("first", "second")]
        mutate(targets, 1, seconds, tmp_path, tmp_path)
    short, long = runs
    assert 0 < len(short) < len(long)
    assert short == long[: len(short)]
