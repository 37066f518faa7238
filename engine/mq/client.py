"""A queue manager in another process, reached over the socket of its folder, with the face of one in this process."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from engine.errors import MessageException
from engine.mq import frames
from engine.mq.client_work import ClientWork
from engine.mq.connection import Connection
from engine.mq.mqsc import Answer
from engine.mq.protection.unit_protection import Protection
from engine.mq.works import Publisher, Works
from engine.work import Arrival, QueueAttributes

if TYPE_CHECKING:
    pass


class Client(Publisher):
    """A queue manager that another process serves; each unit of work has a connection of its own.

    A connection that breaks ends its unit of work with reason 2009, and the next call makes a new one.
    """

    def __init__(self, folder: str | Path, user: str = "", wait: float | None = None) -> None:
        """`user` is the user for whom this process acts, which only the owner and who has ALTUSR may name.

        `wait` is how many seconds the other process has to answer first; None: as long as it takes.
        """
        self.folder = Path(folder)
        self.user = user
        self._protection = Protection()
        self._lock = threading.Lock()
        self._works = Works[ClientWork]()
        self._connection: Connection | None = Connection(self.folder, user=self.user, wait=wait)
        self.name = self._connection.greeting.name
        self.is_lasting = self._connection.greeting.lasting
        self.dead_letter_queue = self._connection.greeting.dead_letter_queue

    def work(self, user: str = "", application: str = "", *, blamed: bool = True) -> ClientWork:
        """Returns a new unit of work, of the user whose process this is, whom the kernel names, or for whom it acts.

        `blamed` says that messages which it has in hand when this process dies are counted as backed out.
        """
        del user
        made = ClientWork(lambda: self._connected(application, blamed=blamed), self._protection)
        self._works.add(made)
        return made

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def acting_for(self, user: str) -> Client:
        """Returns the queue manager as a user sees it, who is held to the authority records unless it is the owner."""
        return Client(self.folder, user)

    def _connected(self, application: str = "", *, blamed: bool = True) -> Connection:
        return Connection(self.folder, application, user=self.user, blamed=blamed)

    def close(self) -> None:
        """Ends the connections; units of work that are open are backed out, and the queue manager goes on."""
        for work in list(self._works):
            work.close()
        with self._lock:
            connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def depth(self, queue: str) -> int:
        """Returns how many messages can be got from a queue now."""
        return int(self._call("depth", queue))

    def attributes(self, queue: str) -> QueueAttributes | None:
        """Returns the attributes of a queue, or None where there is none."""
        found = self._call("attributes", queue)
        return None if found is None else QueueAttributes(**found)

    def new_id(self) -> bytes:
        """Returns an id that no other message has."""
        return bytes.fromhex(self._call("new_ids", 1))

    def browse(self, queue: str) -> list[Arrival]:
        """Returns the messages of a queue, in the order in which they would be got; they stay there."""
        return list(self.cursor(queue))

    def names(self) -> list[str]:
        """Returns the names of all queues, sorted."""
        return list(self._call("names"))

    def display(self, kind: str, pattern: str = "*") -> list[dict[str, Any]]:
        """Returns the attributes of the objects of a kind whose names fit a pattern."""
        return list(self._call("display", kind, pattern))

    def statistics(self) -> list[dict[str, Any]]:
        """Returns what was done to each queue since it was opened, as counts by their names."""
        return list(self._call("statistics"))

    def define(self, kind: str, name: str, attributes: Mapping[str, Any], *, replace: bool = False) -> None:
        """Defines an object."""
        self._call("define", kind, name, dict(attributes), replace=replace)

    def alter(self, kind: str, name: str, attributes: Mapping[str, Any]) -> None:
        """Alters the definition of an object."""
        self._call("alter", kind, name, dict(attributes))

    def delete(self, kind: str, name: str, *, purge: bool = False) -> None:
        """Deletes an object."""
        self._call("delete", kind, name, purge=purge)

    def purge(self, queue: str) -> int:
        """Removes the messages of a queue, and returns how many there were."""
        return int(self._call("purge", queue))

    def clear(self, queue: str) -> None:
        """Removes the messages of a queue that nobody has open."""
        self._call("clear", queue)

    def forget_retained(self, topic: str, point: str = "") -> bool:
        """Removes what is retained on a topic; False where nothing is."""
        return bool(self._call("forget_retained", topic, point))

    def mqsc(self, text: str) -> list[Answer]:
        """Returns the answers to a script of commands."""
        return [_answered(*values) for values in self._call("mqsc", text)]

    def decisions(self) -> dict[bytes, bool]:
        """Returns the branches of two-phase commits that are decided: True where they commit, False where refused."""
        return {bytes.fromhex(branch): bool(commits) for branch, commits in self._call("decisions").items()}

    def forget(self, branch: bytes) -> None:
        """Forgets a decision that its branch has carried out."""
        self._call("forget", branch.hex())

    def refuse(self, branch: bytes) -> bool:
        """Decides that a branch does not commit, so that a late commit is refused; False where it has been."""
        return bool(self._call("refuse", branch.hex()))

    def stop(self) -> None:
        """Has the process that serves the queue manager end in order."""
        self._call("stop")

    def cursor(self, queue: str, selector: str = "", *, examines: bool = False) -> Iterator[Arrival]:
        """Browses a queue, on a connection of its own; nothing is held between messages.

        One that `examines` browses also where gets are inhibited.
        """
        with closing(self._connected()) as connection:
            asked = {"cursor": 1, "queue": queue, "selector": selector, "examines": examines}
            connection.ask(frames.OPEN_CURSOR, asked, frames.DONE)
            last = False
            while not last:
                answer = connection.ask(frames.NEXT_PAGE, {"cursor": 1}, frames.PAGE)
                last = bool(answer.flags & frames.LAST_PAGE)
                yield from frames.read_page(answer.data)

    def _call(self, name: str, *arguments: Any, **options: Any) -> Any:
        with self._lock:
            if self._connection is None:
                self._connection = self._connected()
            try:
                return self._connection.call(name, *arguments, **options)
            except MessageException as error:
                if error.reason in {2009, 2059}:
                    self._connection.close()
                    self._connection = None
                raise


def _answered(*values: Any) -> Answer:
    """Returns an answer that came as JSON, which has no tuples."""
    answer = Answer(*values)
    return answer._replace(objects=tuple(tuple((name, value) for name, value in one) for one in answer.objects))
