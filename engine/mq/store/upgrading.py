"""The steps that bring a store from each older format to the next, within one transaction each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from engine.mq.store.environment import WRITTEN, Environment
from engine.mq.store.keys import NUMBER
from engine.mq.store.records import checked, number_record
from engine.mq.store.writing import CEILING, objects

_CHECKED_SINCE_2: Final = ("counts", "references", "objects", "decisions")


def _check_counters(path: Path, size: int) -> None:
    """Give counters, definitions and decisions, which had none in format 1, checksums; and each queue a counter."""
    environment = Environment(path, size, creates=True)
    try:
        with environment.begin() as transaction:
            meta = environment.db["meta"]
            if transaction.get(WRITTEN, db=meta) == b"2":
                return  # a run before this one came so far, and not to the end
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


STEPS: Final[Mapping[int, Callable[[Path, int], None]]] = {1: _check_counters}  # by the format that each begins with
