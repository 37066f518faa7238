"""The socket's benchmarks: request and reply through a queue manager's process, beside a bare program that forwards."""

from __future__ import annotations

import math
import multiprocessing
import socket
import struct
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from queue import Empty
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engine.costs.durable_queues import request_and_reply, sizes
from engine.costs.measuring import (
    BROKEN,
    Measured,
    Row,
    figure,
    in_turn,
    once_there,
    rates_beside,
    repeated,
    time_beside,
)
from engine.costs.queue_programs import BODY, committing, filled
from engine.descriptor import Descriptor
from engine.errors import BrokerError
from engine.mq import QueueManager, frames
from engine.mq.connection import Connection
from engine.mq.server import Server
from engine.mq.socket_poll import READS, poll
from engine.work import Selection

if TYPE_CHECKING:
    from multiprocessing.context import ForkProcess

_ROUNDS: Final = 3
_TRIPS: Final = 4_800  # round trips of one run, of all requesters together
_BESIDE: Final = 1_200  # of one that something goes on beside
_WAITERS: Final = 82
_PASSED: Final = 500  # messages of one run
_WHERE: Final = " over the socket"
_IDLE: Final = 2.0  # seconds
_BEGUN: Final = 0.1  # seconds after which what disturbs is at it
_PURGED: Final = 1_000_000  # messages
_LOOKED_THROUGH: Final = 100_000
_HUGE: Final = 100_000_000  # bytes of a body
_LOOKS: Final = 1.0  # seconds between looks at the processes that are waited for
_HEAD: Final = struct.Struct("<IB3xQ")  # length, what is asked, who waits for the reply
_REQUEST, _NEXT = 1, 2
_PROCESSES: Final = multiprocessing.get_context("fork")


