"""Faults of disks and signals: each command that writes leaves the earlier result whole, or the new one whole."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import pytest

from engine.broker.administration import broker_of
from engine.cli import main
from engine.mq import QueueManager
from engine.mq.store.checking import check
from tests.cli.command_line import ROOT
from tests.cli.faults import Fault, Left, killed_at, run, told_at

EARLIER = b"what an earlier run has written\n"
BOOK = "       01 R.\n          05 A PIC X(4).\n"
POINTS, FEW = (1000, 1000) if os.environ.get("PENSTOCK_KILLS") else (5, 3)  # at which something befalls a command
TOLD = {"SIGTERM": (signal.SIGTERM,), "SIGINT": (signal.SIGINT,), "SIGINT twice": (signal.SIGINT, signal.SIGINT)}

State = dict[str, bytes]


def ran(command: str) -> None:
    """Carries out a command in this process, which then has imported all that it needs."""
    before, sys.argv = sys.argv, ["penstock", *command.split()]
    try:
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code, command
    finally:
        sys.argv = before


def files(place: Path) -> State:
    """The files in a place; hidden ones are no results."""
    found = [place] if place.is_file() else sorted(place.rglob("*"))
    names = {file: file.relative_to(place) for file in found if file.is_file()}
    return {
        str(name): file.read_bytes() for file, name in names.items() if not any(p.startswith(".") for p in name.parts)
    }


def store(place: Path) -> State:
    """A queue manager that is there is one that nothing is wrong with."""
    if not place.exists():
        return {}
    assert [] == check(place)
    with QueueManager.open(place) as manager:
        return {name: str(manager.depth(name)).encode() for name in manager.names() if not name.startswith("SYSTEM")}


def messages(place: Path) -> State:
    """What is got is in a file or still on the queue; only a kill between writing and commit leaves it on both."""
    with QueueManager.open(place.parent / "qm") as manager:
        left = manager.depth("A")
    got = [data for name, data in files(place).items() if name != "earlier"]
    assert [b"message"] * len(got) == got
    assert 3 <= left + len(got) <= 4
    return {"earlier": (place / "earlier").read_bytes()}


def broker(place: Path) -> State:
    """A broker is there once it is created; all that it needs is there then."""
    return files(place / "identity.json") | store(place / "queues") if (place / "identity.json").exists() else {}


def over(*names: str) -> Callable[[], None]:
    """Puts earlier results in the places of these files."""

    def prepare() -> None:
        if "/" in names[0]:
            shutil.rmtree(Path(names[0]).parts[0], ignore_errors=True)
        for name in names:
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_bytes(EARLIER)

    return prepare


def programs() -> None:
    """Puts two programs that are not tidy in their places."""
    Path("e").mkdir(exist_ok=True)
    for name in ("one", "two"):
        Path(f"e/{name}.esql").write_text(f"declare {name.upper()} integer   1;\n")


def queue_manager() -> None:
    """Makes a queue manager with three messages, and an earlier message in a file."""
    shutil.rmtree("qm", ignore_errors=True)
    QueueManager.create(Path("qm"), name="QM1")
    with QueueManager.open(Path("qm")) as manager:
        manager.define("QLOCAL", "A", {"DEFPSIST": "YES"})
    ran("put A --queue-manager qm --text message --count 3")
    over("out/earlier")()


def backed_up() -> None:
    """Makes a queue manager and a backup of it, once, and takes away what a command has made of them."""
    shutil.rmtree("out", ignore_errors=True)
    if not Path("backup").exists():
        queue_manager()
        shutil.rmtree("out")
        ran("queue-manager backup qm backup")


def shop() -> None:
    """Makes a broker that runs a flow, once, and earlier files."""
    if not Path("shop").exists():
        ran("broker init shop orders/orders.yaml")
        ran("broker create shop")
    over("out/broker.yaml", "out/penstock-shop.service")()
    Path("out/broker.yaml").write_text("broker: earlier\n")  # an export replaces no other file


def deployed(place: Path) -> State:
    """What is deployed to a broker, as its repository says; its queues are whole."""
    groups = broker_of(str(place)).load().groups
    return {use.name: use.content.encode() for group in groups for use in group.flows} | store(place / "queues")


def earlier_flow() -> None:
    """Makes a broker to which an earlier flow is deployed, and a folder of two flows in place of it."""
    shop()
    text = Path("orders/orders.yaml").read_text("utf-8")
    Path("next").mkdir(exist_ok=True)
    Path("next/orders.yaml").write_text(text.replace("Auditors", "Checkers"), "utf-8")
    Path("next/more.yaml").write_text(text.replace("flow: Orders", "flow: More"), "utf-8")
    ran("deploy shop orders/orders.yaml --complete")


def no_shop() -> None:
    """Makes the folder of a broker that is not created; what a creation that was killed has left stays."""
    if not Path("out/creating.json").exists():
        shutil.rmtree("out", ignore_errors=True)
        ran("broker init out orders/orders.yaml")


def nothing() -> None:
    """Leaves nothing of an earlier command."""
    shutil.rmtree("out", ignore_errors=True)


def is_same(found: State, earlier: State, new: State) -> bool:
    """Returns True where all results are of one run."""
    return found in (earlier, new)


def is_same_file(found: State, earlier: State, new: State) -> bool:
    """Returns True where each result is of one run: what is rewritten file by file, each being one's only source."""
    return found.keys() == new.keys() and all(data in (earlier[name], new[name]) for name, data in found.items())


