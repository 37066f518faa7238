"""Scoping: an element with namespaces as libxml2 writes it by itself, made to stand where other prefixes are bound."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import count
from typing import Final

from lxml import etree

from parsers.markup.lxml_nodes import own_declarations, qualified

_DECLARATION: Final = re.compile(r' xmlns(?::(?P<prefix>[^\s=]+))?="(?P<uri>[^"&<]*)"')
_UNPREFIXED: Final = re.compile(r"<(?P<end>/?)(?=[^\s:/>]+[\s/>])")


def rescoped(text: str, node: etree._Element, scope: Mapping[str, str], *, marked: bool = False) -> str | None:
    """The text of a node in a scope of other prefixes; None where the element has to be rendered.

    libxml2 writes behind the declarations of a node itself those that it inherits. What the scope has as well goes,
    and so does what nothing in the node uses. Where the prefix of the node's own namespace is bound otherwise, all that
    have it get the one that the scope has for that namespace, or a new one: unless the text is `marked`, which says
    that it may have comments, instructions or sections, so that `<` begins more than tags.

    >>> root = etree.fromstring('<p:a xmlns:p="u" xmlns:q="v"><p:b><p:c/></p:b></p:a>')
    >>> text = etree.tostring(root[0], encoding="unicode")
    >>> text
    '<p:b xmlns:p="u" xmlns:q="v"><p:c/></p:b>'
    >>> rescoped(text, root[0], {"p": "u"}), rescoped(text, root[0], {})
    ('<p:b><p:c/></p:b>', '<NS1:b xmlns:NS1="u"><NS1:c/></NS1:b>')
    """
    name, kept, inherited, rest = _parts(text, node)
    if " xmlns" in rest.partition(">")[0] or (scope.get("") and "" not in inherited and _UNPREFIXED.search(text)):
        return None
    text = f"<{name}{kept}{rest}"
    strange = [prefix for prefix, uri in inherited.items() if scope.get(prefix, "") != uri and _is_used(prefix, text)]
    if not strange:
        return text
    own = node.prefix or ""
    if marked or strange != [own] or not inherited[own] or kept or " xmlns" in rest or f" {own}:" in text:
        return None
    uri = inherited[own]
    prefix, declared = _prefix_for(uri, scope)
    if not prefix and own and _UNPREFIXED.search(text):
        return None
    renamed = _renamed(text, own, prefix)
    start = renamed.index(name.rpartition(":")[2]) + len(name.rpartition(":")[2])
    return f"{renamed[:start]}{declared}{renamed[start:]}"


def unscoped(text: str, node: etree._Element) -> str | None:
    """The text of a node in a domain in which declarations are attributes like others: those inherited are not its own.

    >>> root = etree.fromstring('<p:a xmlns:p="u"><p:b k="1"/></p:a>')
    >>> unscoped('<p:b xmlns:p="u" k="1"/>', root[0])
    '<p:b k="1"/>'
    """
    name, kept, _, rest = _parts(text, node)
    return None if " xmlns" in rest.partition(">")[0] else f"<{name}{kept}{rest}"


def _parts(text: str, node: etree._Element) -> tuple[str, str, dict[str, str], str]:
    """The name in a start tag, the node's own declarations, those that it inherits, and all the text behind them."""
    name, own = qualified(node), own_declarations(node)
    at, kept, inherited = len(name) + 1, "", {}
    while (found := _DECLARATION.match(text, at)) is not None:
        at, prefix = found.end(), found["prefix"] or ""
        if prefix in own:
            kept += found[0]
        else:
            inherited[prefix] = found["uri"]
    return name, kept, inherited, text[at:]


def _is_used(prefix: str, text: str) -> bool:
    if not prefix:
        return _UNPREFIXED.search(text) is not None
    return f"<{prefix}:" in text or f" {prefix}:" in text


def _prefix_for(uri: str, scope: Mapping[str, str]) -> tuple[str, str]:
    """The prefix of a namespace in a scope, or a new one with its declaration."""
    for prefix, bound in scope.items():
        if bound == uri:
            return prefix, ""
    prefix = unused_prefix(scope)
    return prefix, f' xmlns:{prefix}="{uri}"'


def unused_prefix(scope: Mapping[str, str]) -> str:
    """The first of NS1, NS2 and so on that a scope does not have."""
    return next(prefix for number in count(1) if (prefix := f"NS{number}") not in scope)


def _renamed(text: str, own: str, prefix: str) -> str:
    """The text with another prefix for all elements that have this one."""
    new = f"{prefix}:" if prefix else ""
    if not own:
        return _UNPREFIXED.sub(rf"<\g<end>{new}", text)
    return text.replace(f"<{own}:", f"<{new}").replace(f"</{own}:", f"</{new}")