class Trips(NamedTuple):
    """Round trips as their requesters saw them: how many a second, and the seconds of each, sorted."""

    rate: float
    seconds: list[float]

    @property
    def median(self) -> float:
        """The seconds of the one in the middle."""
        return self.seconds[len(self.seconds) // 2]

    @property
    def tail(self) -> float:
        """The seconds that 99 of 100 do not take."""
        return self.seconds[len(self.seconds) * 99 // 100]


def through_the_socket(folder: Path) -> Iterator[Measured]:
    """Round trips of one requester and of four, beside the bare program; what waits, and what goes on beside."""
    QueueManager.create(folder / "SOCKET")
    with _served(folder / "SOCKET") as (client, used, fill):
        for queue in ("REQUESTS", "REPLIES", "LARGE", "HUGE"):
            client.define("QLOCAL", queue, {"MAXDEPTH": 1_000_000, "MAXMSGL": 104_857_600})
        seen = [(_bare(folder, n), _ours(folder / "SOCKET", n)) for _ in range(_ROUNDS) for n in (1, 4)]
        bare, ours = ([each.median for each in side] for side in zip(*seen[::2], strict=True))
        name = "request and reply of 2 KiB, 1 requester, beside bare"
        yield time_beside(Row(name, 3.0), ours, bare, 1e6)
        bare, ours = ([each.rate for each in side] for side in zip(*seen[1::2], strict=True))
        yield rates_beside(Row("round trips a second, 4 requesters, beside bare", 0.4), {"bare": bare, "ours": ours})
        yield from over_the_socket(client, used)
        yield idle(client, used)
        yield from disturbed(folder / "SOCKET", fill)


def over_the_socket(client: Any, used: Callable[[], float]) -> Iterator[Measured]:
    """The workloads that the reports have of clients as of programs with a queue manager of their own."""
    for queue in ("Q0", "Q1"):
        client.define("QLOCAL", queue, {})
    work, bodies = client.work(), {"small": bytes(2_048), "large": bytes(131_072)}

    def passed(body: bytes) -> float:
        begun = time.process_time() + used()
        for _ in range(_PASSED):
            work.put("Q0", Descriptor(), body)
            work.commit_then_get("Q0")
        work.commit()
        return time.process_time() + used() - begun

    spent = in_turn({name: partial(passed, body) for name, body in bodies.items()})
    small, large = spent.values()
    name = "put and get over the socket, 128 KiB beside 2 KiB"
    yield time_beside(Row(name, 8.0), large, small, 1e6 / _PASSED)
    work.close()
    yield from request_and_reply(client, _WHERE)
    yield from sizes(client, _WHERE)


def idle(client: Any, used: Callable[[], float]) -> Measured:
    """The processor time that a process with 82 waiters takes, beside that of one processor."""
    works = [client.work() for _ in range(_WAITERS)]
    threads = [threading.Thread(target=work.get, args=("LARGE",), kwargs={"wait": -1.0}) for work in works]
    for thread in threads:
        thread.start()
    time.sleep(0.5)
    before = used()
    time.sleep(_IDLE)
    share = (used() - before) / _IDLE
    for work, thread in zip(works, threads, strict=True):
        work.interrupt()
        thread.join()
        work.close()
    return figure(Row(f"{_WAITERS} waiters, beside a processor", 0.01), [share])


def disturbed(folder: Path, fill: Callable[[int], float]) -> Iterator[Measured]:
    """The slowest of 100 round trips beside what takes long, and without it."""
    for name, disturb, depth in (
        ("a scan", _scan, _LOOKED_THROUGH),
        ("a client that never reads", _never_reads, 0),
        ("puts of 100 MB", _put_huge, 0),
        ("a purge", _purge, _PURGED),
    ):
        fill(depth)
        quiet = _ours(folder, 1, _BESIDE)
        other = _PROCESSES.Process(target=disturb, args=(folder,))
        other.start()
        time.sleep(_BEGUN)
        beside = _ours(folder, 1, _BESIDE)
        went_on = other.is_alive()
        other.kill()
        other.join()
        ratio = beside.tail / quiet.tail if went_on else math.nan  # it had ended, and disturbed nobody
        yield figure(Row(f"slowest of 100 round trips beside {name}", 10.0), [ratio], quiet.tail * 1e6)


def _purge(folder: Path) -> None:
    _reached(folder).purge("LARGE")


def _scan(folder: Path) -> None:
    while True:
        _reached(folder).work().get("LARGE", Selection(selector="colour = 'none'"))


def _put_huge(folder: Path) -> None:
    repeated(committing(_reached(folder).work(), "HUGE", "HUGE", body=bytes(_HUGE), own=Descriptor()))(math.inf)


def _never_reads(folder: Path) -> None:
    connection = Connection(folder)
    wanted = frames.get_data(frames.Get("LARGE", Selection(browse=True), syncpoint=False, wait=0.0))
    while True:
        connection.send([frames.frame(frames.GET, wanted)])


@contextmanager
def _served(folder: Path) -> Iterator[tuple[Any, Callable[[], float], Callable[[int], float]]]:
    """Serves a folder by a process; gives a client, what tells the process's processor time, and what fills a queue."""
    here, there = _PROCESSES.Pipe()
    process = _PROCESSES.Process(target=_serve, args=(folder, there), daemon=True)
    process.start()
    there.close()  # so that the end of the process is seen
    client = _reached(folder)

    def used(depth: int = 0) -> float:
        here.send(depth)
        return float(here.recv())

    try:
        yield client, used, used
    finally:
        client.stop()
        client.close()
        process.join()


def _serve(folder: Path, pipe: Any) -> None:
    """Serves a folder; a number in the pipe is the depth to fill a queue to, and the answer is the processor time."""
    sys.setswitchinterval(0.0005)
    with QueueManager.open(folder) as manager:

        def tell() -> None:
            while True:
                filled(manager, pipe.recv() - manager.depth("LARGE"), body=bytes(100), queue="LARGE")
                pipe.send(time.process_time())

        threading.Thread(target=tell, daemon=True).start()
        Server(manager, folder).serve()


def _reached(folder: Path) -> Any:
    return once_there(partial(QueueManager.connect, folder))


def _ours(folder: Path, requesters: int, trips: int = _TRIPS) -> Trips:
    """Round trips through the queue manager of a folder, with a replier for two requesters."""
    return _trips(lambda answers: _ask(folder, trips // requesters, answers), requesters, lambda: _answer(folder))


def _ask(folder: Path, times: int, answers: Any) -> None:
    work, taken = _reached(folder).work(), []
    for _ in range(times):
        begun = time.perf_counter()
        sent = work.put("REQUESTS", Descriptor(reply_to_q="REPLIES"), BODY)
        work.commit_then_get("REPLIES", Selection(correl_id=sent.msg_id), wait=60.0)
        taken.append(time.perf_counter() - begun)
    work.commit()
    answers.put(taken)


def _answer(folder: Path) -> None:
    work = _reached(folder).work()
    asked = work.get("REQUESTS", wait=-1.0)
    while True:
        reply = Descriptor(correl_id=asked.descriptor.msg_id)
        work.put(asked.descriptor.reply_to_q, reply, asked.body)
        asked = work.commit_then_get("REQUESTS", wait=-1.0)


def _trips(ask: Callable[[Any], None], requesters: int, answer: Callable[[], None]) -> Trips:
    answers = _PROCESSES.Queue()
    repliers = [_PROCESSES.Process(target=answer, daemon=True) for _ in range((requesters + 1) // 2)]
    askers = [_PROCESSES.Process(target=ask, args=(answers,)) for _ in range(requesters)]
    for process in repliers:
        process.start()
    time.sleep(0.2)
    begun = time.perf_counter()
    for process in askers:
        process.start()
    try:
        seconds = sorted(second for _ in askers for second in _seen(answers, askers, repliers))
        for process in askers:
            process.join()
        rate = len(seconds) / (time.perf_counter() - begun)
    finally:
        for process in (*askers, *repliers):
            process.kill()
            process.join()
    return Trips(rate, seconds)


def _seen(answers: Any, askers: list[ForkProcess], repliers: list[ForkProcess]) -> list[float]:
    """Returns the seconds that the next of the askers tells; raises where a process has ended that should not have."""
    while True:
        with suppress(Empty):
            found: list[float] = answers.get(timeout=_LOOKS)
            return found
        if any(process.exitcode for process in askers) or any(process.exitcode is not None for process in repliers):
            raise BrokerError(BROKEN, "a process that asks or answers has ended: it says why above")


def _bare(folder: Path, requesters: int) -> Trips:
    """Round trips through a program that forwards frames and promises nothing."""
    path = str(folder / "bare.socket")
    server = _PROCESSES.Process(target=_forward, args=(path,), daemon=True)
    server.start()
    try:
        each = _TRIPS // requesters
        return _trips(lambda answers: _ask_bare(path, each, answers), requesters, lambda: _answer_bare(path))
    finally:
        server.kill()
        server.join()
        Path(path).unlink()


def _forward(path: str) -> None:
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path)
    listening.listen(64)
    watched = poll()
    watched.register(listening.fileno(), READS)
    connections: dict[int, socket.socket] = {}
    requests: deque[bytes] = deque()
    waiting: deque[socket.socket] = deque()
    while True:
        for number, _ in watched.poll():
            if number == listening.fileno():
                connection, _ = listening.accept()
                connections[connection.fileno()] = connection
                watched.register(connection.fileno(), READS)
            elif not _passed(number, connections, requests, waiting):
                watched.unregister(number)
                connections.pop(number).close()


def _passed(
    number: int, connections: dict[int, socket.socket], requests: deque[bytes], waiting: deque[socket.socket]
) -> bool:
    """Passes a frame on to whom it is for; False where the connection has ended."""
    connection = connections[number]
    try:
        kind, who, body = _frame(connection)
    except EOFError:
        return False
    if kind == _REQUEST:
        asked = _HEAD.pack(len(body), _NEXT, number) + body
        if waiting:
            waiting.popleft().sendall(asked)
        else:
            requests.append(asked)
        return True
    if who:
        connections[who].sendall(_HEAD.pack(len(body), _REQUEST, who) + body)
    if requests:
        connection.sendall(requests.popleft())
    else:
        waiting.append(connection)
    return True


def _frame(connection: socket.socket) -> tuple[int, int, bytes]:
    data = connection.recv(_HEAD.size + len(BODY))
    while data and len(data) < _HEAD.size + _HEAD.unpack_from(data)[0]:
        data += connection.recv(len(BODY))
    if not data:
        raise EOFError
    _, kind, who = _HEAD.unpack_from(data)
    return kind, who, data[_HEAD.size :]


def _ask_bare(path: str, times: int, answers: Any) -> None:
    connection, taken = _bare_connection(path), []
    for _ in range(times):
        begun = time.perf_counter()
        connection.sendall(_HEAD.pack(len(BODY), _REQUEST, 0) + BODY)
        _frame(connection)
        taken.append(time.perf_counter() - begun)
    answers.put(taken)


def _answer_bare(path: str) -> None:
    connection = _bare_connection(path)
    connection.sendall(_HEAD.pack(0, _NEXT, 0))
    while True:
        _, who, body = _frame(connection)
        connection.sendall(_HEAD.pack(len(body), _NEXT, who) + body)


def _bare_connection(path: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    once_there(partial(connection.connect, path))
    return connection
