"""A client of a queue manager's process that says each step before and after it is done, and goes on until killed.

A line is a letter and a number, as `kill_worker` has them. Run as a program, with a folder, a log, a file whose byte
says what the client has in flight, and the persistence of what it puts. Half of its commits carry the next get, in
one of both forms: `commit_then_get`, and `patience`, which flows have; some commit with the decision of a branch.
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
from engine.work import Selection
from tests.engine.mq.kill_worker import QUEUES

# What a client has in flight; EXCHANGING: a commit and the get behind it; SYNCED: the answer has come, and is not said;
# GETTING: a get outside any unit.
IDLE, OPEN, SYNCED, COMMITTING, EXCHANGING, DECIDING, GETTING = range(7)
_SIZES = (10, 10, 900, 2_500, 9_000)
_BACKED_OUT = 2003
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
                        self._act(queues, work)
            except MessageException as error:
                if error.reason not in _GONE:
                    raise
            self._step[0] = IDLE
            time.sleep(0.01)

    def _act(self, queues: Any, work: Any) -> None:
        act = self._chosen.randrange(24)
        self._step[0] = OPEN
        if act < 4:
            self._put(work)
        elif act < 5:
            self._put_outside(work)
        elif act < 8:
            self._take(work, moves=True)
        elif act < 10:
            self._take(work, moves=False)
        elif act < 14:
            self._exchange(work)
        elif act < 18:
            self._flow(work)
        elif act < 19:
            self._decide(queues, work)
        elif act < 22:
            self._take_outside(work)
        elif act < 23:
            self._browse(queues)
        else:
            work.get(self._chosen.choice(QUEUES))
            work.back_out()
        self._step[0] = IDLE

    def _put(self, work: Any) -> None:
        numbers = self._put_some(work)
        self._commit(work)
        self._said(numbers)

    def _put_outside(self, work: Any) -> None:
        """Puts outside the unit of work: each put is acknowledged by itself."""
        for _ in range(self._chosen.randrange(1, 4)):
            one = self._next()
            self._step[0] = COMMITTING
            self._put_one(work, one, syncpoint=False)
            self._step[0] = SYNCED
            self._said([one])

    def _take_outside(self, work: Any) -> None:
        """Puts and gets a message outside the unit of work: that it is gone is acknowledged by the get itself."""
        one, queue = self._next(), self._chosen.choice(QUEUES)
        self._step[0] = COMMITTING
        self._put_one(work, one, queue, syncpoint=False)
        self._step[0] = SYNCED
        self._said([one])
        self._say(f"g{one}")
        self._step[0] = GETTING
        arrival = work.get(queue, Selection(correl_id=one.to_bytes(24)), syncpoint=False)
        self._step[0] = SYNCED
        if arrival is not None:
            assert one == int(arrival.body.split()[0])
            self._say(f"G{one}")

    def _browse(self, queues: Any) -> None:
        """Browses a queue to its end while others put and get, which the store holds against what it counts."""
        for arrival in queues.cursor(self._chosen.choice(QUEUES)):
            number, rest = arrival.body.split(b" ", 1)
            assert int(number)
            assert not rest.strip(b"\0")

    def _put_some(self, work: Any) -> list[int]:
        numbers = [self._next() for _ in range(self._chosen.randrange(1, 4))]
        for one in numbers:
            self._put_one(work, one)
        return numbers

    def _put_one(self, work: Any, one: int, queue: str = "", *, syncpoint: bool = True) -> None:
        self._say(f"p{one}")
        own = Descriptor(persistence=self._persistence, priority=self._chosen.randrange(3), correl_id=one.to_bytes(24))
        body = b"%d " % one + bytes(self._chosen.choice(_SIZES))
        work.put(queue or self._chosen.choice(QUEUES), own, body, syncpoint=syncpoint)

    def _take(self, work: Any, *, moves: bool) -> None:
        arrival = work.get(self._chosen.choice(QUEUES), wait=self._chosen.choice((0.0, 0.02)))
        if arrival is None:
            return
        if moves:
            work.put(self._chosen.choice(QUEUES), arrival.descriptor, arrival.body)
            self._commit(work)
            return
        one = self._got(arrival)
        self._commit(work)
        self._say(f"G{one}")

    def _exchange(self, work: Any) -> None:
        """Puts, then moves what each commit brings, or takes it; the last is backed out."""
        numbers, got = self._put_some(work), 0
        for _ in range(self._chosen.randrange(1, 6)):
            self._step[0] = EXCHANGING
            arrival = work.commit_then_get(self._chosen.choice(QUEUES), wait=self._chosen.choice((0.0, 0.02)))
            self._step[0] = SYNCED
            self._said(numbers)
            if got:
                self._say(f"G{got}")
            numbers, got = [], 0
            self._step[0] = OPEN
            if arrival is None:
                return
            if self._chosen.randrange(3):
                work.put(self._chosen.choice(QUEUES), arrival.descriptor, arrival.body)
            else:
                got = self._got(arrival)
                numbers = self._put_some(work) if self._chosen.randrange(2) else []
        work.back_out()

    def _flow(self, work: Any) -> None:
        """Moves messages from one queue as a flow does, whose commit carries the get of the next; some are taken."""
        queue, work.patience = self._chosen.choice(QUEUES), 0.02
        for _ in range(self._chosen.randrange(2, 6)):
            arrival = work.get(queue, wait=work.patience)
            if arrival is None:
                break
            self._step[0], got = OPEN, 0
            if self._chosen.randrange(4):
                work.put(self._chosen.choice(QUEUES), arrival.descriptor, arrival.body)
            else:
                got = self._got(arrival)
            self._step[0] = EXCHANGING
            work.commit()
            self._step[0] = SYNCED
            if got:
                self._say(f"G{got}")
        work.patience = 0.0

    def _decide(self, queues: Any, work: Any) -> None:
        """Commits with the decision of a branch, which is sometimes refused before; some are forgotten then."""
        one = self._next()
        branch, refused = one.to_bytes(24), self._chosen.randrange(3) == 0
        self._say(f"p{one}\nd{one}")
        own = Descriptor(persistence=self._persistence, correl_id=one.to_bytes(24))
        work.put(self._chosen.choice(QUEUES), own, b"%d " % one)
        if refused:
            self._say(f"n{one}")
            assert queues.refuse(branch)
            self._say(f"N{one}")
        self._step[0] = DECIDING
        try:
            work.commit((branch,))
        except MessageException as error:
            if error.reason != _BACKED_OUT or not refused:
                raise
            work.back_out()
        else:
            self._step[0] = SYNCED
            self._say(f"P{one}\nD{one}")
        if self._chosen.randrange(2):
            self._say(f"o{one}")
            queues.forget(branch)

    def _commit(self, work: Any) -> None:
        self._step[0] = COMMITTING
        work.commit()
        self._step[0] = SYNCED

    def _got(self, arrival: Any) -> int:
        one = int(arrival.body.split()[0])
        self._say(f"g{one}")
        return one

    def _said(self, numbers: list[int]) -> None:
        if numbers:
            self._say("\n".join(f"P{one}" for one in numbers))

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
