"""The trees of generated documents: all that is in them, as it stands there and as lxml sees it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from engine.tree.element import Element
from engine.tree.states import EXPANDED
from engine.tree.step import step
from parsers.charsets.ccsid import codec
from tests.parsers.markup.documents import XMLNS, Mark, Tag, body, documents, text_of, write

CCSIDS = [1208, 1200, 1202, 13488, 819, 912, 1252, 5348, 37, 500, 1047, 1140, 932]


def generic_tree(tag: Tag, scope: dict[str, str], *, spaces: bool) -> list[Any]:
    """What the tree of an element in the XML or XMLNS domain holds, from the document's own parts."""
    scope = {**scope, **tag.declares}
    rows: list[Any] = []
    for prefix, uri in tag.declares.items():
        if spaces:
            rows.append(("NamespaceDecl", XMLNS if prefix else "", prefix or "xmlns", uri))
        else:
            rows.append(("Attribute", "", f"xmlns:{prefix}" if prefix else "xmlns", uri))
    for (prefix, name), value in tag.attributes.items():
        uri = scope[prefix] if prefix and spaces else ""
        rows.append(("Attribute", uri, name if spaces or not prefix else f"{prefix}:{name}", value))
    for part in tag.content:
        last = rows[-1] if rows else None
        match part:
            case str() if last is not None and last[0] == "Content":
                rows[-1] = ("Content", "", "", last[3] + part)
            case str():
                rows.append(("Content", "", "", part))
            case Mark("cdata", text):
                rows.append(("CDataSection", "", "", text))
            case Mark("comment", text):
                rows.append(("Comment", "", "", text))
            case Mark(_, text, target):
                rows.append(("ProcessingInstruction", "", target, text))
            case _:
                rows.append(generic_element(part, scope, spaces=spaces))
    return rows


def generic_element(tag: Tag, scope: dict[str, str], *, spaces: bool) -> Any:
    inner = {**scope, **tag.declares}
    name = tag.name if spaces or not tag.prefix else f"{tag.prefix}:{tag.name}"
    return "Element", inner.get(tag.prefix, "") if spaces else "", name, generic_tree(tag, scope, spaces=spaces)


def tree_of(element: Element) -> Any:
    """An element as rows of the same form."""
    kind = element.owner.type_names[element.type]
    inside = [tree_of(child) for child in element] if kind == "Element" else element.value
    return kind, element.namespace, element.name, inside


def infoset(node: etree._Element) -> Any:
    """An element as lxml sees it; CDATA sections are text to it."""
    content: list[Any] = [node.text or ""]
    for child in node:
        match child:
            case etree._Comment():
                content.append(("Comment", child.text))
            case etree._ProcessingInstruction():
                content.append(("ProcessingInstruction", child.target, child.text))
            case _:
                content.append(infoset(child))
        content.append(child.tail or "")
    return node.tag, dict(node.attrib), content


def seen_by_lxml(element: Element) -> Any:
    """An element of a tree in the form of `infoset`."""
    attributes, content = {}, [""]
    for child in element:
        kind = child.owner.type_names[child.type]
        if kind == "Attribute":
            attributes[f"{{{child.namespace}}}{child.name}" if child.namespace else child.name] = child.value
        elif kind in {"Content", "CDataSection"}:
            content[-1] += child.value
        elif kind != "NamespaceDecl":
            part = {"Comment": (kind, child.value), "ProcessingInstruction": (kind, child.name, child.value)}.get(kind)
            content += [part or seen_by_lxml(child), ""]
    return f"{{{element.namespace}}}{element.name}" if element.namespace else element.name, attributes, content


@given(documents(spaces=True))
def test_the_tree_of_xmlns_holds_what_the_document_holds(tag: Tag) -> None:
    """Names, namespaces, declarations, attributes, text, CDATA sections, comments and instructions are all there."""
    data = text_of(tag).encode()
    (root,) = body("XMLNS", data)
    assert tree_of(root) == generic_element(tag, {}, spaces=True)
    assert seen_by_lxml(root) == infoset(etree.fromstring(data, etree.XMLParser(strip_cdata=False)))


