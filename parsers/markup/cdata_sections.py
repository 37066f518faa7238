"""Sections: where the CDATA sections of a text begin and end, which lxml knows but does not tell."""

from __future__ import annotations

import re
from typing import Final

from lxml import etree

_PIECE: Final = re.compile(r"<!\[CDATA\[(?P<section>.*?)\]\]>|&(?P<entity>lt|gt|amp|quot|#13);|[^<&]+", re.DOTALL)
_CHARACTERS: Final = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "#13": "\r"}


def pieces_of(node: etree._Element, text: str, *, tail: bool) -> list[tuple[bool, str]]:
    """Text cut where CDATA sections begin and end, and whether each piece is one; lxml tells the text alone."""
    alone = etree.tostring(node, encoding="unicode", with_tail=False)
    if tail:
        raw, at = etree.tostring(node, encoding="unicode"), len(alone)
    else:
        raw, at = alone, alone.index(">") + 1
    pieces: list[tuple[bool, str]] = []
    left = len(text)
    while (piece := _PIECE.match(raw, at)) is not None and (left or piece["section"] == ""):
        at = piece.end()
        section = piece["section"]
        is_section = section is not None
        found = section if is_section else _CHARACTERS[piece["entity"]] if piece["entity"] else piece[0]
        left -= len(found)
        if pieces and not is_section and not pieces[-1][0]:
            pieces[-1] = (False, pieces[-1][1] + found)
        else:
            pieces.append((is_section, found))
    return pieces
