"""Prolog: what stands before the root element: the XML declaration, comments, instructions, the document type."""

from __future__ import annotations

import re
from typing import Final

from parsers.markup import kinds
from parsers.markup.doctype import read_doctype
from parsers.markup.item import Item

_TOKEN: Final = re.compile(
    r"(?P<declaration><\?xml\s.*?\?>)|(?P<instruction><\?.*?\?>)|<!--(?P<comment>.*?)-->|(?P<space>\s+)"
    r"""|(?P<doctype><!DOCTYPE(?:"[^"]*"|'[^']*'|[^\["'>])*(?:\[(?:"[^"]*"|'[^']*'|<!--.*?-->|<\?.*?\?>|[^\]"'<]|<)*\]\s*)?>)""",
    re.DOTALL,
)
_PSEUDO: Final = re.compile(r"""(version|encoding|standalone)\s*=\s*["']([^"']*)["']""")
_ENCODING: Final = re.compile(r"""(\sencoding\s*=\s*)(["'])([^"']*)\2""")


class Prolog:
    """The text before the root element, and what is in it."""

    __slots__ = ("items", "text")

    def __init__(self, text: str, items: tuple[Item, ...]) -> None:
        self.text = text
        self.items = items

    @property
    def declaration(self) -> Item | None:
        """The XML declaration."""
        return next((item for item in self.items if item.type == kinds.XML_DECL), None)

    @property
    def document_type(self) -> Item | None:
        """The document type declaration."""
        return next((item for item in self.items if item.type == kinds.DOCTYPE_DECL), None)

    def announcing(self, encoding: str) -> str:
        """The prolog's text, naming another encoding where it names one."""
        head, separator, rest = self.text.partition("?>")
        if not separator or not head.lstrip("\ufeff").startswith("<?xml"):
            return self.text
        return _ENCODING.sub(rf"\g<1>\g<2>{encoding}\g<2>", head) + separator + rest


NO_PROLOG: Final = Prolog("", ())


def read_prolog(data: bytes) -> Prolog:
    """The prolog of a well-formed document in UTF-8 or another encoding that extends ASCII."""
    second = data[1:2]
    if data[:1] == b"<" and second not in {b"?", b"!"}:
        return NO_PROLOG
    text = data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    at, items = 0, []
    while (token := _TOKEN.match(text, at)) is not None:
        items.append(_item(token))
        at = token.end()
    return Prolog(text[:at], tuple(items))


def _item(token: re.Match[str]) -> Item:
    what, text = token.lastgroup, token.group(token.lastgroup or 0)
    match what:
        case "declaration":
            return read_declaration(text)
        case "instruction":
            target, _, rest = text[2:-2].partition(" ")
            return Item(kinds.INSTRUCTION, target, rest.lstrip())
        case "comment":
            return Item(kinds.COMMENT, "", text)
        case "space":
            return Item(kinds.WHITE_SPACE, "", text)
        case _:
            return read_doctype(text)


def read_declaration(text: str) -> Item:
    """An XML declaration as a tree.

    >>> [(part.name, part.value) for part in read_declaration('<?xml version="1.0" encoding="UTF-8"?>').children]
    [('Version', '1.0'), ('Encoding', 'UTF-8')]
    """
    types = {"version": kinds.VERSION, "encoding": kinds.ENCODING, "standalone": kinds.STANDALONE}
    parts = tuple(Item(types[name], name.capitalize(), value) for name, value in _PSEUDO.findall(text))
    return Item(kinds.XML_DECL, "XmlDecl", None, parts)
