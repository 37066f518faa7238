"""A workload whose every step is said before and after it is done, and what a queue manager must hold when it ends.

A line is a letter and a number: `p` and `g` before a message is put or got, `P` and `G` after the commit of either;
`t` and `T` the same for a publication, `k` and `K` for a get of one by its second subscriber, `f` and `F` for a message
that a flow publishes; `s` and `h` before one is put where it is copied to a queue or to a topic; `r0.7` and `R0.7` for
publication 7, which is retained on topic 0; `u1.2` before messages 1 and 2 are put or published in one unit; `d` and
`D` for the decision of a branch that commits with a put, `n` and `N` for its refusal, `o` before either is forgotten.
Run as a program, with a folder, a log and a file for its step, it works with several threads until it is killed.
"""

from __future__ import annotations

import mmap
import os
import random
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from engine.descriptor import Descriptor
from engine.mq import QueueManager
from engine.mq.properties import properties_of, split
from engine.mq.topics.retained import RETAINED
from engine.mq.unit import Work
from engine.runtime.deployment import DeployedFlow, deploy
from engine.work import Arrival, Selection
from flows.files import load_flow

QUEUES = ("A", "B", "C")
STREAMED, COPIES = "D", "E"  # each message that is put on the one is copied to the other, and stays there
AIRED, HEARD = "F", ("F.1", "F.2")  # each message that is put there is copied to a topic, and stays with its two heirs
FIRST, SECOND = "P.1", "P.2"  # what is published goes to both; messages of the first stay there
TOPIC = "kills"
THREADS = 4
STEPS = {"idle": 0, "written": 1, "synced": 2}
_SIZES = (10, 10, 900, 2_500, 9_000)
_PUT = (*QUEUES, STREAMED, AIRED)
_COPIED = {STREAMED: "s", AIRED: "h"}
_DEFINITIONS = f"""DEFINE QLOCAL({COPIES})
DEFINE QLOCAL({STREAMED}) STREAMQ({COPIES})
DEFINE TOPIC(AIR) TOPICSTR('air')
DEFINE QALIAS(AIR) TARGET(AIR) TARGTYPE(TOPIC)
DEFINE QLOCAL({AIRED}) STREAMQ(AIR)
"""
_FLOW = f"""flow: Publishing
nodes:
  In: {{type: MQInput, queueName: {QUEUES[0]}, topicProperty: {TOPIC}/flow}}
  Publish: {{type: Publication}}
wires:
  - In.out -> Publish
"""
Say = Callable[[str], object]


