"""Measuring: that what is measured has run, in turn, and often enough; and that the figures are what they say."""

from __future__ import annotations

import os
from collections.abc import Callable
from multiprocessing import get_context

import pytest

from engine.costs import apart, kernel, measure, measuring
from engine.costs.hand_written import change_one_field
from engine.costs.measuring import divided, side_by_side, spread
from engine.costs.results import published
from engine.costs.sample_messages import SIZES, complex_path, simple
from engine.errors import BrokerError, ConfigurationException
from engine.runtime.deployment import DeployedFlow, Outcome
from flows.files import load_flow


class Clock:
    """A clock that only programs move: each run of a program takes the seconds it says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.log: list[str] = []
        monkeypatch.setattr(measuring.time, "process_time", lambda: self.now)

    def program(self, name: str, seconds: Callable[[int], float]) -> Callable[[], None]:
        runs = 0

        def run() -> None:
            nonlocal runs
            runs += 1
            self.now += seconds(runs)
            if self.log[-1:] != [name]:
                self.log.append(name)

        return run


def test_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that takes three times as long has three times the figure; both are microseconds a run."""
    clock = Clock(monkeypatch)
    programs = {"one": clock.program("one", lambda _: 0.001), "three": clock.program("three", lambda _: 0.003)}
    seen = side_by_side(programs)
    timings = [spread(each) for each in seen.values()]
    ratios = [spread(divided(each, seen["one"])) for each in seen.values()]
    assert [round(each.median) for each in timings] == [1000, 3000]
    assert [round(each.median, 6) for each in ratios] == [1, 3]
    assert all(each.low == pytest.approx(each.high) for each in (*timings, *ratios))


def test_programs_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """After they are calibrated one by one, programs run in turn, once a round, so that all are disturbed alike."""
    clock = Clock(monkeypatch)
    side_by_side({name: clock.program(name, lambda _: 0.001) for name in ("a", "b", "c")}, rounds=4)
    assert clock.log == ["a", "b", "c"] * 5


@pytest.mark.parametrize("seconds", [1e-7, 1e-6, 1e-4, 0.003, 0.02, 0.5])
def test_calibration(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A round of a quick program is a slice long; a slow one runs once a round."""
    clock, runs = Clock(monkeypatch), list[int]()
    run = clock.program("p", lambda number: runs.append(number) or seconds)
    side_by_side({"p": run}, rounds=1)
    calibrating = len(runs)
    side_by_side({"p": run}, rounds=3)
    each = (len(runs) - 2 * calibrating) / 2
    assert each == pytest.approx(max(1, round(measuring._SLICE / seconds)), rel=0.01)


def test_quartiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """The median and the quartiles are those of the rounds, so that one that was disturbed does not count."""
    clock = Clock(monkeypatch)
    rounds = [0.05, 0.05, *(0.03, 0.01, 0.07, 9.0, 0.05, 0.02, 0.06)]
    seen = spread(side_by_side({"p": clock.program("p", lambda run: rounds[run - 1])}, rounds=7)["p"])
    assert [round(value) for value in (seen.low, seen.median, seen.high)] == [25_000, 50_000, 65_000]


@pytest.mark.parametrize("domain", ["XML", "XMLNSC"])
@pytest.mark.parametrize("size", SIZES)
def test_the_programs_do_the_same_work(domain: str, size: int) -> None:
    """The tree writes what the program by hand writes: the order with its status changed, time after time."""
    body = simple(size)
    expected = body.replace(b"<Status>NEW</Status>", b"<Status>DONE</Status>")
    program = kernel.changed_tree(domain, body)
    assert expected == change_one_field(body)
    assert [expected] * 3 == [program() for _ in range(3)]


def test_a_program_that_does_not_do_its_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that write different things are not compared."""
    monkeypatch.setattr(kernel, "change_one_field", lambda body: body)
    with pytest.raises(BrokerError, match="XML, 1024 bytes: the programs do not write the same"):
        kernel.change("XML", 1024)


def test_a_message_that_does_not_come_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass that fails loses its message to the dead-letter queue; that the next passes are quick does not count."""
    process = DeployedFlow.process

    def failing(flow: DeployedFlow, entrance: object, work: object) -> Outcome | None:
        outcome = process(flow, entrance, work)  # type: ignore[arg-type]
        work.get("IN")  # type: ignore[attr-defined]
        work.commit()  # type: ignore[attr-defined]
        return outcome

    monkeypatch.setattr(DeployedFlow, "process", failing)
    monkeypatch.setattr(measuring, "_SLICE", 0.0001)
    with pytest.raises(BrokerError, match="does not come round"):
        kernel.pass_through()


def test_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel's benchmarks run and give a figure each, with its group, bound and quartiles."""
    monkeypatch.setattr(measuring, "_SLICE", 0.0001)
    monkeypatch.setattr(kernel, "REPEATS", 50)
    figures = list(measure("kernel"))
    assert len(figures) == 2 * len(SIZES) + 2
    assert len({figure.name for figure in figures}) == len(figures)
    assert all(figure.low <= figure.value <= figure.high for figure in figures)
    assert all(figure.microseconds > 0 for figure in figures)
    assert {"kernel"} == {figure.group for figure in figures}


@pytest.mark.parametrize("size", SIZES)
def test_messages(size: int) -> None:
    """Messages are of about the size that they are called by, and the same every time."""
    assert 0.9 * size <= len(simple(size)) <= size
    assert simple(size) == simple(size)


@pytest.mark.parametrize("size", [4096, 65536])
def test_complex_messages(size: int) -> None:
    """A message with a path has its elements and is at most a field short of its size."""
    assert size - 60 <= len(complex_path(size)) <= size
    assert complex_path(size).count(b"<Element>") == 20


def test_compute(monkeypatch: pytest.MonkeyPatch) -> None:
    """The complex program as a whole flow writes what the program by hand does, and has its figure."""
    monkeypatch.setattr(measuring, "_SLICE", 0.0001)
    (figure,) = measure("compute")
    assert (figure.group, figure.unit, figure.bound) == ("compute", "x", 2.5)
    monkeypatch.setattr(kernel, "complex_path_by_hand", lambda body: body)
    with pytest.raises(BrokerError, match="do not write the same"):
        next(kernel.whole_flow())


def test_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """What paying into a budget costs is measured on and off in pairs, and its interval stands beside the median."""
    few = {key: row for key, row in published().items() if key.scenario in {"filter", "compute_simple"}}
    monkeypatch.setattr(kernel, "published", lambda: few)
    monkeypatch.setattr(kernel, "ROWS", 1)
    monkeypatch.setattr(kernel, "_SECONDS", 0.0)
    (figure,) = measure("budget")
    assert ("budget", "x", 1.02) == (figure.group, figure.unit, figure.bound)
    assert figure.low <= figure.value <= figure.high
    assert f"95 % {figure.low:.3f} to {figure.high:.3f}" in figure.name


def _with_a_child() -> int | None:
    """Returns the exit code of a process that this one has started, as some benchmarks start theirs."""
    child = get_context("fork").Process(target=os.getpid)
    child.start()
    child.join(20)
    return child.exitcode


def test_work_in_a_process_of_its_own() -> None:
    """Its result and its errors come back; it may start processes, and that it was killed is told, not waited for."""
    assert 7 == apart(max, 3, 7)
    assert 0 == apart(_with_a_child)
    with pytest.raises(ConfigurationException, match="nowhere"):
        apart(load_flow, "nowhere.yaml")
    with pytest.raises(BrokerError, match="ended with 3"):
        apart(os._exit, 3)
