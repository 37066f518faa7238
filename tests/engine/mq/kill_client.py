"""A client of a queue manager's process that says each step before and after it is done, and goes on until killed.

A line is a letter and a number, as `kill_worker` has them. Run as a program, with a folder, a log, a file whose byte
says what the client has in flight, and the persistence of what it puts.
"""

from __future__ import annotations

import mmap
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

from engine.descriptor import Descriptor
from engine.errors import MessageException
from engine.mq import QueueManager
from tests.engine.mq.kill_worker import QUEUES

IDLE, OPEN, COMMITTING, SYNCED = range(4)  # what a client has in flight; SYNCED: the answer has come, and is not said
_SIZES = (10, 10, 900, 2_500, 9_000)
_GONE = {2009, 2059, 2161}  # broken, not available, ending


class Client:
    """A client at work: `step` is the byte that the test reads when something has been killed."""

    def __init__(self, folder: Path, log: int, step: mmap.mmap, persistence: int) -> None:
        self._folder = folder
        self._log = log
        self._step = step
        self._persistence = persistence
        self._chosen = random.Random()  # noqa: S311
        self._number = int.from_bytes(os.urandom(5)) << 20

    def run(self) -> None:
        """Works through one connection after the other, for as long as a queue manager comes back."""
        while True:
            try:
                with QueueManager.connect(self._folder) as queues:
                    work = queues.work()
                    self._say("ready")
                    while True:
                        self._act(work)
            except MessageException as error:
                if error.reason not in _GONE:
                    raise
            self._step[0] = IDLE
            time.sleep(0.01)

    def _act(self, work: Any) -> None:
        act = self._chosen.randrange(10)
        self._step[0] = OPEN
        if act < 4:
            self._put(work)
        elif act < 7:
            self._take(work, moves=True)
        elif act < 9:
            self._take(work, moves=False)
        else:
            work.get(self._chosen.choice(QUEUES))
            work.back_out()
        self._step[0] = IDLE

    def _put(self, work: Any) -> None:
        numbers = [self._next() for _ in range(self._chosen.randrange(1, 4))]
        for one in numbers:
            self._say(f"p{one}")
            own = Descriptor(
                persistence=self._persistence, priority=self._chosen.randrange(3), correl_id=one.to_bytes(24)
            )
            body = b"%d " % one + bytes(self._chosen.choice(_SIZES))
            work.put(self._chosen.choice(QUEUES), own, body)
        self._commit(work)
        self._say("\n".join(f"P{one}" for one in numbers))

    def _take(self, work: Any, *, moves: bool) -> None:
        arrival = work.get(self._chosen.choice(QUEUES), wait=self._chosen.choice((0.0, 0.02)))
        if arrival is None:
            return
        one = int(arrival.body.split()[0])
        if moves:
            work.put(self._chosen.choice(QUEUES), arrival.descriptor, arrival.body)
            self._commit(work)
            return
        self._say(f"g{one}")
        self._commit(work)
        self._say(f"G{one}")

    def _commit(self, work: Any) -> None:
        self._step[0] = COMMITTING
        work.commit()
        self._step[0] = SYNCED

    def _next(self) -> int:
        self._number += 1
        return self._number

    def _say(self, line: str) -> None:
        os.write(self._log, (line + "\n").encode())


def main(folder: str, log: str, step: str, persistence: str) -> None:
    """Works until killed."""
    with open(step, "r+b") as file:
        steps = mmap.mmap(file.fileno(), 1)
    Client(Path(folder), os.open(log, os.O_WRONLY | os.O_APPEND), steps, int(persistence)).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