def publishing_flow() -> DeployedFlow:
    """Returns a flow that publishes the messages of the first queue, for one thread."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "publishing.yaml"
        file.write_text(_FLOW)
        return deploy(load_flow(str(file)))


class Spoken:
    """A unit of work as a flow has it, which says what it gets before the flow goes on."""

    def __init__(self, work: Work, say: Say) -> None:
        self._work = work
        self._say = say
        self.number = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._work, name)

    def get(self, *given: Any, **named: Any) -> Arrival | None:
        arrival = self._work.get(*given, **named)
        if arrival is not None:
            self.number = int(arrival.body.split()[0])
            self._say(f"f{self.number}")
        return arrival


class Worker:
    """Puts, moves, gets, publishes and backs out messages, and says so; its numbers begin at one of its own."""

    def __init__(
        self, queues: QueueManager, say: Say, flow: DeployedFlow, seed: int, first: int, topic: int = 0
    ) -> None:
        self._work = queues.work()
        self._say = say
        self._flow = flow
        self._chosen = random.Random(seed)  # noqa: S311
        self._numbers = count(first)
        self._topic = topic

    def run(self, turns: int) -> None:
        """Do so many things."""
        for _ in range(turns):
            act = self._chosen.randrange(14)
            if act < 4:
                self._put()
            elif act < 6:
                self._move()
            elif act < 7:
                self._work.get(self._chosen.choice(_PUT))
                self._work.back_out()
            elif act < 9:
                self._take(self._chosen.choice(_PUT), "g")
            elif act < 11:
                self._publish()
            elif act < 12:
                self._take(SECOND, "k")
            else:
                self._run_flow()

    def _put(self) -> None:
        numbers = [next(self._numbers) for _ in range(self._chosen.randrange(1, 4))]
        self._unit(numbers)
        for one in numbers:
            queue = self._chosen.choice(_PUT)
            self._say(f"p{one}\n{_COPIED[queue]}{one}" if queue in _COPIED else f"p{one}")
            self._work.put(queue, *self._message(one))
        self._work.commit()
        self._say("\n".join(f"P{one}" for one in numbers))

    def _publish(self) -> None:
        """Publish, sometimes to be retained, sometimes with a message to a queue in the same unit."""
        one, beside = next(self._numbers), self._chosen.choice((0, next(self._numbers)))
        self._unit([one, beside] if beside else [one])
        if retain := self._chosen.randrange(2) == 0:
            self._say(f"t{one}\nr{self._topic}.{one}")
            self._work.publish(f"{TOPIC}/{self._topic}", *self._message(one), retain=True)
        else:
            self._say(f"t{one}")
            self._work.publish(f"{TOPIC}/{self._topic}", *self._message(one))
        if beside:
            self._say(f"p{beside}")
            self._work.put(self._chosen.choice(QUEUES), *self._message(beside))
        self._work.commit()
        self._say(f"T{one}" + f"\nR{self._topic}.{one}" * retain + f"\nP{beside}" * bool(beside))

    def _unit(self, numbers: list[int]) -> None:
        if len(numbers) > 1:
            self._say("u" + ".".join(map(str, numbers)))

    def _message(self, one: int) -> tuple[Descriptor, bytes]:
        own = Descriptor(persistence=1, priority=self._chosen.randrange(3), correl_id=one.to_bytes(24))
        return own, b"%d " % one + bytes(self._chosen.choice(_SIZES))

    def _move(self) -> None:
        arrival = self._work.get(self._chosen.choice(QUEUES))
        if arrival is not None:
            self._work.put(self._chosen.choice(QUEUES), arrival.descriptor, arrival.body)
            self._work.commit()

    def _take(self, queue: str, letter: str) -> None:
        wanted = Selection(selector="JMSPriority = 1") if self._chosen.randrange(4) == 0 else None
        arrival = self._work.get(queue, wanted)
        if arrival is None:
            return
        one = int(arrival.body.split()[0])
        self._say(f"{letter}{one}")
        self._work.commit()
        self._say(f"{letter.upper()}{one}")

    def _run_flow(self) -> None:
        spoken = Spoken(self._work, self._say)
        outcome = self._flow.process(self._flow.entrances[0], spoken)
        if outcome is not None:
            assert outcome.error is None, outcome.error
            self._say(f"F{spoken.number}")


class Held(NamedTuple):
    """The messages that were found, their copies on a queue, those of topics by subscriber, what topics retained, and
    the branches that are decided.
    """

    found: list[int]
    copies: list[int]
    topics: Mapping[str, list[int]] = MappingProxyType({})
    retained: Mapping[int, list[int]] = MappingProxyType({})
    decided: Mapping[int, bool] = MappingProxyType({})


def problems(said: list[str], held: Held) -> list[str]:
    """Returns which promises the messages that are found break; `said` are the lines of the workload."""
    told = {letter: {int(line[1:]) for line in said if line[:1] == letter} for letter in "pPgGshtTkKfFdDnNo"}
    found, first = Counter(held.found), Counter(held.topics.get(FIRST, ()))
    there = found + first
    wrong = [f"message {one} is there {many} times" for one, many in there.items() if many > 1]
    wrong += [f"message {one} was lost" for one in (told["P"] | told["T"]) - told["g"] if not there[one]]
    wrong += [f"message {one} was got, and is there again" for one in told["G"] if there[one]]
    wrong += [f"message {one} was published by a flow, and is still on a queue" for one in told["F"] if found[one]]
    wrong += [f"message {one} was never put" for one in found if one not in told["p"]]
    wrong += [f"message {one} was never published" for one in first if one not in told["t"] | told["f"]]
    kept = set(there) | told["g"]
    for line in said:
        if line[:1] == "u" and 0 < sum(one in kept for one in _unit(line)) < line.count(".") + 1:
            wrong.append(f"of the unit {line[1:]} a part is there")
    copied = {one for one in told["s"] if found[one]} | (told["G"] & told["s"])
    wrong += _copies_wrong("queue", held.copies, copied, told["g"] & told["s"])
    aired = {one for one in told["h"] if found[one]} | (told["G"] & told["h"])
    for heir in HEARD:
        wrong += _copies_wrong(heir, held.topics.get(heir, ()), aired, told["g"] & told["h"])
    second = held.topics.get(SECOND, ())
    wrong += _copies_wrong(SECOND, second, set(first) - told["k"], set(first) & told["k"] - told["K"])
    return [*wrong, *_decisions_wrong(told, held, kept), *_retained_wrong(said, held, first)]


def _copies_wrong(where: str, copies: list[int] | tuple[int, ...], must: set[int], may: set[int]) -> Iterator[str]:
    """Yields what is wrong with copies: those of `must` are there once, those of `may` perhaps, and no others."""
    counts = Counter(copies)
    yield from (f"message {one} has {many} copies ({where})" for one, many in counts.items() if many > 1)
    yield from (f"message {one} has no copy ({where})" for one in must if not counts[one])
    yield from (f"message {one} has a copy, and is not there ({where})" for one in counts if one not in must | may)


def _decisions_wrong(told: Mapping[str, set[int]], held: Held, kept: set[int]) -> Iterator[str]:
    """Yields what is wrong with branches: each is decided as what commits with it, and stays so until forgotten."""
    for one in told["d"] - told["o"]:
        commits = held.decided.get(one)
        if (one in kept) is not (commits is True):
            yield f"message {one} is {'' if one in kept else 'not '}kept, and its branch is decided as {commits}"
        if one in told["N"] and commits is not False:
            yield f"branch {one} was refused, and is decided as {commits}"
    yield from (f"message {one} was kept, and its branch refused" for one in told["N"] & kept)
    yield from (f"branch {one} was never to be decided" for one in held.decided if one not in told["d"])


def _retained_wrong(said: list[str], held: Held, published: Counter[int]) -> Iterator[str]:
    """Yields what is wrong with what is retained: the last publication of a topic that was said, or one begun since."""
    begun: dict[int, list[int]] = {}
    done: set[int] = set()
    for line in said:
        if line[:1] in {"r", "R"} and line != "ready":
            topic, one = _unit(line)
            begun[topic] = [*begun.get(topic, []), one] if line[:1] == "r" else [one]
            done |= {topic} if line[:1] == "R" else set()
    for topic, numbers in held.retained.items():
        if len(numbers) > 1 or not {*numbers} <= {*begun.get(topic, [])}:
            yield f"topic {topic} retains {numbers}, and not one of {begun.get(topic)}"
        yield from (f"{one} is retained, and has not been delivered" for one in numbers if not published[one])
    yield from (f"topic {topic} retains nothing" for topic in done - set(held.retained))


def _unit(line: str) -> list[int]:
    return [int(number) for number in line[1:].split(".")]


def defined(queues: QueueManager) -> None:
    """Define the queues of the workload, and who subscribes."""
    subscribed = [(FIRST, f"{TOPIC}/#"), (SECOND, f"{TOPIC}/+"), *((heir, "air") for heir in HEARD)]
    subscriptions = "".join(
        f"DEFINE QLOCAL({queue})\nDEFINE SUB({queue}) TOPICSTR('{topic}') DEST({queue})\n"
        for queue, topic in subscribed
    )
    locals_ = "".join(f"DEFINE QLOCAL({queue}) BOTHRESH(999999)\n" for queue in QUEUES)  # a flow takes them all
    for answer in queues.mqsc(locals_ + _DEFINITIONS + subscriptions):
        assert not answer.failed, answer


def held(folder: Path) -> Held:
    """Returns the messages of a folder, and takes them off, so that none is stuck."""
    with QueueManager.open(folder, wait=5) as queues:
        work, topics, retained = queues.work(), dict[str, list[int]](), dict[int, list[int]]()
        found = Held(list(_taken(queues, work, *_PUT)), list(_taken(queues, work, COPIES)), topics, retained)
        for queue in (FIRST, SECOND, *HEARD):
            if numbers := list(_taken(queues, work, queue)):
                topics[queue] = numbers
        if RETAINED in queues.names():
            while (arrival := work.get(RETAINED)) is not None:
                topic, one = _retained_in(arrival)
                retained.setdefault(topic, []).append(one)
        work.commit()
    return found


def _taken(queues: QueueManager, work: Work, *names: str) -> Iterator[int]:
    for queue in names:
        while (arrival := work.get(queue)) is not None:
            yield int(arrival.body.split()[0])
        assert queues.depth(queue) == 0


def _retained_in(arrival: Arrival) -> tuple[int, int]:
    """Returns the topic and the number of a publication that is retained."""
    topic = str(properties_of(*arrival)["mqps.Top"]).rpartition("/")[2]
    return int(topic), int(split(*arrival)[2].split()[0])


def main(folder: str, log: str, step: str) -> None:
    """Work until killed."""
    with open(step, "r+b") as file:
        steps = mmap.mmap(file.fileno(), 1)
    lines = os.open(log, os.O_WRONLY | os.O_APPEND)
    queues = QueueManager.open(folder, wait=5)
    assert queues.store is not None

    def note(name: str) -> None:
        steps[0] = STEPS[name]

    queues.store.store.journal.transactions.watch = note
    first = int.from_bytes(os.urandom(5)) << 20

    def say(line: str) -> None:
        os.write(lines, (line + "\n").encode())

    workers = [
        Worker(queues, say, publishing_flow(), random.randrange(1 << 30), first + (topic << 18), topic)  # noqa: S311
        for topic in range(THREADS)
    ]

    def run(worker: Worker) -> None:
        while True:
            worker.run(50)

    for worker in workers[1:]:
        threading.Thread(target=run, args=(worker,), daemon=True).start()
    say("ready")
    run(workers[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
