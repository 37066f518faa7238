"""Frame: what stands around the root element of a document that was read, when it is written again."""

from __future__ import annotations

from lxml import etree

from parsers.markup.document import Document


def framed(document: Document, text: str, encoding: str = "") -> str:
    """The root element's text with what stands before and behind it; see `before` for `encoding`."""
    if document.bounded:
        return text
    return f"{before(document, encoding)}{text}{behind(document)}"


def before(document: Document, encoding: str = "") -> str:
    """What stands before the root element; `encoding` is what the declaration is to say, empty to leave that."""
    prolog = document.prolog
    if not document.flavour.compact:
        return prolog.announcing(encoding) if encoding else prolog.text
    start = prolog.compact_announcing(encoding) if encoding else prolog.compact
    if document.alone:
        return start
    nodes = reversed(list(document.root.itersiblings(preceding=True)))
    return start + "".join([etree.tostring(node, encoding="unicode", with_tail=False) for node in nodes])


def behind(document: Document) -> str:
    """Returns what stands behind it."""
    if document.root.getnext() is None:
        return document.trailing
    nodes = [etree.tostring(node, encoding="unicode", with_tail=False) for node in document.root.itersiblings()]
    return "".join(nodes)