def is_part(found: State, earlier: State, new: State) -> bool:
    """Returns True where each result is whole: what `run` has sent when it is interrupted is delivered."""
    return all(data in (earlier.get(name), new[name]) for name, data in found.items())


def is_alike(found: State, earlier: State, new: State) -> bool:
    """Returns True where all results are of one run; two runs measure different times, and end alike."""
    ends = {name: data[-1:] for name, data in new.items()}
    return found == earlier or (
        {name: data[-1:] for name, data in found.items()} == ends and EARLIER not in found.values()
    )


@dataclass(frozen=True)
class Writer:
    """A command that writes: what it finds, what its results are, and which of them may be left."""

    command: str
    prepare: Callable[[], None]
    place: str = "out"
    state: Callable[[Path], State] = files
    may_leave: Callable[[State, State, State], bool] = is_same
    may_leave_told: Callable[[State, State, State], bool] | None = None  # when it is told to end
    points: int = POINTS


ONE = over("out")
WRITERS = {
    "decode": Writer("decode x.bin --copybook c.cpy --output out", ONE),
    "decode, quarantine": Writer("decode x.bin --copybook n.cpy --output /dev/null --quarantine out", ONE),
    "encode": Writer("encode x.json --copybook c.cpy --output out", ONE),
    "encode, quarantine": Writer("encode x.json --copybook n.cpy --output /dev/null --quarantine out", ONE),
    "messageset import": Writer("messageset import c.cpy --out out", ONE),
    "flow show": Writer("flow show orders/orders.yaml --svg out", ONE),
    "esql format": Writer("esql format --write e", programs, "e", may_leave=is_same_file),
    "test": Writer("test orders --junit out", ONE, may_leave=is_alike),
    "run": Writer(
        "run orders/orders.yaml --input orders/messages --output out",
        over("out/ORDERS.ACCEPTED/order-1.xml"),
        may_leave_told=is_part,
    ),
    "costs messages": Writer("costs messages --output out", over("out/index.json")),
    "costs": Writer(
        "costs nodes --scenario mq_input_output --size 1024 --seconds 0.001 --runs 1 --output out",
        over("out/results.json", "out/rows.csv", "out/report.html"),
        may_leave=is_alike,
    ),
    "get": Writer("get A --all --queue-manager qm --output out", queue_manager, state=messages, points=FEW),
    "put": Writer("put A --text more --count 3 --queue-manager qm", queue_manager, "qm", state=store, points=FEW),
    "purge": Writer("purge A --queue-manager qm", queue_manager, "qm", state=store, points=FEW),
    "mqsc": Writer("mqsc define.mqsc --queue-manager qm", queue_manager, "qm", state=store, points=FEW),
    "queue-manager create": Writer("queue-manager create out", nothing, state=store, points=FEW),
    "queue-manager backup": Writer("queue-manager backup qm out", backed_up, state=store, points=FEW),
    "queue-manager restore": Writer("queue-manager restore out backup", backed_up, state=store, points=FEW),
    "broker init": Writer("broker init out orders/orders.yaml", nothing),
    "broker create": Writer("broker create out", no_shop, state=broker, points=FEW),
    "deploy": Writer("deploy shop next --complete", earlier_flow, "shop", state=deployed, points=FEW),
    "broker export": Writer("broker export shop out", shop),
    "broker units": Writer("broker units shop --output out", shop),
}
"""The commands by their names. Queues, repositories and Spark have tests of their own."""


