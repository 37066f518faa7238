"""Published: the node costs that the WebSphere MQ Integrator V2.1 performance report gives in its appendix B."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final

from engine.costs.results import Key

MACHINE: Final = "two processors of a 9672-XZ7, OS/390, WMQI V2.1 (2002)"
PROCESSORS: Final = 2


@dataclass(frozen=True, slots=True)
class Published:
    """One row of the report: round trips a second, how busy its processors were, and what a message cost them."""

    rate: float
    cpu_percent: float
    cpu_ms: float


@cache
def published() -> Mapping[Key, Published]:
    """Every row of the report, in its order.

    >>> published()[Key("7.1", "mq_input_output", False, 1024)].cpu_ms
    1.351
    """
    text = files("engine.costs").joinpath("wmqi_v21.csv").read_text(encoding="utf-8")
    return MappingProxyType({_key(row): _figures(row) for row in csv.DictReader(text.splitlines())})


def _key(row: Mapping[str, str]) -> Key:
    return Key(row["section"], row["scenario"], row["persistent"] == "yes", int(row["message_bytes"]))


def _figures(row: Mapping[str, str]) -> Published:
    return Published(float(row["messages_per_s"]), float(row["cpu_percent"]), float(row["cpu_ms_per_message"]))
