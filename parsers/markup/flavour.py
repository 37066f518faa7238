"""Flavour: what sets the three domains apart: which parts of a document they show, and as which types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from parsers.markup import element_types
from parsers.markup.element_types import Kind


class Retention(NamedTuple):
    """The parts of a document that lxml keeps beside elements, attributes and their text."""

    blanks: bool = True
    comments: bool = True
    instructions: bool = True
    references: bool = True


@dataclass(frozen=True, slots=True)
class Flavour:
    """A domain's view of documents.

    `compact` folds the text of an element into its value; `spaces` keeps names and namespaces apart, where otherwise a
    prefix is part of the name; `mixed` keeps text that stands beside elements.
    """

    compact: bool
    spaces: bool
    keep: Retention
    mixed: bool
    kind: Callable[[int], Kind]
    attribute: int
    namespace: int
    comment: int
    instruction: int
    text: int
    cdata: int


def _generic(*, spaces: bool) -> Flavour:
    return Flavour(
        compact=False,
        spaces=spaces,
        keep=Retention(),
        mixed=True,
        kind=element_types.generic_kind,
        attribute=element_types.ATTRIBUTE,
        namespace=element_types.NAMESPACE_DECL if spaces else element_types.ATTRIBUTE,
        comment=element_types.COMMENT,
        instruction=element_types.INSTRUCTION,
        text=element_types.CONTENT,
        cdata=element_types.CDATA_SECTION,
    )


def compact(*, mixed: bool = False, comments: bool = False, instructions: bool = False) -> Flavour:
    """The XMLNSC flavour with what an input node's properties ask to retain."""
    return Flavour(
        compact=True,
        spaces=True,
        keep=Retention(blanks=mixed, comments=comments, instructions=instructions, references=False),
        mixed=mixed,
        kind=element_types.compact_kind,
        attribute=element_types.COMPACT_ATTRIBUTE,
        namespace=element_types.COMPACT_NAMESPACE,
        comment=element_types.COMPACT_COMMENT,
        instruction=element_types.COMPACT_INSTRUCTION,
        text=element_types.VALUE,
        cdata=element_types.CDATA_VALUE,
    )


XML: Final = _generic(spaces=False)
XMLNS: Final = _generic(spaces=True)
XMLNSC: Final = compact()
