"""Names and namespace declarations as a document writes them."""

from __future__ import annotations

from typing import Final

from lxml import etree

XMLNS_URI: Final = "http://www.w3.org/2000/xmlns/"
XML_URI: Final = "http://www.w3.org/XML/1998/namespace"
_WRITTEN_NAME: Final = etree.XPath("name(@*[$number])", smart_strings=False)


def qualified(node: etree._Element) -> str:
    """The name of an element as the document writes it, with its prefix."""
    name = node.tag.rpartition("}")[2]
    return f"{node.prefix}:{name}" if node.prefix else name


def own_declarations(node: etree._Element) -> dict[str, str]:
    """The prefixes that an element declares itself, with their namespaces; the default namespace's prefix is empty."""
    declared: dict[str, str] = {}
    for event, what in etree.iterwalk(node, events=("start-ns", "start")):
        if event == "start":
            break
        declared[what[0]] = what[1]
    return declared


def prefixed(node: etree._Element, key: str) -> str:
    """The name of an attribute in a namespace as the document writes it, with its prefix."""
    namespace, _, name = key[1:].rpartition("}")
    if namespace == XML_URI:
        return f"xml:{name}"
    prefixes = [prefix for prefix, uri in node.nsmap.items() if uri == namespace and prefix]
    if len(prefixes) > 1:
        return str(_WRITTEN_NAME(node, number=list(node.attrib).index(key) + 1))
    return f"{prefixes[0]}:{name}"