def furnish(folder: Path) -> None:
    """Puts what commands read into a folder."""
    (folder / "c.cpy").write_text(BOOK)
    (folder / "n.cpy").write_text(BOOK.replace("X", "9"))
    (folder / "define.mqsc").write_text("DEFINE QLOCAL(B) DEFPSIST(YES)\n")
    (folder / "x.bin").write_bytes(b"abcd" * 500)
    (folder / "x.json").write_text('{"A": "abcd"}\n' * 500)
    shutil.copytree(ROOT / "flows/samples/orders", folder / "orders")


class Trial:
    """A writer whose results are known, and which has imported all that it needs."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        writer.prepare()
        self.earlier = self._found()
        ran(writer.command)
        self.new = self._found()
        left, found = self.run()
        assert (0, True) == (left.code, self.is_whole(found, new=True)), left.err
        self.calls = left.calls

    def _found(self) -> State:
        return self.writer.state(Path(self.writer.place))

    def points(self) -> list[int]:
        """The calls at which something befalls it: all of them, or some from the first to the last."""
        parts = self.writer.points
        return sorted({round(part * (self.calls - 1) / (parts - 1)) for part in range(parts)})

    def run(
        self, fault: Fault = lambda _: True, *, room: int | None = None, closed: bool = False
    ) -> tuple[Left, State]:
        """Run the command, which something befalls; the answer is what it leaves."""
        self.writer.prepare()
        left = run(self.writer.command.split(), fault, room=room, closed=closed)
        return left, self._found()

    def is_whole(self, found: State, *, new: bool = False, told: bool = False) -> bool:
        """Returns True for the earlier results whole or the new ones whole, or for the new ones alone."""
        may_leave = (self.writer.may_leave_told if told else None) or self.writer.may_leave
        return may_leave(found, self.new if new else self.earlier, self.new)

    def drafts(self) -> set[Path]:
        """The hidden files and folders that are there."""
        place = Path(self.writer.place)
        return {path for folder in (place.parent, place) for path in folder.glob(".*.part*")}


@pytest.fixture(scope="module", params=WRITERS)
def trial(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trial]:
    """Each writer, in a folder of its own, among files that it may destroy."""
    folder = tmp_path_factory.mktemp("writer")
    furnish(folder)
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        patched.setenv("PENSTOCK_HOME", str(folder / "home"))
        yield Trial(WRITERS[request.param])


@pytest.mark.crash
def test_kills(trial: Trial) -> None:
    """Wherever a command is killed, the earlier results are there whole, or the new ones; it can be run again."""
    for number in trial.points():
        left, found = trial.run(killed_at(number))
        assert -signal.SIGKILL == left.code
        is_moving = any(path.name.endswith(".moving") for path in trial.drafts())  # by the next run, all of them
        assert is_moving or trial.is_whole(found), f"killed at {number} of {trial.calls}"
    left, found = trial.run()
    assert (0, True) == (left.code, trial.is_whole(found, new=True)), left.err


def test_signals(trial: Trial) -> None:
    """Wherever a command is told to end, the earlier results are there whole, or the new ones, and nothing else."""
    for number, name in zip(trial.points(), cycle(TOLD), strict=False):
        before = trial.drafts()
        left, found = trial.run(told_at(number, *TOLD[name]))
        assert left.code in {0, 1, 130, 143, -signal.SIGINT}, f"{name} at {number}: {left}"
        assert trial.is_whole(found, told=True), f"{name} at {number} of {trial.calls}"
        assert name == "SIGINT twice" or (set(), False) == (trial.drafts() - before, "Traceback" in left.err)


ROOM = 20  # bytes that each file may have


def test_a_full_disk(trial: Trial) -> None:
    """Where a file cannot be written whole, all is as it was, and a line on stderr says so."""
    before = trial.drafts()
    left, found = trial.run(room=ROOM)
    assert (1, trial.earlier, set()) == (left.code, found, trial.drafts() - before), left.err
    assert left.err.rpartition("penstock: ")[2].count("\n") == 1
    assert "itself" not in left.err


def test_a_closed_standard_output(trial: Trial) -> None:
    """A command that cannot print says so, if it has to; its results are whole."""
    before = trial.drafts()
    left, found = trial.run(closed=True)
    is_told = "penstock: standard output cannot be written: " in left.err
    assert (int(is_told), False) == (left.code, "itself" in left.err), left.err
    assert (set(), True) == (trial.drafts() - before, trial.is_whole(found))
