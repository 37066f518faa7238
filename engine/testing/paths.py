"""Paths of test files: `OutputRoot.XMLNSC.Order.Item[2].Status`, read, followed, and filled."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from types import MappingProxyType
from typing import Final

from engine.catalog import did_you_mean
from engine.message.assembly import Message
from engine.testing.case import Text, Tree
from engine.tree.element import Element
from engine.tree.step import Step, step

TREES: Final = MappingProxyType(
    {
        **dict.fromkeys(("Root", "InputRoot", "OutputRoot"), "Root"),
        **dict.fromkeys(("LocalEnvironment", "InputLocalEnvironment", "OutputLocalEnvironment"), "LocalEnvironment"),
        **dict.fromkeys(("DestinationList", "InputDestinationList", "OutputDestinationList"), "LocalEnvironment"),
        **dict.fromkeys(("ExceptionList", "InputExceptionList", "OutputExceptionList"), "ExceptionList"),
        "Environment": "Environment",
        "Body": "Body",
    }
)
_PART: Final = re.compile(r'(?:"([^"]+)"|((?:\{[^}]*\})?[^."\[\]{}\s]+))(?:\[(\d+|[<>])\])?')
_NUMBER: Final = re.compile(r"[+-]?(\d+)(\.\d+)?")
_BLOB: Final = re.compile(r"X'((?:[0-9A-Fa-f]{2})*)'", re.IGNORECASE)


class BadPath(ValueError):
    """A text is no path; it says why."""


def read_path(text: str, headers: Iterable[str]) -> tuple[str, tuple[str, ...], bool]:
    """The tree that a path begins with, the steps from there, and whether it counts: `Root.XML.a[]`.

    What begins with a header of the message, such as MQMD, begins in its Root.
    """
    counts = text.endswith("[]")
    parts = steps_of(text[:-2] if counts else text)
    first, known = parts[0], set(headers)
    if first in TREES:
        return TREES[first], parts[1:], counts
    if first in known:
        return "Root", parts, counts
    close = did_you_mean(first, [*TREES, *known])
    raise BadPath(f"a path begins with a tree, such as OutputRoot or LocalEnvironment, not with {first}{close}")


def steps_of(text: str) -> tuple[str, ...]:
    """The steps of a path, or of a name in a table of fields, which may lead further: `Item[2].Status`."""
    parts, at = [], 0
    while True:
        found = _PART.match(text, at)
        if found is None:
            raise BadPath(f"{text} is no path such as OutputRoot.XMLNSC.Order.Item[2].Status")
        parts.append(found[0])
        at = found.end()
        if at == len(text):
            return tuple(parts)
        if text[at] != ".":
            raise BadPath(f"{text} is no path such as OutputRoot.XMLNSC.Order.Item[2].Status")
        at += 1


def _step(part: str) -> tuple[Step, str]:
    """The step of a part, in any namespace unless it names one, and its index."""
    found = _PART.fullmatch(part)
    assert found is not None
    quoted, plain, index = found.groups()
    if quoted is None and plain.startswith("{"):
        namespace, _, name = plain[1:].partition("}")
        return step(name, namespace), index or ""
    return step(quoted or (None if plain == "*" else plain), None), index or ""


def tree_of(message: Message, name: str) -> Element | None:
    """A tree of a message by its name."""
    if name == "Body":
        return message.root.last_child
    trees = {
        "Root": lambda: message.root,
        "Environment": lambda: message.environment,
        "LocalEnvironment": lambda: message.local_environment,
    }
    return trees.get(name, lambda: message.exceptions)()


def find(top: Element | None, names: Iterable[str]) -> Element | None:
    """The element that steps lead to, or None."""
    for part in names:
        if top is None:
            return None
        wanted, index = _step(part)
        if index == "<":  # the last, as ESQL counts from the end
            top = top.nth_last(wanted, 1)
        else:
            top = top.nth(wanted, int(index)) if index.isdigit() else top.child(wanted)
    return top


def every(top: Element | None, names: tuple[str, ...]) -> list[Element]:
    """All elements that the last step leads to."""
    above = find(top, names[:-1])
    return [] if above is None or not names else above.every(_step(names[-1])[0])


def nearest(top: Element | None, names: tuple[str, ...]) -> str:
    """Returns what there is where a path ends too early: the names beneath the last element that it leads to."""
    for length in range(len(names) - 1, -1, -1):
        found = find(top, names[:length])
        if found is not None:
            inside = list(dict.fromkeys(child.name for child in found))[:8]
            where = names[length - 1] if length else found.name
            return f"{where} has {', '.join(inside) or 'nothing'}"
    return "there is no such tree"


def fill(top: Element, names: Iterable[str], value: Tree) -> None:
    """Put a value, fields or a list of either where steps lead to; what is missing on the way is made."""
    names = tuple(names)
    if isinstance(value, dict):
        for name, inner in value.items():
            fill(top, (*names, *steps_of(name)), inner)
    elif isinstance(value, tuple):
        for number, item in enumerate(value, 1):
            fill(top, (*names[:-1], f"{names[-1]}[{number}]"), item)
    else:
        element = top
        for part in names:
            element = _ensured(element, part)
        element.value = value_of(value)


def _ensured(above: Element, part: str) -> Element:
    wanted, index = _step(part)
    known = find(above, (part,))
    if known is not None:
        return known
    made = step(wanted.name, wanted.namespace or "")
    return above.ensure_nth(made, int(index)) if index.isdigit() else above.ensure(made)


def value_of(text: Text) -> object:
    r"""A value as a tree holds it: without quotes a number, a truth, X'hex' or NULL is what it looks like.

    >>> value_of(Text("7")), value_of(Text("7", is_plain=False)), value_of(Text("X'0a'"))
    (7, '7', b'\n')
    """
    written = text.text
    if written is None or not text.is_plain:
        return written
    if written in {"true", "false"}:
        return written == "true"
    number, blob = _NUMBER.fullmatch(written), _BLOB.fullmatch(written)
    if number is not None and len(number[1]) <= 18:
        return Decimal(written) if number[2] else int(written)
    return bytes.fromhex(blob[1]) if blob is not None else written
