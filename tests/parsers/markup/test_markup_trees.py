"""The tree of each domain for documents of every kind, as IBM has it."""

from __future__ import annotations

import pytest

from engine.parser import Options
from tests.parsers.markup.documents import body, shown

DECLARATIONS = (
    '<!DOCTYPE a PUBLIC "pub" "sys" [\n<!ELEMENT a (#PCDATA|b)*>'
    "<!ATTLIST a x CDATA \"1\" y (p|q) #REQUIRED z NMTOKEN #FIXED 'f'>"
    '<!ENTITY e "v">'
    '<!ENTITY % pe "w">'
    '<!ENTITY x PUBLIC "p" "s">'
    '<!ENTITY % px SYSTEM "s">'
    '<!ENTITY u SYSTEM "s" NDATA n>'
    '<!NOTATION n SYSTEM "viewer">'
    "<!--c--><?t d?>]>"
    '<a y="p">1&e;2</a>'
)
TREES = {
    '<a x="1">text</a>': {
        "XML": [
            "Element a = 'text'",
            "  Attribute x = '1'",
            "  Content  = 'text'",
        ],
        "XMLNSC": [
            "PCDataField a = 'text'",
            "  Attribute x = '1'",
        ],
    },
    "<a/>": {
        "XML": [
            "Element a = ''",
        ],
        "XMLNSC": [
            "PCDataField a = ''",
        ],
    },
    "<a>  </a>": {
        "XML": [
            "Element a = '  '",
            "  Content  = '  '",
        ],
        "XMLNSC": [
            "PCDataField a = '  '",
        ],
    },
    "<a>\n  <b/>\n</a>": {
        "XML": [
            "Element a = '\\n  '",
            "  Content  = '\\n  '",
            "  Element b = ''",
            "  Content  = '\\n'",
        ],
        "XMLNSC": [
            "Folder a",
            "  PCDataField b = ''",
        ],
    },
    "<a>x<b/>y</a>": {
        "XML": [
            "Element a = 'x'",
            "  Content  = 'x'",
            "  Element b = ''",
            "  Content  = 'y'",
        ],
        "XMLNSC": [
            "Folder a",
            "  PCDataField b = ''",
        ],
    },
    "<a><![CDATA[<x>]]></a>": {
        "XML": [
            "Element a = '<x>'",
            "  CDataSection  = '<x>'",
        ],
        "XMLNSC": [
            "CDataField a = '<x>'",
        ],
    },
    "<a>p<![CDATA[q]]></a>": {
        "XML": [
            "Element a = 'p'",
            "  Content  = 'p'",
            "  CDataSection  = 'q'",
        ],
        "XMLNSC": [
            "HybridField a = 'pq'",
        ],
    },
    "<a><!--c--><?t  d?></a>": {
        "XML": [
            "Element a",
            "  Comment  = 'c'",
            "  ProcessingInstruction t = 'd'",
        ],
        "XMLNSC": [
            "PCDataField a = ''",
        ],
    },
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?><a/>': {
        "XML": [
            "XmlDecl XmlDecl",
            "  Version Version = '1.0'",
            "  Encoding Encoding = 'UTF-8'",
            "  Standalone Standalone = 'yes'",
            "Element a = ''",
        ],
        "XMLNSC": [
            "XmlDeclaration XmlDeclaration",
            "  Attribute Version = '1.0'",
            "  Attribute Encoding = 'UTF-8'",
            "  Attribute StandAlone = 'yes'",
            "PCDataField a = ''",
        ],
    },
    '<a xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:nil="true"/>': {
        "XML": [
            "Element a = ''",
            "  Attribute xmlns:xsi = 'http://www.w3.org/2001/XMLSchema-instance'",
            "  Attribute xsi:nil = 'true'",
        ],
        "XMLNS": [
            "Element a = ''",
            "  NamespaceDecl {http://www.w3.org/2000/xmlns/}xsi = 'http://www.w3.org/2001/XMLSchema-instance'",
            "  Attribute {http://www.w3.org/2001/XMLSchema-instance}nil = 'true'",
        ],
        "XMLNSC": [
            "PCDataField a",
            "  NamespaceDecl {http://www.w3.org/2000/xmlns/}xsi = 'http://www.w3.org/2001/XMLSchema-instance'",
            "  Attribute {http://www.w3.org/2001/XMLSchema-instance}nil = 'true'",
        ],
    },
    '<a xmlns="u" xmlns:p="v"><p:b p:x="1" xml:lang="en"/><c xmlns=""/></a>': {
        "XML": [
            "Element a",
            "  Attribute xmlns = 'u'",
            "  Attribute xmlns:p = 'v'",
            "  Element p:b = ''",
            "    Attribute p:x = '1'",
            "    Attribute xml:lang = 'en'",
            "  Element c = ''",
            "    Attribute xmlns = ''",
        ],
        "XMLNS": [
            "Element {u}a",
            "  NamespaceDecl xmlns = 'u'",
            "  NamespaceDecl {http://www.w3.org/2000/xmlns/}p = 'v'",
            "  Element {v}b = ''",
            "    Attribute {v}x = '1'",
            "    Attribute {http://www.w3.org/XML/1998/namespace}lang = 'en'",
            "  Element c = ''",
            "    NamespaceDecl xmlns = ''",
        ],
        "XMLNSC": [
            "Folder {u}a",
            "  NamespaceDecl xmlns = 'u'",
            "  NamespaceDecl {http://www.w3.org/2000/xmlns/}p = 'v'",
            "  PCDataField {v}b = ''",
            "    Attribute {v}x = '1'",
            "    Attribute {http://www.w3.org/XML/1998/namespace}lang = 'en'",
            "  PCDataField c = ''",
            "    NamespaceDecl xmlns = ''",
        ],
    },
    DECLARATIONS: {
        "XML": [
            "DocTypeDecl a",
            "  PublicId PublicId = 'pub'",
            "  SystemId SystemId = 'sys'",
            "  IntSubset IntSubset",
            "    DocTypeWhiteSpace  = '\\n'",
            "    ElementDef a = '(#PCDATA|b)*'",
            "    AttributeList a",
            "      AttributeDef x",
            "        AttributeDefType AttributeDefType = 'CDATA'",
            "        AttributeDefValue AttributeDefValue = '1'",
            "      AttributeDef y",
            "        AttributeDefType AttributeDefType = '(p|q)'",
            "        AttributeDefDefaultType AttributeDefDefaultType = '#REQUIRED'",
            "      AttributeDef z",
            "        AttributeDefType AttributeDefType = 'NMTOKEN'",
            "        AttributeDefDefaultType AttributeDefDefaultType = '#FIXED'",
            "        AttributeDefValue AttributeDefValue = 'f'",
            "    EntityDecl e",
            "      EntityDeclValue EntityDeclValue = 'v'",
            "    ParameterEntityDecl pe",
            "      EntityDeclValue EntityDeclValue = 'w'",
            "    ExternalEntityDecl x",
            "      PublicId PublicId = 'p'",
            "      SystemId SystemId = 's'",
            "    ExternalParameterEntityDecl px",
            "      SystemId SystemId = 's'",
            "    UnparsedEntityDecl u",
            "      SystemId SystemId = 's'",
            "      NotationReference NotationReference = 'n'",
            "    NotationDecl n",
            "      SystemId SystemId = 'viewer'",
            "    DocTypeComment  = 'c'",
            "    DocTypePI t = 'd'",
            "Element a = '1'",
            "  Attribute y = 'p'",
            "  Content  = '1'",
            "  EntityReferenceStart  = 'e'",
            "  Content  = 'v'",
            "  EntityReferenceEnd  = 'e'",
            "  Content  = '2'",
        ],
        "XMLNSC": [
            "PCDataField a = '1v2'",
            "  Attribute y = 'p'",
        ],
    },
    '<!DOCTYPE a [<!ENTITY e "<b c=\'1\'>x</b>y"><!ATTLIST a d CDATA "1">]><a>&e;</a>': {
        "XML": [
            "DocTypeDecl a",
            "  IntSubset IntSubset",
            "    EntityDecl e",
            "      EntityDeclValue EntityDeclValue = \"<b c='1'>x</b>y\"",
            "    AttributeList a",
            "      AttributeDef d",
            "        AttributeDefType AttributeDefType = 'CDATA'",
            "        AttributeDefValue AttributeDefValue = '1'",
            "Element a",
            "  Attribute d = '1'",
            "  EntityReferenceStart  = 'e'",
            "  Element b = 'x'",
            "    Attribute c = '1'",
            "    Content  = 'x'",
            "  Content  = 'y'",
            "  EntityReferenceEnd  = 'e'",
        ],
        "XMLNSC": [
            "Folder a",
            "  Attribute d = '1'",
            "  PCDataField b = 'x'",
            "    Attribute c = '1'",
        ],
    },
    '<?xml version="1.0"?>\n<!--c--><?t d?>\n<a/>\n<!--e-->\n': {
        "XML": [
            "XmlDecl XmlDecl",
            "  Version Version = '1.0'",
            "WhiteSpace  = '\\n'",
            "Comment  = 'c'",
            "ProcessingInstruction t = 'd'",
            "WhiteSpace  = '\\n'",
            "Element a = ''",
            "Comment  = 'e'",
        ],
        "XMLNSC": [
            "XmlDeclaration XmlDeclaration",
            "  Attribute Version = '1.0'",
            "PCDataField a = ''",
        ],
    },
}