@given(documents(spaces=True))
def test_the_tree_of_xml_has_names_as_they_are_written(tag: Tag) -> None:
    """The XML domain knows no namespaces: a prefix is part of a name, a declaration is an attribute."""
    (root,) = body("XML", text_of(tag).encode())
    assert tree_of(root) == generic_element(tag, {}, spaces=False)


@given(documents(spaces=False))
def test_without_namespaces_xml_and_xmlns_agree(tag: Tag) -> None:
    """A document without namespaces has the same tree in both domains, and it is lxml's."""
    data = text_of(tag).encode()
    ((xml,), (xmlns,)) = body("XML", data), body("XMLNS", data)
    assert tree_of(xml) == tree_of(xmlns) == generic_element(tag, {}, spaces=False)
    assert seen_by_lxml(xml) == infoset(etree.fromstring(data, etree.XMLParser(strip_cdata=False)))


def fits(text: str, codec: str) -> bool:
    try:
        text.encode(codec)
    except UnicodeEncodeError:
        return False
    return True


@pytest.mark.parametrize("domain", ["XML", "XMLNS"])
@given(
    tag=documents(spaces=True), ccsid=st.sampled_from(CCSIDS), target=st.sampled_from(CCSIDS), declared=st.booleans()
)
@settings(max_examples=60)
def test_what_is_written_is_what_was_read(domain: str, tag: Tag, ccsid: int, target: int, declared: bool) -> None:
    """A document canonicalises the same after it was read and written, in any CCSID that has its characters."""
    encoding = 273 if ccsid in {1200, 13488} else 546
    text = text_of(tag)
    if declared:
        text = f'<?xml version="1.0" encoding="x"?>\n<!--é-->{text}\n<?end it?>'
    if not fits(text, codec(ccsid, encoding).name) or not fits(text, codec(target, 273).name):
        return
    out = write(body(domain, codec(ccsid, encoding).encode(text)[0], ccsid, encoding=encoding), target, encoding=273)
    back = codec(target, 273).decode(out)[0]
    assert etree.canonicalize(back.partition("?>")[2] if declared else back, with_comments=True) == etree.canonicalize(
        text.partition("?>")[2] if declared else text, with_comments=True
    )


def places(element: Element) -> list[tuple[str, str, int]]:
    """Name, namespace and number of each child, counted among those of the same name and namespace."""
    counted: dict[tuple[str, str], int] = {}
    found = []
    for child in element:
        key = child.name, child.namespace
        counted[key] = counted.get(key, 0) + 1
        found.append((*key, counted[key]))
    return found


@pytest.mark.parametrize("domain", ["XML", "XMLNS", "XMLNSC"])
@given(tag=documents(spaces=True), looks=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=12))
def test_a_child_is_the_same_however_it_is_found(domain: str, tag: Tag, looks: list[tuple[int, int]]) -> None:
    """What child, nth, nth_last, count and every answer is the same before and after siblings are walked."""
    data = text_of(tag).encode()
    lazy, (known,) = body(domain, data), body(domain, data)
    at = lazy.child(step(known.name, known.namespace))
    assert at is not None
    for number, how in looks:
        assert at.value == known.value
        inside = places(known)
        if not inside:
            assert at.child(step("a")) is None
            return
        name, namespace, nth = inside[number % len(inside)]
        wanted = step(name, namespace if how % 2 else None)
        before = [at.child(wanted), at.nth(wanted, 1), at.count(wanted), *at.every(wanted), at.nth_last(wanted, 1)]
        values = [e.value for e in at.every(wanted)]
        exact = at.nth(step(name, namespace), nth)
        if how > 1:
            list(at)
            assert at.state & EXPANDED
        after = [at.child(wanted), at.nth(wanted, 1), at.count(wanted), *at.every(wanted), at.nth_last(wanted, 1)]
        assert all(a is b or a == b for a, b in zip(before, after, strict=True))
        assert values == [e.value for e in after[3:-1]] == [e.value for e in known.every(wanted)]
        (known,) = [c for c, p in zip(list(known), places(known), strict=True) if p == (name, namespace, nth)]
        assert exact is not None
        assert (exact.name, exact.type, exact.value) == (known.name, known.type, known.value)
        at = exact
