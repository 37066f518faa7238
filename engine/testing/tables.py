"""Tables of a test file, read with complaints about each word that is not understood."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from engine.catalog import did_you_mean
from engine.errors import Place
from flows.document import Complaints, Mapping, Scalar, Sequence, Tree

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Tables:
    """Reads parts of one document; what does not fit is complained of, and left out."""

    complaints: Complaints

    def complain(self, place: Place, text: str, about: str = "") -> None:
        """Note a problem."""
        self.complaints.add(place, text, about=about)

    def table(self, tree: Tree | None, what: str, keys: tuple[str, ...] = ()) -> dict[str, Tree]:
        """The entries of a table; with `keys` only these may be there."""
        if tree is None or (isinstance(tree, Scalar) and tree.is_null):
            return {}
        if not isinstance(tree, Mapping):
            self.complain(tree.place, f"{what} must be a table, `name: value`")
            return {}
        for key, _ in tree.entries:
            if keys and key.text not in keys:
                close = did_you_mean(key.text, keys) or f"; it may have {', '.join(keys)}"
                self.complain(key.place, f"{what} has no {key.text}{close}", key.text)
        return {key.text: value for key, value in tree.entries if not keys or key.text in keys}

    def entries(self, tree: Tree | None, what: str) -> Iterator[tuple[Scalar, Tree]]:
        """The entries of a table whose keys are the writer's own."""
        if isinstance(tree, Mapping):
            yield from tree.entries
        elif tree is not None and not (isinstance(tree, Scalar) and tree.is_null):
            self.complain(tree.place, f"{what} must be a table, `name: value`")

    def items(self, tree: Tree | None) -> tuple[Tree, ...]:
        """The items of a list; what is no list is its only item."""
        if tree is None or (isinstance(tree, Scalar) and tree.is_null):
            return ()
        return tree.items if isinstance(tree, Sequence) else (tree,)

    def text(self, tree: Tree | None, what: str, otherwise: str = "") -> str:
        """A text."""
        if tree is None:
            return otherwise
        if isinstance(tree, Scalar) and not tree.is_null:
            return tree.text
        self.complain(tree.place, f"{what} must be a text")
        return otherwise

    def number(self, tree: Tree | None, what: str, otherwise: T) -> int | T:
        """A whole number."""
        if tree is None:
            return otherwise
        text = tree.text if isinstance(tree, Scalar) else ""
        if text.removeprefix("-").isdecimal() and len(text) <= 10:
            return int(text)
        self.complain(tree.place, f"{what} must be a whole number")
        return otherwise

    def decoded(self, tree: Tree | None, what: str, decode: Callable[[str], bytes]) -> bytes:
        """Bytes that a text stands for."""
        try:
            return decode("".join(self.text(tree, what).split()))
        except ValueError:
            assert tree is not None
            self.complain(tree.place, f"{what} holds a character or a length that {what} never has")
            return b""
