"""The benchmarks of publications: deliveries to many subscribers, and few subscribers beside a message to one queue."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from engine.costs.measuring import Measured, side_by_side
from engine.descriptor import Descriptor
from engine.mq import QueueManager

GROUP: Final = "queues"
MANY: Final = 1_000
FEW: Final = ((2, 0.50, 0.52), (7, 0.19, 0.21))  # subscribers; the rates that are wanted beside a put to one queue
ROUNDS: Final = 5
SECONDS: Final = 0.4
_TOLERANCE: Final = 1.06  # between runs, as the reports have it
_TOPIC: Final = "costs/orders"
_MQSTR: Final = Descriptor(format="MQSTR")
_LASTING: Final = Descriptor(format="MQSTR", persistence=1)


def benchmarks() -> Iterator[Measured]:
    """Those that the processor decides."""
    yield deliveries()
    for subscribers, rate, _ in FEW:
        yield few(subscribers, rate)


def subscribed(queues: QueueManager, count: int) -> None:
    """Let so many queues subscribe, with as many subscriptions to other topics beside."""
    for number in range(count):
        queues.define("QLOCAL", f"S{number}", {}, replace=True)
        queues.define("SUB", f"S{number}", {"TOPICSTR": "costs/#", "DEST": f"S{number}"}, replace=True)
        queues.define("SUB", f"OTHER{number}", {"TOPICSTR": f"other/{number}", "DEST": f"S{number}"}, replace=True)


def deliveries() -> Measured:
    """Messages of 1 KiB to 1,000 subscribers, published, committed and got: how many a second of the processor."""
    queues, body = QueueManager(), bytes(1_024)
    subscribed(queues, MANY)
    work, taken = queues.work(), list[float]()
    for _ in range(2 * ROUNDS):
        begun = time.process_time()
        for _ in range(10):
            work.publish(_TOPIC, _MQSTR, body)
            work.commit()
        taken.append(10 * MANY / (time.process_time() - begun))
        for number in range(MANY):
            while work.get(f"S{number}") is not None:
                pass
        work.commit()
    low, middle, high = statistics.quantiles(taken, n=4)
    return Measured(GROUP, f"deliveries to {MANY:,} subscribers", None, middle, 300_000.0, "/s", low, high, None, True)


def few(subscribers: int, rate: float) -> Measured:
    """A publication that is got by each of some subscribers, beside a message that is put and got once."""
    queues, body = QueueManager("Q"), bytes(2 * 1_024)
    subscribed(queues, subscribers)
    own, base = queues.work(), queues.work()

    def published() -> None:
        own.publish(_TOPIC, _MQSTR, body)
        own.commit()
        for number in range(subscribers):
            own.get(f"S{number}")
        own.commit()

    def put() -> None:
        base.put("Q", _MQSTR, body)
        base.commit()
        base.get("Q")
        base.commit()

    seen = side_by_side({"base": put, "own": published})
    ratio, timing = seen.ratios["own"], seen.timings["own"]
    name = f"publication to {subscribers} subscribers, beside put and get"
    base_seconds = seen.timings["base"].median
    bound = _TOLERANCE / rate
    return Measured(GROUP, name, timing.median, ratio.median, bound, "x", ratio.low, ratio.high, base_seconds)


def durable(folder: Path) -> Iterator[Measured]:
    """Persistent publications of 2 KiB to some subscribers beside puts to one queue, each a unit of work."""
    QueueManager.create(folder)
    with QueueManager.open(folder) as queues:
        queues.define("QLOCAL", "Q", {})
        work, body = queues.work(), bytes(2 * 1_024)
        for subscribers, _, rate in FEW:
            subscribed(queues, subscribers)
            rates: dict[str, list[float]] = {"put": [], "published": []}
            for _ in range(ROUNDS):
                rates["put"].append(_rate(lambda: work.put("Q", _LASTING, body), work.commit))
                rates["published"].append(_rate(lambda: work.publish(_TOPIC, _LASTING, body), work.commit))
                for queue in ("Q", *(f"S{number}" for number in range(subscribers))):
                    queues.purge(queue)
            ratios = [own / base for own, base in zip(rates["published"], rates["put"], strict=True)]
            low, middle, high = statistics.quantiles(ratios, n=4)
            name = f"persistent publication to {subscribers} subscribers, beside a put"
            beside = 1e6 / statistics.median(rates["put"])
            yield Measured(GROUP, name, None, middle, rate, "x", low, high, beside, True)


def _rate(act: Callable[[], object], commit: Callable[[], None]) -> float:
    """Returns how often a second something is done and committed."""
    count, begun = 0, time.perf_counter()
    while time.perf_counter() < begun + SECONDS:
        act()
        commit()
        count += 1
    return count / (time.perf_counter() - begun)