@pytest.mark.parametrize("domain", ["XML", "XMLNS", "XMLNSC"])
@pytest.mark.parametrize("document", TREES)
def test_the_tree_of_a_document(document: str, domain: str) -> None:
    """Types, names, namespaces and values are those of the domain; XMLNS is as XML where nothing else is said."""
    trees = TREES[document]
    assert shown(body(domain, document.encode())) == trees.get(domain, trees["XML"])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (Options(), ["Folder a", "  PCDataField b = 'zz'"]),
        (
            Options(retain_mixed_content=True),
            [
                "Folder a = 'x'",
                "  PCDataValue  = 'x'",
                "  PCDataField b = 'zz'",
                "  CDataValue  = 'y'",
                "  PCDataValue  = ' '",
            ],
        ),
        (
            Options(retain_comments=True),
            ["Folder a", "  PCDataField b = 'zz'", "    Comment  = 'c'", "  Comment  = 'd'"],
        ),
        (
            Options(retain_processing_instructions=True),
            ["ProcessingInstruction p = 'q'", "Folder a", "  PCDataField b = 'zz'"],
        ),
    ],
)
def test_xmlnsc_keeps_what_it_is_told_to(options: Options, expected: list[str]) -> None:
    """Mixed content, comments and instructions are dropped unless an input node's properties retain them."""
    data = b"<?p q?><a>x<b>z<!--c-->z</b><![CDATA[y]]> <!--d--></a>"
    assert shown(body("XMLNSC", data, options=options)) == expected


@pytest.mark.parametrize("document", ["<a> <![CDATA[x]]></a>", "<a> <!--c-->x</a>", "<a>\r\n x</a>", "<a> <?p?>x</a>"])
def test_blanks_in_a_field_are_part_of_its_value(document: str) -> None:
    """XMLNSC drops the layout between fields, and no blank inside of one."""
    value = next(iter(body("XMLNSC", document.encode()))).value
    assert value == ("\n x" if "\n" in document else " x")
