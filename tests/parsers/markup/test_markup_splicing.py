"""Splicing: a changed field is written into the text that came, at its own place, or the document is written anew."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

from engine.tree.element import Element
from engine.tree.sharing import copy
from engine.tree.step import Step, step
from tests.parsers.markup.documents import body, write

NAMES = st.sampled_from(["a", "ab", "a-b", "b", "p:a", "p:b"])
TEXTS = st.sampled_from(["", "1", "x y", "&lt;a&gt;", ">", " ", "&#32;", "\t"])
ATTRIBUTES = st.sampled_from(["", "", "", " ", ' k="&lt;a"', " k='>'", ' k="/"', ' k=">" l="</"'.replace("<", "&lt;")])
BESIDE = st.sampled_from(["", "", "", "", " ", "\n", "&#32;", "text", "te>"])
SPACES = st.sampled_from(["", "", "", ' xmlns:p="urn:1"', ' xmlns:p="urn:2"', ' xmlns="urn:1"', ' xmlns=""'])
HEADS = st.sampled_from(
    ["", "", '<?xml version="1.0"?>', "<?xml version='1.0' encoding='UTF-8'?>\n", "<!--<a>-->", " "]
)


@st.composite
def trees(draw: st.DrawFn, depth: int = 3) -> str:
    """An element as text, in any form that XML allows for it."""
    name = draw(NAMES)
    attributes = draw(ATTRIBUTES) + draw(SPACES)
    blank = draw(st.sampled_from(["", "", " "]))
    if depth and draw(st.booleans()):
        children = [draw(trees(depth - 1)) + draw(BESIDE) for _ in range(draw(st.integers(1, 3)))]
        return f"<{name}{attributes}>{draw(BESIDE)}{''.join(children)}</{name}{blank}>"
    text = draw(TEXTS)
    return f"<{name}{attributes}>{text}</{name}{blank}>" if text else f"<{name}{attributes}/>"


def fields(root: etree._Element) -> list[etree._Element]:
    """The elements that hold no others."""
    return [node for node in root.iter() if len(node) == 0]


def way_to(node: etree._Element, *, spaces: bool) -> list[tuple[Step, int]]:
    """The steps that lead to a node from the top of its document, and which of its namesakes is meant each time."""
    way = []
    while (above := node.getparent()) is not None:
        namesakes = [child for child in above if named(child, spaces=spaces) is named(node, spaces=spaces)]
        way.append((named(node, spaces=spaces), namesakes.index(node) + 1))
        node = above
    return [(named(node, spaces=spaces), 1), *reversed(way)]


def found_at(top: Element, node: etree._Element) -> Element:
    """The element that stands for a node in the tree of its document."""
    element = top
    for wanted, at in way_to(node, spaces=top.name != "XML"):
        found = element.nth(wanted, at) if at > 1 else element.child(wanted)
        assert found is not None
        element = found
    return element


def named(node: etree._Element, *, spaces: bool) -> Step:
    """The step to a node: by name and namespace, or by the name that the document writes."""
    name = etree.QName(node)
    if spaces:
        return step(name.localname, name.namespace or "")
    return step(f"{node.prefix}:{name.localname}" if node.prefix else name.localname)


def without_text_beside(root: etree._Element, *, but: etree._Element | None = None) -> etree._Element:
    """A document as XMLNSC has it: only elements without children have text."""
    for node in root.iter():
        if len(node) and node is not but:
            node.text = None
            for child in node:
                child.tail = None
    return root


@pytest.mark.parametrize("domain", ["XML", "XMLNS", "XMLNSC"])
@given(HEADS, trees(), st.lists(st.integers(0, 50), min_size=1, max_size=6), st.sampled_from(["N<W", "", "]]>"]))
@example("", '<a><a xmlns="urn:1"/><a/></a>', [1], "N<W")
def test_fields_change_where_they_stand(domain: str, head: str, tree: str, numbers: list[int], value: str) -> None:
    """Whatever stands in front of a field and however it is written, it changes as lxml by hand changes it."""
    top, declared = ("p:top", ' xmlns:p="urn:0"') if "p:" in tree else ("top", "")
    text = f"{head}<{top}{declared}>{tree}</{top}>"
    changed, expected = copy(body(domain, text.encode())), etree.fromstring(text.encode())
    places = fields(expected)
    for place in {places[number % len(places)]: None for number in numbers}:
        found_at(changed, place).value = place.text = value
    if domain == "XMLNSC":
        expected = without_text_beside(expected)
    assert etree.tostring(expected, method="c14n") == etree.tostring(etree.fromstring(write(changed)), method="c14n")


@pytest.mark.parametrize("domain", ["XML", "XMLNS", "XMLNSC"])
@given(HEADS, trees(), st.lists(st.integers(0, 50), max_size=2), st.integers(0, 50))
def test_what_is_appended_comes_last(domain: str, head: str, tree: str, numbers: list[int], parent: int) -> None:
    """Whatever element is given another child, with fields that change or without, has it behind all others."""
    top, declared = ("p:top", ' xmlns:p="urn:0"') if "p:" in tree else ("top", "")
    text = f"{head}<{top}{declared}>{tree}</{top}>"
    changed, expected = copy(body(domain, text.encode())), etree.fromstring(text.encode())
    places, parents = fields(expected), [node for node in expected.iter(etree.Element) if len(node)]
    above = parents[parent % len(parents)]
    added = found_at(changed, above).add("New", "1 < 2")
    added.add("Inner", "")
    for place in {places[number % len(places)]: None for number in numbers}:
        found_at(changed, place).value = place.text = "x"
    space = (above.nsmap.get(None) or None) if domain == "XML" else None  # the XML domain knows nothing of namespaces
    twin = etree.SubElement(above, etree.QName(space, "New"))
    twin.text = "1 < 2"
    etree.SubElement(twin, etree.QName(space, "Inner"))
    if domain == "XMLNSC":
        expected = without_text_beside(expected, but=twin)
    for _ in range(2):
        assert plain(expected) == plain(etree.fromstring(write(changed)))


def plain(root: etree._Element) -> object:
    """A document as data, whatever its prefixes are called."""
    attributes = sorted(dict(root.attrib).items())
    return (
        root.tag,
        attributes,
        root.text or "",
        root.tail or "",
        [plain(child) for child in root if child.tag is not etree.Comment],
    )


# The domain, what came, and what is written when the first Status has become DONE.
FORMS = [
    ("XML", "<O><Status>NEW</Status><E></E></O>\n", "<O><Status>DONE</Status><E></E></O>\n"),
    ("XML", "<O> <Status/> <Status/></O>", "<O> <Status>DONE</Status> <Status/></O>"),
    ("XML", "<O><StatusOf>1</StatusOf><Status>2</Status></O>", "<O><StatusOf>1</StatusOf><Status>DONE</Status></O>"),
    ("XML", "<?xml version='1.0'?><O><Status>é</Status></O>", "<?xml version='1.0'?><O><Status>DONE</Status></O>"),
    ("XML", "<O><!--<Status/>--><Status/></O>", "<O><!--<Status/>--><Status>DONE</Status></O>"),
    ("XML", "<O k='1'><Status k='1'/></O>", '<O k="1"><Status k="1">DONE</Status></O>'),
    ("XML", '<O k="1"><Status  k="&#65;" /></O>', '<O k="1"><Status  k="&#65;" >DONE</Status></O>'),
    ("XML", '<O k="1"><Status k=">" l="/">x</Status></O>', '<O k="1"><Status k=">" l="/">DONE</Status></O>'),
    ("XML", '<O xmlns:p="u"><p:Status/><Status /></O>', '<O xmlns:p="u"><p:Status/><Status >DONE</Status></O>'),
    ("XMLNSC", '<O xmlns:p="u"><p:Status/><Status/></O>', '<O xmlns:p="u"><p:Status/><Status>DONE</Status></O>'),
    ("XMLNSC", '<O k="1"><Status/><E k="a b"></E></O>', '<O k="1"><Status>DONE</Status><E k="a b"></E></O>'),
    ("XML", "<O k='1'><?x <Status/>?><Status/></O>", '<O k="1"><?x <Status/>?><Status>DONE</Status></O>'),
    ("XMLNSC", "<O><Status>NEW</Status><E></E></O>\n", "<O><Status>DONE</Status><E></E></O>"),
    (
        "XMLNSC",
        "<?xml version='1.0'?>\n<O><Status/><E></E></O>",
        '<?xml version="1.0"?>' + "<O><Status>DONE</Status><E></E></O>",
    ),
    ("XMLNSC", "<O> <Status/> <E>a b</E></O>", "<O><Status>DONE</Status><E>a b</E></O>"),
    ("XMLNSC", "<O k='1'>x<Status/></O>", '<O k="1"><Status>DONE</Status></O>'),
    ("XMLNSC", "<O k='1'>&#32;<Status/></O>", '<O k="1"><Status>DONE</Status></O>'),
    ("XMLNSC", "<O><E>a b</E><Status/></O>", "<O><E>a b</E><Status>DONE</Status></O>"),
]


@pytest.mark.parametrize(("domain", "came", "expected"), FORMS)
@pytest.mark.parametrize("ccsid", [1208, 819, 500])
def test_what_is_untouched_keeps_its_form(domain: str, came: str, expected: str, ccsid: int) -> None:
    """What nobody changed is written as it came, where a document has nothing but plain tags and text."""
    codec = {1208: "utf-8", 819: "iso-8859-1", 500: "cp500"}[ccsid]
    changed = copy(body(domain, came.encode(codec), ccsid))
    status = changed.at("O", "Status")
    assert status is not None
    for _ in range(2):
        status.value = "DONE"
        assert expected == write(changed, ccsid).decode(codec)


# What came, and what is written when the attribute k of Status is NEW.
ATTRIBUTED = [
    ("<O><Status m=' k=' k='1'/></O>", '<O><Status m=" k=" k="NEW"/></O>'),
    ("<O><Status m='k k=' k=''/></O>", '<O><Status m="k k=" k="NEW"/></O>'),
    ("<O><Status m=' k='/></O>", '<O><Status m=" k=" k="NEW"/></O>'),
    ("<O><Status m=' k=' n='1'>x</Status></O>", '<O><Status m=" k=" n="1" k="NEW">x</Status></O>'),
    ("<O><Status kk='1' k='2' l='3'/></O>", '<O><Status kk="1" k="NEW" l="3"/></O>'),
    ("<O><Status m='/>' k='&quot;'/></O>", '<O><Status m="/&gt;" k="NEW"/></O>'),
]


@pytest.mark.parametrize("domain", ["XML", "XMLNS", "XMLNSC"])
@pytest.mark.parametrize(("came", "expected"), ATTRIBUTED)
def test_an_attribute_changes_in_its_own_place(domain: str, came: str, expected: str) -> None:
    """An attribute is changed or added where it is one, though the values of others look as if it began there."""
    changed = copy(body(domain, came.encode()))
    status = changed.at("O", "Status")
    assert status is not None
    known = status.at("k")
    if known is None:
        first = status.first_child
        assert first is not None
        status.add("k", "NEW", type_=first.type)
    else:
        known.value = "NEW"
    assert expected == write(changed).decode()
