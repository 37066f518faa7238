"""The check of a store: every record read, every index entry held against its message, every count counted again.

It runs in a process of its own, because a damaged file may end the one that reads it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import lmdb

from engine.errors import BrokerError
from engine.mq.store import page_checks
from engine.mq.store.environment import Environment, read_format
from engine.mq.store.keys import CHUNK, EXPIRY, NUMBER, ORDER, ORDER_AT, id_keys, order_of
from engine.mq.store.reading import stored_of
from engine.mq.store.records import read_chunk, read_head, read_number
from engine.mq.store.store import PERSISTENT
from engine.mq.store.writing import objects

_MOST: Final = 100  # problems that are told
_LONGEST: Final = 3_600.0  # seconds


def check(folder: Path) -> list[str]:
    """Returns what is wrong with a queue manager's store; nothing where it is as it was written."""
    read_format(folder)
    command = [sys.executable, "-m", __name__, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_LONGEST)  # noqa: S603
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()[-1:]
        why = f"it ended by signal {-done.returncode}" if done.returncode < 0 else f"it said {' '.join(said)!r:.200}"
        return [f"the store cannot be read to its end: the process that checked it failed, {why}"]
    found: list[str] = json.loads(done.stdout)
    return found


def problems(environment: Environment) -> Iterator[str]:
    """Yields what is wrong with an environment."""
    with environment.read() as transaction:
        expected: Counter[bytes] = Counter()
        bodies = Counter[int]()
        depths: Counter[int] = Counter()
        yield from _messages(transaction, environment, (expected, bodies, depths))
        yield from _indexes(transaction, environment, expected)
        yield from _chunks(transaction, environment, bodies)
        yield from _references(transaction, environment, bodies)
        yield from _counts(transaction, environment, depths)
        yield from _entries(transaction, environment)


def _messages(
    transaction: Any, environment: Environment, found: tuple[Counter[bytes], Counter[int], Counter[int]]
) -> Iterator[str]:
    expected, bodies, depths = found
    for key, record in _rows(transaction, environment, "messages"):
        if len(key) != ORDER.size:
            yield f"a message has the key {key.hex()}, which is none"
            continue
        queue, order = ORDER.unpack(key)
        depths[queue] += 1
        try:
            stored = stored_of(key, record, transaction, environment)
            known = read_head(key, record)
        except BrokerError as error:
            yield error.text
            continue
        expected.update(id_keys(queue, order, stored.descriptor))
        if stored.expires:
            expected[EXPIRY.pack(stored.expires, queue, order)] += 1
        if known.body is None:
            bodies[known.body_id] += 1
        if transaction.get(key, db=environment.db["messages"]) != record:
            yield f"the message {key.hex()} is not found where it stands"


def _indexes(transaction: Any, environment: Environment, expected: Counter[bytes]) -> Iterator[str]:
    for table in ("ids", "expiry"):
        for key, _ in _rows(transaction, environment, table):
            if expected.pop(key, 0) != 1:
                yield f"the index {table} has {key.hex()}, and there is no such message"
            if transaction.get(key, db=environment.db[table]) is None:
                yield f"the entry {key.hex()} of the index {table} is not found where it stands"
    for key in expected:
        place = f"order {order_of(key)}" if len(key) > ORDER_AT else key.hex()
        yield f"an index does not have the message at {place}"


def _chunks(transaction: Any, environment: Environment, bodies: Counter[int]) -> Iterator[str]:
    lengths: Counter[int] = Counter()
    for key, record in _rows(transaction, environment, "chunks"):
        try:
            lengths[CHUNK.unpack(key)[0]] += len(read_chunk(key, record))
        except BrokerError as error:
            yield error.text
    for body_id in lengths.keys() - bodies.keys():
        yield f"the body {body_id} belongs to no message"


def _references(transaction: Any, environment: Environment, bodies: Counter[int]) -> Iterator[str]:
    known = {int.from_bytes(key): read_number(key, one) for key, one in _rows(transaction, environment, "references")}
    for body_id, messages in bodies.items():
        counted = known.pop(body_id, 0)
        if counted != messages - 1:
            yield f"the body {body_id} belongs to {messages} messages, and its counter says {counted + 1}"
    for body_id in known:
        yield f"the body {body_id} belongs to no message, and has a counter"


def _counts(transaction: Any, environment: Environment, depths: Counter[int]) -> Iterator[str]:
    try:
        queues = [kept for kept in objects(transaction, environment) if kept["kind"] == "QLOCAL"]
        names = {kept["number"]: kept["name"] for kept in queues}
    except (BrokerError, KeyError, TypeError) as error:
        yield str(error)
        names = {}
    counted: set[int] = set()
    for key, count in _rows(transaction, environment, "counts"):
        number, known = int.from_bytes(key), read_number(key, count)
        if len(key) != NUMBER.size or depths[number] != known:
            yield f"queue {names.get(number, number)} has {depths[number]} messages, and its counter says {known}"
        del depths[number]
        counted.add(number)
    for number in {number for number, depth in depths.items() if depth} | names.keys() - counted:
        yield f"queue {names.get(number, number)} has {depths[number]} messages, and no counter"


def _entries(transaction: Any, environment: Environment) -> Iterator[str]:
    for name, table in environment.db.items():
        known, found = transaction.stat(table)["entries"], sum(1 for _ in _rows(transaction, environment, name))
        if known != found:
            yield f"table {name} has {found} entries, and says {known}"


def _rows(transaction: Any, environment: Environment, table: str) -> Iterator[tuple[bytes, bytes]]:
    """Yields the entries of a table; their keys must ascend."""
    with transaction.cursor(db=environment.db[table]) as cursor:
        before = b""
        for key, value in cursor.iternext(keys=True, values=True):
            if key <= before:
                raise lmdb.CorruptedError(f"the keys of table {table} do not ascend")
            before = key
            yield key, value


def _of_pages(environment: Environment) -> list[str]:
    """Returns what is wrong with the pages of a file, which may be written while they are read."""
    with open(environment.path / "data.mdb", "rb") as file:
        while True:
            with environment.read() as transaction:
                found = page_checks.problems(file.fileno(), transaction.id())
            if found is not None:  # the transaction was not the last any more when the walk began
                return found


def _told(folder: Path) -> list[str]:
    try:
        environment = Environment(folder / PERSISTENT, read_format(folder)[1], read_only=True)
        found = _of_pages(environment)
        for problem in [] if found else problems(environment):
            found.append(problem)
            if len(found) == _MOST:
                break
    except (lmdb.Error, BrokerError, ValueError) as error:
        return [f"the store cannot be read to its end: {error}"]
    return found[:_MOST]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_told(Path(sys.argv[1]))))
