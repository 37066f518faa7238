"""Lines of formatted text, and the comments and blank lines put back between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from esql import syntax

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

INDENT = 4


@dataclass(frozen=True, slots=True)
class Line:
    """A line of formatted text, with the piece of the original text that it stands for.

    Comments that stood before the end of that piece go before the line, at the line's indent, or one deeper when the
    line closes a block; a comment behind the piece on its last line goes behind the line.
    """

    indent: int
    text: str
    position: syntax.Position
    closes: bool = False


def opening(indent: int, text: str, node: syntax.Node, last: syntax.Node | None = None) -> Line:
    """Make the line that opens a block: it stands for its first line, or for all up to the end of the last node."""
    at = node.position
    end_line, end_column = (at.line, at.column) if last is None else (last.position.end_line, last.position.end_column)
    return Line(indent, text, syntax.Position(at.line, at.column, end_line, end_column))


def closing(indent: int, text: str, node: syntax.Node) -> Line:
    """Make the line that closes a block: it stands for the block's end."""
    at = node.position
    return Line(indent, text, syntax.Position(at.end_line, at.end_column, at.end_line, at.end_column), closes=True)


def joined(lines: Iterable[Line], comments: Sequence[syntax.Comment]) -> str:
    """Join lines to a text, each comment at its place, and one blank line where there was at least one."""
    waiting = list(reversed(comments))
    out: list[str] = []
    last_line = 0
    for line in lines:
        at = line.position
        end = (at.end_line, at.end_column)
        while waiting and _start(waiting[-1]) < end:
            last_line = _put(waiting.pop(), line.indent + line.closes, out, last_line)
        if 0 < last_line < at.line - 1 and not line.closes:
            out.append("")
        out.append(" " * (INDENT * line.indent) + line.text)
        # a line that stands for no piece, such as ELSE, leaves no gap to measure
        last_line = max(last_line, at.end_line) if at.line else 0
    for comment in reversed(waiting):
        last_line = _put(comment, 0, out, last_line)
    return "\n".join(out) + "\n" if out else ""


def _start(comment: syntax.Comment) -> tuple[int, int]:
    return comment.position.line, comment.position.column


def _put(comment: syntax.Comment, indent: int, out: list[str], last_line: int) -> int:
    at = comment.position
    if out and at.line == last_line and not out[-1].lstrip().startswith("--"):
        out[-1] = f"{out[-1]} {comment.text}"
    else:
        if 0 < last_line < at.line - 1:
            out.append("")
        out.append(" " * (INDENT * indent) + comment.text)
    return max(last_line, at.end_line)
