"""penstock queue-manager demo: orders through a flow on durable queues, with a kill in the middle."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import IO, Annotated, Final, Self

import typer

from engine.cli.queue_manager import queue_managers
from engine.errors import ConfigurationException

ORDERS: Final = 1_000
_KILLED_AFTER: Final = 400
_PATIENCE: Final = 60.0
_PROGRAM: Final = (sys.executable, "-c", "from engine.cli import main; main()")
_QUEUES: Final = ("ORDERS.IN", "ORDERS.ACCEPTED", "ORDERS.AUDIT", "ORDERS.REJECTED")
_ORDER: Final = "<Order><Id>{}</Id><Customer>Ada Lovelace</Customer></Order>"


@queue_managers.command()
def demo(
    output: Annotated[Path, typer.Option(metavar="DIR", help="A folder for the queue manager; it is made.")],
) -> None:
    """Kill a queue manager and a flow in the middle of 1,000 orders, start them again, and count.

    Example: penstock queue-manager demo --output out/queue-demo
    """
    from engine.mq import QueueManager

    folder = output / "queue-manager"
    if folder.exists():
        raise ConfigurationException(f"{folder} is there already: name another folder, or remove it")
    output.mkdir(parents=True, exist_ok=True)
    QueueManager.create(folder, name="DEMO")
    with closing(QueueManager.open(folder)) as manager:
        for queue in _QUEUES:
            manager.define("QLOCAL", queue, {"DEFPSIST": "YES"})
    _say(f"A queue manager is made in {folder}, with the queues {', '.join(_QUEUES)}.")
    with Processes(folder) as processes:
        processes.start()
        _say("It runs as a process, and the flow samples.orders.Orders on it as another.")
        _put(folder)
        _wait(folder, _KILLED_AFTER)
        processes.kill()
    _say(f"In the middle of the {ORDERS:,} orders that were put, both processes are killed (SIGKILL).")
    _say(f"On disk there are now {_depths(folder)}.")
    with Processes(folder) as processes:
        began = time.monotonic()
        processes.start()
        _wait(folder, ORDERS)
        _say(f"Both are started again, and the flow is through with the rest after {time.monotonic() - began:.1f} s.")
    _say(f"On disk there are now {_depths(folder)}.")
    _judge({queue: _numbers(folder, queue) for queue in _QUEUES})


class Processes:
    """The process of the queue manager and that of the flow, which end with this."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        return self

    def start(self) -> None:
        """Start both, each when the other is ready."""
        import flows

        flow = Path(flows.__path__[0]) / "samples" / "orders" / "orders.yaml"
        self._start("queue-manager", "start", str(self._folder))
        self._start("run", str(flow), "--queue-manager", str(self._folder))

    def _start(self, *arguments: str) -> None:
        process = subprocess.Popen((*_PROGRAM, *arguments), stdout=subprocess.PIPE)  # noqa: S603 - this program itself
        self._running.append(process)
        stream: IO[bytes] | None = process.stdout
        assert stream is not None
        if b"ready" not in stream.readline():
            raise ConfigurationException(f"penstock {' '.join(arguments)} did not start: it says why above")

    def kill(self) -> None:
        """Kill both at once, as a power cut would."""
        for process in self._running:
            process.send_signal(signal.SIGKILL)

    def __exit__(self, *_: object) -> None:
        for process in reversed(self._running):
            if process.poll() is None:
                process.terminate()
            process.communicate()


def _put(folder: Path) -> None:
    lines = "".join(json.dumps({"body": _ORDER.format(number)}) + "\n" for number in range(1, ORDERS + 1))
    arguments = ("put", "ORDERS.IN", "-", "--json", "--queue-manager", str(folder))
    command = (*_PROGRAM, *arguments)
    subprocess.run(command, input=lines.encode(), stdout=subprocess.DEVNULL, check=True)  # noqa: S603 - the same


def _wait(folder: Path, accepted: int) -> None:
    """Wait until so many orders have been accepted."""
    from engine.mq import QueueManager

    end = time.monotonic() + _PATIENCE
    with closing(QueueManager.connect(folder)) as manager:
        while manager.depth("ORDERS.ACCEPTED") < accepted:
            if time.monotonic() > end:
                raise ConfigurationException(f"the flow has not accepted {accepted:,} orders in {_PATIENCE:g} s")
            time.sleep(0.002)


def _depths(folder: Path) -> str:
    from engine.mq import QueueManager

    with closing(QueueManager.open(folder)) as manager:
        depths = [f"{manager.depth(queue):,} messages on {queue}" for queue in _QUEUES]
    return f"{', '.join(depths[:-1])} and {depths[-1]}"


def _numbers(folder: Path, queue: str) -> Counter[str]:
    """Returns how often each order is on a queue."""
    from engine.mq import QueueManager

    with closing(QueueManager.open(folder)) as manager:
        return Counter(body.decode().partition("</Id>")[0].rpartition(">")[2] for _, body in manager.cursor(queue))


def _judge(found: dict[str, Counter[str]]) -> None:
    """Say what became of the orders; the exit code is 1 if one was lost, or is there twice."""
    every = {str(number) for number in range(1, ORDERS + 1)}
    lost = sum(len(every - found[queue].keys()) for queue in ("ORDERS.ACCEPTED", "ORDERS.AUDIT"))
    twice = sum(count - 1 for queue in found.values() for count in queue.values())
    _say(f"Of {ORDERS:,} orders, each with a copy for the auditors, {lost} are lost and {twice} are there twice.")
    if lost or twice or found["ORDERS.IN"] or found["ORDERS.REJECTED"]:
        raise typer.Exit(1)


def _say(text: str) -> None:
    typer.echo(text)
