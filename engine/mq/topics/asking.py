"""Commands of publish/subscribe as messages ask for them: the values of a psc folder, and what stands behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.descriptor import Descriptor
from engine.flow.command_answers import RFH_PARM_MISSING, TOPIC_ERROR, RefusedError
from engine.message.topics import LONGEST
from engine.mq.properties import folders_of, opened

_FOLDER: Final = "psc."
_NONE: Final = frozenset({"None"})


@dataclass(slots=True)
class Asked:
    """The values of a psc folder, and the message that it stands in front of."""

    descriptor: Descriptor  # of the whole message
    said: list[tuple[str, str]]  # the folder, in its order
    values: dict[str, list[str]]
    others: list[str]  # other folders, as they came
    behind: Descriptor
    body: bytes

    def one(self, name: str) -> str:
        """Returns the only value of a name, or an empty text."""
        return self.values.get(name, [""])[0]

    def options(self, name: str, known: frozenset[str], reason: int) -> frozenset[str]:
        """Returns the options of a name; one that is not known is refused, and None says that there are no others."""
        found = frozenset(self.values.get(name, ())) - _NONE
        if not found <= known:
            raise RefusedError(reason)
        return found

    @property
    def topics(self) -> list[str]:
        """The topics, each once; there is at least one."""
        found = list(dict.fromkeys(self.values.get("Topic", ())))
        if not found:
            raise RefusedError(RFH_PARM_MISSING)
        if not all(0 < len(topic) <= LONGEST for topic in found):
            raise RefusedError(TOPIC_ERROR)
        return found


def asked(descriptor: Descriptor, body: bytes) -> Asked | None:
    """Returns what a message asks for, or None where it has no psc folder."""
    leaves, behind, rest = opened(descriptor, body)
    said = [(name, str(value or "").strip(" ")) for name, value in leaves if name.startswith(_FOLDER)]
    said = [(name.removeprefix(_FOLDER), value) for name, value in said]
    values: dict[str, list[str]] = {}
    for name, value in said:
        values.setdefault(name, []).append(value)
    others = [text for name, text in folders_of(descriptor, body) if f"{name}." != _FOLDER]
    return Asked(descriptor, said, values, others, behind, rest) if values else None
