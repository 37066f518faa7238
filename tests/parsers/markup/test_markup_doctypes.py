"""Document types that flows build: the declarations of the manual, and what is no part of a DTD."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.descriptor import Descriptor
from engine.errors import ParserException
from engine.message.assembly import Message
from engine.message.writer import write_message
from engine.parser import Form, Template, parser_catalog
from engine.tree.element import Element
from engine.tree.sharing import copy
from esql.compile import compile_text
from parsers.markup import element_types

SUBSET = "OutputRoot.XMLNS.(XML.DocTypeDecl).(XML.IntSubset)"
EXAMPLE = f"""
SET OutputRoot.XMLNS.(XML.DocTypeDecl)test = '';
SET OutputRoot.XMLNS.(XML.DocTypeDecl).(XML.SystemId) = 'test.dtd';
SET OutputRoot.XMLNS.(XML.DocTypeDecl).(XML.PublicId) = '//this/is/a/URI/test';
SET OutputRoot.XMLNS.(XML.DocTypeDecl).(XML.IntSubset) = '';
SET {SUBSET}.(XML.NotationDecl)TeX = '';
SET {SUBSET}.(XML.NotationDecl)TeX.(XML.SystemId) = '//TexID';
SET {SUBSET}.(XML.NotationDecl)TeX.(XML.PublicId) = '//this/is/a/URI/TexID';
SET {SUBSET}.(XML.EntityDecl)ent1 = '';
SET {SUBSET}.(XML.EntityDecl)ent1.(XML.EntityDeclValue) = 'this is an entity';
SET {SUBSET}.(XML.ParameterEntityDecl)ent2.(XML.EntityDeclValue) = '#PCDATA | subel2';
SET {SUBSET}.(XML.ExternalParameterEntityDecl)extent1.(XML.SystemId) = 'more.txt';
SET {SUBSET}.(XML.ExternalEntityDecl)extent2.(XML.SystemId) = 'more.txt';
SET {SUBSET}.(XML.ExternalEntityDecl)extent2.(XML.PublicId) = '//this/is/a/URI/extent2';
SET {SUBSET}.(XML.UnparsedEntityDecl)unpsd.(XML.SystemId) = 'me.gif';
SET {SUBSET}.(XML.UnparsedEntityDecl)unpsd.(XML.NotationReference) = 'TeX';
SET {SUBSET}.(XML.DocTypePI)test = 'Do this';
SET {SUBSET}.(XML.DocTypeComment) = 'this is a comment';
SET {SUBSET}.(XML.ElementDef)subel2 = '(#PCDATA)';
SET {SUBSET}.(XML.AttributeList)subel1 = '';
SET {SUBSET}.(XML.AttributeList)subel1.(XML.AttributeDef)size = '';
SET {SUBSET}.(XML.AttributeList)subel1.(XML.AttributeDef)size.(XML.AttributeDefValue) = 'big';
SET {SUBSET}.(XML.AttributeList)subel1.(XML.AttributeDef)size.(XML.AttributeDefType) = '(big | small)';
SET {SUBSET}.(XML.AttributeList)subel1.(XML.AttributeDef)shape.(XML.AttributeDefType) = '(round | square)';
SET {SUBSET}.(XML.AttributeList)subel1.(XML.AttributeDef)shape.(XML.AttributeDefDefaultType) = 'REQUIRED';
SET OutputRoot.XMLNS.(XML.Element)test = 'x';
"""
WRITTEN = (
    '<!DOCTYPE test PUBLIC "//this/is/a/URI/test" "test.dtd" ['
    '<!NOTATION TeX PUBLIC "//this/is/a/URI/TexID" "//TexID"><!ENTITY ent1 "this is an entity">'
    '<!ENTITY % ent2 "#PCDATA | subel2"><!ENTITY % extent1 SYSTEM "more.txt">'
    '<!ENTITY extent2 PUBLIC "//this/is/a/URI/extent2" "more.txt"><!ENTITY unpsd SYSTEM "me.gif" NDATA TeX>'
    "<?test Do this?><!--this is a comment--><!ELEMENT subel2 (#PCDATA)>"
    '<!ATTLIST subel1 size (big | small) "big" shape (round | square) #REQUIRED>]><test>x</test>'
)


def sent(program: str) -> Element:
    message = Message.received(Descriptor(), b"<a/>", template=Template("XMLNS"))
    [(_, out)] = compile_text(f"{program}; RETURN TRUE;", "COMPUTE").evaluate(message)
    return copy(out.root)


def test_the_declarations_of_the_manual() -> None:
    """A document type that is built declaration by declaration is written as XML has it, whatever the order."""
    assert write_message(sent(EXAMPLE))[1].decode() == WRITTEN


def doctype() -> tuple[Element, Element]:
    """A body with a document type, and that document type."""
    top = Element("XML")
    top.domain = parser_catalog.find("XML")
    made = top.add("a", type_=element_types.DOCTYPE_DECL)
    top.add("a")
    return top, made


def declared(type_: int, name: str = "x", value: object = None) -> Callable[[Element], Element]:
    return lambda made: made.add("IntSubset", type_=element_types.INT_SUBSET).add(name, value, type_=type_)


def second_subset(made: Element) -> None:
    made.add("IntSubset", type_=element_types.INT_SUBSET)
    made.add("IntSubset", type_=element_types.INT_SUBSET)


def entity_twice(made: Element) -> None:
    entity = declared(element_types.ENTITY_DECL)(made)
    entity.add("EntityDeclValue", "v", type_=element_types.ENTITY_VALUE)
    entity.add("SystemId", "s", type_=element_types.SYSTEM_ID)


ASTRAY: dict[str, tuple[Callable[[Element], object], str]] = {
    "a field": (
        lambda made: made.add("x", 1),
        r"x is no part .*XML\.IntSubset.*, or delete it; the element .* by \(XML\.Element\)a",
    ),
    "text": (lambda made: made.add("", "x", type_=element_types.CONTENT), "Content is no part of"),
    "a declaration outside": (lambda made: made.add("x", "", type_=element_types.ELEMENT_DEF), r"x is no part of"),
    "a field inside": (declared(element_types.ELEMENT), r"IntSubset\.x is no part of .*XML\.EntityDecl"),
    "a field in a leaf": (
        lambda made: declared(element_types.ELEMENT_DEF, "x", "ANY")(made).add("y"),
        r"x\.y is .* delete it",
    ),
    "in an entity": (
        lambda made: declared(element_types.ENTITY_DECL)(made).add("y", 1),
        r"x\.y is .*XML\.EntityDeclValue",
    ),
    "a value": (declared(element_types.ENTITY_DECL, "x", "v"), r"IntSubset\.x has the value 'v', which has no place"),
    "a second subset": (second_subset, "IntSubset is a second IntSubset"),
    "an entity of both kinds": (entity_twice, r"IntSubset\.x has a value and says where it stands"),
    "an entity of neither kind": (
        declared(element_types.ENTITY_DECL),
        r"<!ENTITY x>.* is no document type declaration: ",
    ),
    "no content": (declared(element_types.ELEMENT_DEF, "x", ""), r"<!ELEMENT x >.* is no document type declaration: "),
    "no XML": (declared(element_types.ELEMENT_DEF, "x", "ANY><b/"), "is no document type declaration: "),
}


@pytest.mark.parametrize("what", ASTRAY)
def test_what_is_no_part_of_a_document_type(what: str) -> None:
    """What cannot stand where it does is an error that says where it is and what to do, and is not left out."""
    build, expected = ASTRAY[what]
    top, made = doctype()
    build(made)
    with pytest.raises(ParserException, match=rf"BIP5010: XML writing errors have occurred: XML\.a: .*{expected}"):
        parser_catalog.find("XML").write(top, Form())


def test_comments_and_blanks_of_documents() -> None:
    """Comments, instructions and blanks are written in a DTD also where their types are those of documents."""
    top, made = doctype()
    made.add("", " ", type_=element_types.DOCTYPE_WHITE_SPACE)
    subset = made.add("IntSubset", type_=element_types.INT_SUBSET)
    subset.add("", "c", type_=element_types.COMMENT)
    subset.add("", "\n", type_=element_types.WHITE_SPACE)
    subset.add("t", "d", type_=element_types.INSTRUCTION)
    assert parser_catalog.find("XML").write(top, Form()) == b"<!DOCTYPE a [<!--c-->\n<?t d?>]><a/>"


def compact(*parts: tuple[str, str, int]) -> bytes:
    top = Element("XMLNSC")
    top.domain = parser_catalog.find("XMLNSC")
    made = top.add("a", type_=element_types.DOCUMENT_TYPE)
    for name, value, number in parts:
        made.add(name, value, type_=number)
    top.add("a")
    return parser_catalog.find("XMLNSC").write(top, Form())


def test_compact_entities() -> None:
    """XMLNSC's document type holds entities, in the quotes that their type asks for, and nothing else."""
    written = compact(("e", "v", element_types.ENTITY_DEFINITION), ("f", "w", element_types.SINGLE_ENTITY_DEFINITION))
    assert written == b"<!DOCTYPE a [<!ENTITY e \"v\"><!ENTITY f 'w'>]><a/>"
    with pytest.raises(ParserException, match=r"XMLNSC\.a: e is no part of .*: give it type XMLNSC\.EntityDefinition"):
        compact(("e", "v", element_types.FIELD))
