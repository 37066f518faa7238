"""Trace: write down what a message looks like on its way."""

from __future__ import annotations

import logging
import re
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from engine.dump import dump
from engine.errors import BrokerError
from engine.message import Message
from engine.node import node, prop
from engine.step import Step, step
from engine.tree import Element

if TYPE_CHECKING:
    from engine.work import UnitOfWork

USER_TRACE: Final = "penstock.usertrace"
LOCAL_ERROR: Final = "penstock.localerror"
_EXPRESSION: Final = re.compile(r"\$\{([^}]*)\}")
_PATH: Final = re.compile(r'(?:"[^"]+"|[\w:]+)(?:\.(?:"[^"]+"|[\w*:]+))*')
_PART: Final = re.compile(r'"([^"]+)"|([\w*:]+)')
_TREES: Final = ("Root", "Body", "Properties", "LocalEnvironment", "DestinationList", "Environment", "ExceptionList")


@node("Trace", outputs=("out",), category="diagnosis")
@dataclass(frozen=True, slots=True)
class Trace:
    """Write a text in which ${paths} are replaced by what they lead to: a value, or a whole tree as it is."""

    destination: Literal["userTrace", "file", "localError"] = prop("userTrace", "Where the text is written.")
    file_path: str = prop("", "The file, where destination is file; texts are added at its end.")
    pattern: str = prop("", "The text; ${Root} or ${Root.XMLNSC.Order.Id} stand for trees and values.")
    message_number: int = prop(3051, "The number that the text is written under.")

    _pieces: tuple[str | tuple[str, tuple[Step, ...]], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.destination == "file" and not self.file_path:
            raise BrokerError(2211, "destination file needs a filePath")
        object.__setattr__(self, "_pieces", tuple(_pieces(self.pattern)))

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        if self.destination == "file":
            self._append(self._text(message))
        else:
            log = logging.getLogger(USER_TRACE if self.destination == "userTrace" else LOCAL_ERROR)
            if log.isEnabledFor(logging.INFO):
                log.info("BIP%dI: %s", self.message_number, self._text(message))
        yield "out", message

    def _text(self, message: Message) -> str:
        return "".join(piece if isinstance(piece, str) else _shown(message, *piece) for piece in self._pieces)

    def _append(self, text: str) -> None:
        try:
            with Path(self.file_path).open("a", encoding="utf-8", errors="backslashreplace") as opened:
                opened.write(f"{text}\n")
        except OSError as error:
            text = f"{self.file_path} cannot be written: {error.strerror}; correct filePath, or what is there"
            raise BrokerError(2211, text, self.file_path) from error


def _pieces(pattern: str) -> Generator[str | tuple[str, tuple[Step, ...]], None, None]:
    at = 0
    for found in _EXPRESSION.finditer(pattern):
        yield pattern[at : found.start()]
        at = found.end()
        path = found[1].strip()
        if _PATH.fullmatch(path) is None:
            raise BrokerError(2211, f"{found[0]} is not a path such as ${{Root.XMLNSC.Order.Id}}")
        tree, *names = (quoted or plain for quoted, plain in _PART.findall(path))
        if tree not in _TREES:
            raise BrokerError(2211, f"{found[0]} begins with {tree}; a path begins with one of {', '.join(_TREES)}")
        yield tree, tuple(step(None if name == "*" else name, None) for name in names)
    yield pattern[at:]


def _shown(message: Message, tree: str, steps: tuple[Step, ...]) -> str:
    found: Element | None = _tree(message, tree)
    for wanted in steps:
        found = None if found is None else found.child(wanted)
    return "" if found is None else dump(found)


def _tree(message: Message, name: str) -> Element | None:
    match name:
        case "Root":
            return message.root
        case "Body":
            return message.root.last_child
        case "Properties":
            return message.root.child(step("Properties"))
        case "Environment":
            return message.environment
        case "ExceptionList":
            return message.exceptions
        case _:
            return message.local_environment
