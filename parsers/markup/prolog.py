"""Prolog: the declaration, comments, instructions and document type before the root element; and what is behind it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from lxml import etree

from parsers.markup import element_types
from parsers.markup.doctype import read_doctype
from parsers.markup.lxml_nodes import Item
from parsers.markup.text import DOCTYPE, quote

if TYPE_CHECKING:
    from parsers.markup.document import Document

_TOKEN: Final = re.compile(
    r"(?P<declaration><\?xml\s.*?\?>)|(?P<instruction><\?.*?\?>)|<!--(?P<comment>.*?)-->|(?P<space>\s+)"
    rf"|(?P<doctype>{DOCTYPE})",
    re.DOTALL,
)
_PSEUDO: Final = re.compile(r"""(version|encoding|standalone)\s*=\s*["']([^"']*)["']""")
_DECLARED: Final = re.compile(r"""(\ufeff?<\?xml\s[^?>]*?\sencoding\s*=\s*)(["'])[^"']*\2""")
_DECLARATION_ALONE: Final = re.compile(rb"<\?xml[ \t\r\n][^?<>]{0,200}\?>[ \t\r\n]{0,8}(?=<[^?!])")
_MARK: Final = "\ufeff"
COMPACT_DECLARATION: Final = "XmlDeclaration"


class Prolog:
    """The text before the root element, and what is in it; a byte order mark is part of the text."""

    __slots__ = ("compact", "doctype", "items", "length", "names", "text")

    def __init__(self, text: str, items: tuple[Item, ...], doctype: str = "") -> None:
        self.text = text
        self.length = len(text.encode())  # in UTF-8; one of a declaration alone is as long in what extends ASCII
        self.items = items
        self.names = frozenset(item.name for item in items)
        self.doctype = doctype
        self.compact = self.compact_announcing("")

    @property
    def mark(self) -> str:
        """The byte order mark, or nothing."""
        return self.text[:1] if self.text[:1] == _MARK else ""

    @property
    def declaration(self) -> Item | None:
        """The XML declaration."""
        return next((item for item in self.items if item.type == element_types.XML_DECL), None)

    def compact_announcing(self, encoding: str) -> str:
        """Byte order mark and declaration as XMLNSC writes them, naming another encoding where they name one."""
        declaration = self.declaration
        if declaration is None:
            return self.mark
        fields = {part.name.lower(): part.value or "" for part in declaration.children}
        if encoding and "encoding" in fields:
            fields["encoding"] = encoding
        return self.mark + declaration_text(fields)

    def announcing(self, encoding: str) -> str:
        """The prolog's text, naming another encoding where it names one.

        >>> read_prolog(b"<?xml version='1.0' encoding='IBM500'?><a/>").announcing("UTF-8")
        "<?xml version='1.0' encoding='UTF-8'?>"
        """
        return _DECLARED.sub(rf"\g<1>\g<2>{encoding}\g<2>", self.text, count=1)


NO_PROLOG: Final = Prolog("", ())


def read_prolog(data: bytes, encoding: str = "utf-8") -> Prolog:
    """The prolog of a well-formed document."""
    second = data[1:2]
    if data[:1] == b"<" and second not in {b"?", b"!"}:
        return NO_PROLOG
    alone = _DECLARATION_ALONE.match(data)
    if alone is not None:
        return _declared(alone[0], encoding)
    return _read(data.decode(encoding))


# A declaration and no more is what stands before most documents, and it is mostly the same one.
@lru_cache(maxsize=256)
def _declared(data: bytes, encoding: str) -> Prolog:
    return _read(data.decode(encoding))


def _read(text: str) -> Prolog:
    start = at = int(text.startswith(_MARK))
    items, doctype = [], ""
    while (token := _TOKEN.match(text, at)) is not None:
        items.append(_item(token))
        doctype = doctype or token["doctype"] or ""
        at = token.end()
    return Prolog(text[:at], tuple(items), doctype) if at > start or start else NO_PROLOG


def _item(token: re.Match[str]) -> Item:
    what, text = token.lastgroup, token.group(token.lastgroup or 0)
    match what:
        case "declaration":
            return read_declaration(text)
        case "instruction":
            target, *rest = text[2:-2].split(None, 1)
            return Item(element_types.INSTRUCTION, target, rest[0] if rest else None)
        case "comment":
            return Item(element_types.COMMENT, "", text)
        case "space":
            return Item(element_types.WHITE_SPACE, "", text)
        case _:
            return read_doctype(text)


def read_declaration(text: str) -> Item:
    """An XML declaration as a tree.

    >>> [(part.name, part.value) for part in read_declaration('<?xml version="1.0" encoding="UTF-8"?>').children]
    [('Version', '1.0'), ('Encoding', 'UTF-8')]
    """
    types = {
        "version": element_types.VERSION,
        "encoding": element_types.ENCODING,
        "standalone": element_types.STANDALONE,
    }
    parts = tuple(Item(types[name], name.capitalize(), value) for name, value in _PSEUDO.findall(text))
    return Item(element_types.XML_DECL, "XmlDecl", None, parts)


def declaration_text(fields: Mapping[str, str]) -> str:
    """An XML declaration of these pseudo-attributes.

    >>> declaration_text({"encoding": "UTF-8"})
    '<?xml version="1.0" encoding="UTF-8"?>'
    """
    complete = {"version": "1.0", **{name: text for name, text in fields.items() if text}}
    parts = [f" {name}={quote(complete[name])}" for name in ("version", "encoding", "standalone") if name in complete]
    return f"<?xml{''.join(parts)}?>"


def compact_declaration(declaration: Item) -> Item:
    """An XML declaration as the XMLNSC domain shows it."""
    names = {"Standalone": "StandAlone"}
    parts = tuple(
        Item(element_types.COMPACT_ATTRIBUTE, names.get(part.name, part.name), part.value)
        for part in declaration.children
    )
    return Item(element_types.XML_DECLARATION, COMPACT_DECLARATION, None, parts)


def framed(document: Document, text: str, encoding: str = "") -> str:
    """The root element's text with what stands before and behind it; see `before` for `encoding`."""
    if document.bounded:
        return text
    return f"{before(document, encoding)}{text}{behind(document)}"


def before(document: Document, encoding: str = "") -> str:
    """Returns the text before the root element; `encoding` is what the declaration is to say, empty to leave that."""
    prolog = document.prolog
    if not document.flavour.compact:
        return prolog.announcing(encoding) if encoding else prolog.text
    start = prolog.compact_announcing(encoding) if encoding else prolog.compact
    if document.alone:
        return start
    nodes = reversed(list(document.root.itersiblings(preceding=True)))
    return start + "".join([etree.tostring(node, encoding="unicode", with_tail=False) for node in nodes])


def behind(document: Document) -> str:
    """Returns the text behind the root element."""
    if document.root.getnext() is None:
        return document.trailing
    nodes = [etree.tostring(node, encoding="unicode", with_tail=False) for node in document.root.itersiblings()]
    return "".join(nodes)
