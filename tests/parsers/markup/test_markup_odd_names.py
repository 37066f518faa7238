"""Attributes whose names lxml cannot set: with a brace in their namespace, or with a prefix that nothing declares."""

import pytest

from engine.message.received import Part
from engine.parser import Follow, Form, Portion, parser_catalog
from engine.tree.element import Element
from engine.tree.sharing import copy, read_only
from engine.tree.source import NAME

BRACE = '<r xmlns:p="urn:a}b" p:z="q" w="1"><p:e p:f="1">x</p:e></r>'
UNDECLARED = '<r q:z="q" w="1"><p:e p:f="1">x</p:e></r>'

# The domain, the document, the path of an attribute by names, and its value.
ATTRIBUTES = [
    ("XML", BRACE, ("r", "p:z")),
    ("XMLNS", BRACE, ("r", "z")),
    ("XMLNSC", BRACE, ("r", "z")),
    ("XML", UNDECLARED, ("r", "q:z")),
    ("XML", UNDECLARED, ("r", "w")),
]


def _read(domain: str, text: str) -> Element:
    data = text.encode()
    return Element(
        domain, "", NAME, Part(parser_catalog.find(domain), Portion(data, 0, len(data), Follow("", 273, 1208)))
    )


def _at(tree: Element, *names: str) -> Element:
    for name in names:
        tree = next(child for child in tree if child.name == name)
    return tree


@pytest.mark.parametrize(("domain", "text", "path"), ATTRIBUTES)
def test_odd_attributes(domain: str, text: str, path: tuple[str, ...]) -> None:
    """Such an attribute has its value, and is written with another where it is given one."""
    tree, name = _read(domain, text), path[-1].rpartition(":")[2]
    value = _at(tree, *path).value
    assert f'{name}="{value}"' in text
    _at(tree, *path).value = "other"
    made = parser_catalog.find(domain).write(tree, Form(273, 1208)).decode()
    assert text.replace(f'{name}="{value}"', f'{name}="other"', 1) == made


COLON = '<r><p:e :="1">x</p:e></r>'

# The domain, a document with text behind an attribute that libxml2 does not set, and the attribute's path.
BEFORE_TEXT = [
    ("XML", UNDECLARED, ("r", "p:e", "p:f")),
    ("XML", BRACE, ("r", "p:e", "p:f")),
    ("XMLNS", BRACE, ("r", "e", "f")),
    ("XMLNSC", BRACE, ("r", "e", "f")),
    ("XML", COLON, ("r", "p:e", ":")),
]


@pytest.mark.parametrize(("domain", "text", "path"), BEFORE_TEXT)
@pytest.mark.parametrize("copied", [False, True])
@pytest.mark.parametrize("domained", [False, True])
def test_text_behind_an_odd_attribute(
    domain: str, text: str, path: tuple[str, ...], *, copied: bool, domained: bool
) -> None:
    """Text stands in the element once when such an attribute in front of it changes, in trees of any domain or none."""
    tree, parser = _read(domain, text), parser_catalog.find(domain)
    if domained:
        tree.domain = parser
    _at(tree, *path).value = "other"
    if copied:
        tree = copy(read_only(tree))
        _at(tree, *path).value = "another"
    made = parser.write(tree, Form(273, 1208)).decode()
    name = path[-1].rpartition(":")[2] if domain != "XML" else path[-1]
    assert text.replace(f'{name}="1">', f'{name}="{"another" if copied else "other"}">') == made


@pytest.mark.parametrize("text", [UNDECLARED, BRACE])
def test_an_odd_attribute_beside_one_that_goes(text: str) -> None:
    """An attribute that is taken away takes none of the others with it, here or in the document that was read."""
    tree, parser = _read("XML", text), parser_catalog.find("XML")
    _at(tree, "r", "w").detach()
    assert text.replace(' w="1"', "") == parser.write(tree, Form(273, 1208)).decode()
