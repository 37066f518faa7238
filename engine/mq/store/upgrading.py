"""The steps that bring a store from each older format to the next, within one transaction each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from engine.mq.store.environment import WRITTEN, Environment
from engine.mq.store.keys import NUMBER
from engine.mq.store.records import checked, number_record
from engine.mq.store.writing import CEILING, objects

_CHECKED_SINCE_2: Final = ("counts", "references", "objects", "decisions")
_QUEUE: Final = 4  # bytes of the number of a queue, by which entries of the index of ids began in format 2
_ID_AND_QUEUE: Final = 13  # bytes of it, of the kind of the id and of the folded id


def _check_counters(path: Path, size: int) -> None:
    """Give counters, definitions and decisions, which had none in format 1, checksums; and each queue a counter."""
    environment = Environment(path, size, creates=True)
    try:
        with environment.begin() as transaction:
            meta = environment.db["meta"]
            if _has_format(2, transaction, environment):
                return
            for name in _CHECKED_SINCE_2:
                with transaction.cursor(db=environment.db[name]) as cursor:
                    known = [(bytes(key), bytes(value)) for key, value in cursor]
                for key, value in known:
                    transaction.put(key, checked(key, value), db=environment.db[name])
            for kept in objects(transaction, environment):
                key = NUMBER.pack(kept["number"])
                if kept["kind"] == "QLOCAL" and transaction.get(key, db=environment.db["counts"]) is None:
                    transaction.put(key, number_record(key, 0), db=environment.db["counts"])
            ceiling = transaction.get(CEILING, db=meta)
            if ceiling is not None:
                transaction.put(CEILING, checked(CEILING, ceiling), db=meta)
            transaction.put(WRITTEN, b"2", db=meta)
    finally:
        environment.close()


def _order_by_ids(path: Path, size: int) -> None:
    """Let the entries of the index of ids begin with the ids: in format 2 they began with the queue."""
    environment = Environment(path, 2 * size)  # the index is there twice until the transaction ends
    try:
        with environment.begin() as transaction:
            if _has_format(3, transaction, environment):
                return
            table = environment.db["ids"]
            with transaction.cursor(db=table) as cursor:
                known = [bytes(key) for key in cursor.iternext(keys=True, values=False)]
            transaction.drop(table, delete=False)
            for key in sorted(key[_QUEUE:_ID_AND_QUEUE] + key[:_QUEUE] + key[_ID_AND_QUEUE:] for key in known):
                transaction.put(key, b"", append=True, db=table)
            transaction.put(WRITTEN, b"3", db=environment.db["meta"])
    finally:
        environment.close()


def _has_format(number: int, transaction: Any, environment: Environment) -> bool:
    """Returns True where a run before this one came so far, and not to the end."""
    return int(transaction.get(WRITTEN, b"0", db=environment.db["meta"])) >= number


STEPS: Final[Mapping[int, Callable[[Path, int], None]]] = {
    1: _check_counters,
    2: _order_by_ids,
}  # by the format that each begins with
