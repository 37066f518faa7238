"""The part of a queue manager that commands need, and what each kind of object is called in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Protocol

from engine.mq.attribute_values import Value


class Objects(Protocol):
    """A queue manager as its commands see it.

    `display` gives each object as its attributes by their names in MQSC; the first is the object's name under the
    name of its kind (QUEUE, QMNAME, TOPIC, SUB).
    """

    def define(self, kind: str, name: str, attributes: Mapping[str, Value], *, replace: bool = False) -> None: ...

    def alter(self, kind: str, name: str, attributes: Mapping[str, Value]) -> None: ...

    def delete(self, kind: str, name: str, *, purge: bool = False, authorities: bool = True) -> None: ...

    def clear(self, name: str) -> None: ...

    def forget_retained(self, topic: str) -> bool: ...

    def display(self, kind: str, pattern: str) -> Sequence[Mapping[str, Value]]: ...


@dataclass(frozen=True, slots=True)
class Kind:
    """The words by which commands call a kind of object, and the numbers of the messages about it."""

    kind: str
    noun: str
    title: str  # the name of the attribute that has the object's name
    created: str = ""
    changed: str = ""
    deleted: str = ""
    details: str = ""
    details_text: str = ""
    is_named_freely: bool = False  # any text is a name


_QUEUES: Final = ("queue", "QUEUE", "AMQ8006I", "AMQ8008I", "AMQ8007I", "AMQ8409I", "Display Queue details.")
KINDS: Final[Mapping[str, Kind]] = {
    "QLOCAL": Kind("QLOCAL", *_QUEUES),
    "QALIAS": Kind("QALIAS", *_QUEUES),
    "QMGR": Kind(
        *("QMGR", "queue manager", "QMNAME"),
        changed="AMQ8005I",
        details="AMQ8408I",
        details_text="Display Queue Manager details.",
    ),
    "TOPIC": Kind(
        *("TOPIC", "topic", "TOPIC", "AMQ8690I", "AMQ8691I", "AMQ8692I", "AMQ8633I", "Display topic details.")
    ),
    "SUB": Kind(
        *("SUB", "subscription", "SUB", "AMQ8094I", "AMQ8095I", "AMQ8097I", "AMQ8096I", "subscription inquired."),
        is_named_freely=True,
    ),
    "TPSTATUS": Kind(
        *("TPSTATUS", "topic", "TOPICSTR"),
        details="AMQ8754I",
        details_text="Display topic status details.",
        is_named_freely=True,
    ),
}
STATUS: Final[Mapping[str, Kind]] = {
    "QSTATUS": Kind("QSTATUS", "queue", "QUEUE", details="AMQ8450I", details_text="Display queue status details."),
    "CONN": Kind("CONN", "connection", "CONN", details="AMQ8276I", details_text="Display Connection details."),
    "QMSTATUS": Kind(
        *("QMSTATUS", "queue manager", "QMNAME"),
        details="AMQ8705I",
        details_text="Display Queue Manager Status Details.",
    ),
    "SBSTATUS": Kind(
        *("SBSTATUS", "subscription", "SUB"),
        details="AMQ8099I",
        details_text="subscription status inquired.",
        is_named_freely=True,
    ),
    "PUBSUB": Kind(
        *("PUBSUB", "publish/subscribe engine", "QMNAME"),
        details="AMQ8723I",
        details_text="Display pub/sub status details.",
    ),
}
SYNONYMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "QL": "QLOCAL",
        "QA": "QALIAS",
        "Q": "QUEUE",
        "QR": "QREMOTE",
        "QM": "QMODEL",
        "QC": "QCLUSTER",
        "CHL": "CHANNEL",
        "CHS": "CHSTATUS",
        "LSTR": "LISTENER",
        "LSS": "LSSTATUS",
        "NL": "NAMELIST",
        "PRO": "PROCESS",
        "SEC": "SECURITY",
        "QS": "QSTATUS",
        "TPS": "TPSTATUS",
        "SBS": "SBSTATUS",
    }
)
VERBS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "DEF": "DEFINE",
        "ALT": "ALTER",
        "DEL": "DELETE",
        "DIS": "DISPLAY",
        "CLE": "CLEAR",
        "REF": "REFRESH",
        "STA": "START",
    }
)
