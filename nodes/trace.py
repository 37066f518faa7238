"""Trace: write down what a message looks like on its way."""

from __future__ import annotations

import logging
import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Final, Literal

from engine.errors import LOCAL_ERROR, USER_TRACE, BrokerError
from engine.files.allowed_folders import NO_FILES, AllowedFiles
from engine.message.assembly import Message
from engine.message.xpath import tree_of
from engine.node import Inserts, node, prop
from engine.tree.dump import dump, literal
from engine.tree.element import Element
from engine.tree.step import step
from esql.runtime.program import Routine, bound
from esql.runtime.trace_patterns import TREES, Bound, Expression, Path, pieces, value_of

if TYPE_CHECKING:
    from engine.work import UnitOfWork

_OWN_NUMBERS: Final = range(3051, 3100)  # what the product's catalogue keeps for traces
_NOT_HERE: Final = re.compile(r"(?:Input|Output)\w+(?:\.|\Z)")


@node("Trace", outputs=("out",), category="diagnosis")
@dataclass(frozen=True, slots=True)
class Trace:
    """Write a text in which ${paths} are replaced by the values or trees they lead to, ${expressions} by values."""

    destination: Literal["userTrace", "file", "localError"] = prop("userTrace", "Where the text is written.")
    file_path: str = prop("", "The file, where destination is file; texts are added at its end.")
    pattern: Annotated[str, Inserts()] = prop(
        "", "The text; ${Root}, ${Body.Order.Item[2]} or ${CURRENT_TIMESTAMP} stand for trees and values."
    )
    message_catalog: str = prop("", "The catalogue that the number belongs to; empty: the product's own.")
    message_number: int = prop(3051, "The number that the text is written under; 3051 to 3099 in the product's own.")

    _pieces: tuple[str | Path | Expression, ...] = field(init=False, repr=False)
    _routines: Mapping[str, Routine] = field(init=False, repr=False)
    _files: AllowedFiles = field(init=False, repr=False, default=NO_FILES)

    def __post_init__(self) -> None:
        if self.destination == "file" and not self.file_path:
            raise BrokerError(2211, "destination file needs a filePath")
        if not self.message_catalog and self.message_number not in _OWN_NUMBERS:
            text = f"messageNumber is from 3051 to 3099, not {self.message_number}: or name a messageCatalog"
            raise BrokerError(2211, text)
        given: object = self.pattern
        text, routines = (given.text, given.routines) if isinstance(given, Bound) else (self.pattern, {})
        object.__setattr__(self, "_pieces", tuple(map(_examined, pieces(text))))
        object.__setattr__(self, "_routines", routines)

    def allow(self, files: AllowedFiles) -> None:
        """Takes the files that may be written; refuses at deploy where filePath is none of them."""
        if self.destination == "file":
            files.check(self.file_path)
            object.__setattr__(self, "_files", files)

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        if self.destination == "file":
            self._files.append(self.file_path, f"{self._text(message)}\n")
        else:
            log = logging.getLogger(USER_TRACE if self.destination == "userTrace" else LOCAL_ERROR)
            if log.isEnabledFor(logging.INFO):
                catalog = self.message_catalog
                said = f"{catalog} {self.message_number}" if catalog else f"BIP{self.message_number}I"
                log.info("%s: %s", said, self._text(message))
        yield "out", message

    def _text(self, message: Message) -> str:
        return "".join(piece if isinstance(piece, str) else self._shown(message, piece) for piece in self._pieces)

    def _shown(self, message: Message, piece: Path | Expression) -> str:
        if isinstance(piece, Path):
            found = _at(message, piece)
            return "" if found is None else dump(found)
        return _said(value_of(bound(self._routines.get(piece.text), "pattern"), message))


def _examined(piece: str | Path | Expression) -> str | Path | Expression:
    """A piece of the pattern, if it can be one."""
    if isinstance(piece, Expression):
        shown = f"${{{piece.text}}}"
        if not piece.text:
            raise BrokerError(2211, f"{shown} is not a path such as ${{Root.XMLNSC.Order.Id}}, and no expression")
        if _NOT_HERE.match(piece.text):
            tree = piece.text.partition(".")[0]
            raise BrokerError(2211, f"{shown} begins with {tree}; a path begins with one of {', '.join(TREES)}")
    return piece


def _said(value: object) -> str:
    """A value of an expression: of a SELECT it may be a row or a list."""
    if isinstance(value, list):
        return ", ".join(map(_said, value))
    return dump(value) if isinstance(value, Element) else "" if value is None else literal(value)


def _at(message: Message, path: Path) -> Element | None:
    """Returns what a path leads to."""
    found = tree_of(message, path.tree)
    for part in path.parts:
        if found is None:
            return None
        wanted = step(part.name, None)
        found = found.nth_last(wanted, part.number) if part.last else found.nth(wanted, part.number)
    return found
