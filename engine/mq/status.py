"""The state of a queue manager that runs: its connections, and the queues that they have open."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engine.mq.attribute_values import Value
    from engine.mq.queue import Queue
    from engine.mq.unit import Work

Row = dict[str, "Value"]
CONN: Final = "CONN"
HANDLE: Final = "HANDLE"
QMSTATUS: Final = "QMSTATUS"
STATUS: Final = (CONN, HANDLE, QMSTATUS)


def status(kind: str, pattern: str, name: str, queues: Iterable[Queue], works: Iterable[Work]) -> list[Row]:
    """Returns the queue manager's state, its connections, or the queues that they have open, by their names."""
    working = list(works)
    if kind == QMSTATUS:
        return [{"QMNAME": name, "TYPE": "QMGR", "STATUS": "RUNNING", "CONNS": len(working)}]
    fits = re.compile(re.escape(pattern).replace(r"\*", ".*")).fullmatch
    if kind == CONN:
        shown = (_connection(work) for work in working)
        return [one for one in shown if fits(str(one[CONN]))]
    opened = [queue for queue in queues if fits(queue.definition.name)]
    return [one for work in working for one in _handles(work, opened)]


def connection_id(name: str, number: int) -> str:
    """Returns the id of a connection: of all that the queue manager of this name has, and then its own.

    >>> connection_id("QM1", 255)
    '414D5143514D3120202020202020202000000000000000FF'
    """
    return f"{f'AMQC{name[:12]:12}'.encode().hex().upper()}{number:016X}"


def _connection(work: Work) -> Row:
    user, application = work.context
    whole = connection_id(work.manager.name, id(work))
    return {
        CONN: whole[32:],
        "EXTCONN": whole[:32],
        "TYPE": CONN,
        "APPLTAG": application,
        "APPLTYPE": "USER",
        "CHANNEL": "",  # of this and the next MQ shows nothing for programs of its own machine
        "CONNAME": "",
        "PID": work.process,
        "USERID": user,
        "UOWSTATE": "NONE" if work.is_idle else "ACTIVE",
    }


def _handles(work: Work, queues: Iterable[Queue]) -> Iterator[Row]:
    for queue in queues:
        _, reads, writes = work.uses(queue)
        if reads or writes:
            name = queue.definition.name
            way = {"INPUT": "SHARED" if reads else "NO", "OUTPUT": "YES" if writes else "NO"}
            yield {"QUEUE": name, **_connection(work), "TYPE": HANDLE, "OBJNAME": name, **way}
