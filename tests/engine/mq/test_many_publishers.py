"""Publishers on several threads, while subscriptions come, change and go."""

from __future__ import annotations

import threading

from engine.descriptor import Descriptor
from engine.mq import QueueManager

PUBLICATIONS = 1_500


def test_nothing_is_missed() -> None:
    """A subscription that is there all the time gets every publication, whatever others do meanwhile."""
    queues = QueueManager("FIXED", "A", "B", name="QM1")
    queues.define("SUB", "fixed", {"TOPICSTR": "t/#", "DEST": "FIXED"})
    failures: list[BaseException] = []
    ended = threading.Event()

    def publish(number: int) -> None:
        work = queues.work()
        try:
            for count in range(PUBLICATIONS):
                work.publish(f"t/{number}", Descriptor(), b"x", retain=count % 50 == 0)
                work.commit()
        except BaseException as error:
            failures.append(error)

    def change() -> None:
        try:
            while not ended.is_set():
                queues.define("SUB", "other", {"TOPICSTR": "t/+", "DEST": "A"})
                queues.alter("SUB", "other", {"DEST": "B"})
                queues.alter("SUB", "fixed", {"USERDATA": "same"})
                queues.delete("SUB", "other")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=publish, args=(number,)) for number in range(3)]
    changing = threading.Thread(target=change)
    for thread in (*threads, changing):
        thread.start()
    for thread in threads:
        thread.join()
    ended.set()
    changing.join()
    assert ([], 3 * PUBLICATIONS, 3) == (failures, queues.depth("FIXED"), queues.depth("SYSTEM.RETAINED.PUB.QUEUE"))
