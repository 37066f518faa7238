"""Element types of the XML, XMLNS and XMLNSC domains, and flavours: which parts of a document each domain shows.

Numbers are those of traces where traces show them; the rest are this engine's own. Flows name types, not numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

from engine.parser import RETAIN_COMMENTS, RETAIN_INSTRUCTIONS, RETAIN_MIXED
from engine.tree.source import NAME_VALUE
from engine.tree.step import Types


class Kind(Enum):
    """The kind of a part of a document, whatever its domain calls it."""

    ELEMENT = "element"
    LIST = "list"
    ATTRIBUTE = "attribute"
    NAMESPACE = "namespace"
    TEXT = "text"
    TAIL = "tail"
    CDATA = "cdata"
    COMMENT = "comment"
    INSTRUCTION = "instruction"
    DECLARATION = "declaration"
    DOCTYPE = "doctype"
    SPACE = "space"
    REFERENCE = "reference"
    RAW = "raw"
    PART = "part"  # of a declaration or a document type: rendered by what it is part of


# The XML and XMLNS domains.
ELEMENT: Final = 0x01000000
PARSER_ROOT: Final = 0x01000010
CONTENT: Final = 0x02000000
CDATA_SECTION: Final = 0x02000001
ASIS_CONTENT: Final = 0x02000002
BIT_STREAM: Final = 0x02000003
ATTRIBUTE: Final = 0x03000000
XML_DECL: Final = 0x05000018
DOCTYPE_DECL: Final = 0x05000020
INT_SUBSET: Final = 0x05000021
ENTITY_DECL: Final = 0x05000022
PARAMETER_ENTITY_DECL: Final = 0x05000023
EXTERNAL_ENTITY_DECL: Final = 0x05000024
EXTERNAL_PARAMETER_ENTITY_DECL: Final = 0x05000025
UNPARSED_ENTITY_DECL: Final = 0x05000026
NOTATION_DECL: Final = 0x05000027
ATTRIBUTE_LIST: Final = 0x05000028
WHITE_SPACE: Final = 0x06000002
VERSION: Final = 0x06000011
ENCODING: Final = 0x06000012
STANDALONE: Final = 0x06000014
COMMENT: Final = 0x06000018
PUBLIC_ID: Final = 0x06000020
SYSTEM_ID: Final = 0x06000021
ENTITY_VALUE: Final = 0x06000022
NOTATION_REFERENCE: Final = 0x06000023
DOCTYPE_COMMENT: Final = 0x06000024
DOCTYPE_WHITE_SPACE: Final = 0x06000025
ENTITY_REFERENCE_START: Final = 0x06000026
ENTITY_REFERENCE_END: Final = 0x06000027
ATTRIBUTE_DEF_VALUE: Final = 0x06000028
ATTRIBUTE_DEF_DEFAULT: Final = 0x06000029
ATTRIBUTE_DEF_TYPE: Final = 0x0600002A
NAMESPACE_DECL: Final = 0x07000012
INSTRUCTION: Final = 0x07000018
DOCTYPE_INSTRUCTION: Final = 0x07000019
ELEMENT_DEF: Final = 0x07000020
ATTRIBUTE_DEF: Final = 0x07000021

GENERIC_NAMES: Final[Mapping[int, str]] = {
    ELEMENT: "Element",
    PARSER_ROOT: "ParserRoot",
    CONTENT: "Content",
    CDATA_SECTION: "CDataSection",
    ASIS_CONTENT: "AsisElementContent",
    BIT_STREAM: "BitStream",
    ATTRIBUTE: "Attribute",
    XML_DECL: "XmlDecl",
    DOCTYPE_DECL: "DocTypeDecl",
    INT_SUBSET: "IntSubset",
    ENTITY_DECL: "EntityDecl",
    PARAMETER_ENTITY_DECL: "ParameterEntityDecl",
    EXTERNAL_ENTITY_DECL: "ExternalEntityDecl",
    EXTERNAL_PARAMETER_ENTITY_DECL: "ExternalParameterEntityDecl",
    UNPARSED_ENTITY_DECL: "UnparsedEntityDecl",
    NOTATION_DECL: "NotationDecl",
    ATTRIBUTE_LIST: "AttributeList",
    WHITE_SPACE: "WhiteSpace",
    VERSION: "Version",
    ENCODING: "Encoding",
    STANDALONE: "Standalone",
    COMMENT: "Comment",
    PUBLIC_ID: "PublicId",
    SYSTEM_ID: "SystemId",
    ENTITY_VALUE: "EntityDeclValue",
    NOTATION_REFERENCE: "NotationReference",
    DOCTYPE_COMMENT: "DocTypeComment",
    DOCTYPE_WHITE_SPACE: "DocTypeWhiteSpace",
    ENTITY_REFERENCE_START: "EntityReferenceStart",
    ENTITY_REFERENCE_END: "EntityReferenceEnd",
    ATTRIBUTE_DEF_VALUE: "AttributeDefValue",
    ATTRIBUTE_DEF_DEFAULT: "AttributeDefDefaultType",
    ATTRIBUTE_DEF_TYPE: "AttributeDefType",
    NAMESPACE_DECL: "NamespaceDecl",
    INSTRUCTION: "ProcessingInstruction",
    DOCTYPE_INSTRUCTION: "DocTypePI",
    ELEMENT_DEF: "ElementDef",
    ATTRIBUTE_DEF: "AttributeDef",
}

GENERIC_CONSTANTS: Final[Mapping[str, int]] = {
    "Element": ELEMENT,
    "tag": ELEMENT,
    "Attribute": ATTRIBUTE,
    "attr": ATTRIBUTE,
    "Content": CONTENT,
    "pcdata": CONTENT,
    **{name: number for number, name in GENERIC_NAMES.items()},
    "EntityReference": ENTITY_REFERENCE_START,
    "NameSpaceDecl": NAMESPACE_DECL,
}
GENERIC_BESIDE: Final = frozenset({ATTRIBUTE, NAMESPACE_DECL})
_GENERIC_KINDS: Final = {
    CONTENT: Kind.TEXT,
    CDATA_SECTION: Kind.CDATA,
    ASIS_CONTENT: Kind.RAW,
    BIT_STREAM: Kind.RAW,
    ATTRIBUTE: Kind.ATTRIBUTE,
    XML_DECL: Kind.DECLARATION,
    DOCTYPE_DECL: Kind.DOCTYPE,
    WHITE_SPACE: Kind.SPACE,
    COMMENT: Kind.COMMENT,
    INSTRUCTION: Kind.INSTRUCTION,
    NAMESPACE_DECL: Kind.NAMESPACE,
    ENTITY_REFERENCE_START: Kind.REFERENCE,
    ENTITY_REFERENCE_END: Kind.PART,
}

# The XMLNSC domain.
FOLDER: Final = 0x01000000
DOCUMENT_TYPE: Final = 0x01000300
XML_DECLARATION: Final = 0x01000400
VALUE: Final = 0x02000000
CDATA_VALUE: Final = 0x02000001
HYBRID_VALUE: Final = 0x02000002
ENTITY_REFERENCE: Final = 0x02000100
FIELD: Final = 0x03000000
CDATA_FIELD: Final = 0x03000001
HYBRID_FIELD: Final = 0x03000002
COMPACT_ATTRIBUTE: Final = 0x03000100
SINGLE_ATTRIBUTE: Final = 0x03000101
COMPACT_NAMESPACE: Final = 0x03000102
SINGLE_NAMESPACE: Final = 0x03000103
ENTITY_DEFINITION: Final = 0x03000300
SINGLE_ENTITY_DEFINITION: Final = 0x03000301
COMPACT_COMMENT: Final = 0x03000400
COMPACT_INSTRUCTION: Final = 0x03000401
COMPACT_ASIS: Final = 0x03000600
COMPACT_BIT_STREAM: Final = 0x03000700
LIST: Final = 0x01000500  # an element that holds values, with a blank between each two

# Beside the type of a field or an attribute: how its value is written, by what kind of value it is.
BASE64: Final = 0x00000010
G_YEAR: Final = 0x00000010
G_MONTH: Final = 0x00000020
G_DAY: Final = 0x00000030
G_YEAR_MONTH: Final = 0x00000040
G_MONTH_DAY: Final = 0x00000050
FORM: Final = 0x00000070

COMPACT_NAMES: Final[Mapping[int, str]] = {
    FOLDER: "Folder",
    DOCUMENT_TYPE: "DocumentType",
    XML_DECLARATION: "XmlDeclaration",
    VALUE: "PCDataValue",
    CDATA_VALUE: "CDataValue",
    HYBRID_VALUE: "HybridValue",
    ENTITY_REFERENCE: "EntityReference",
    FIELD: "PCDataField",
    CDATA_FIELD: "CDataField",
    HYBRID_FIELD: "HybridField",
    COMPACT_ATTRIBUTE: "Attribute",
    SINGLE_ATTRIBUTE: "SingleAttribute",
    COMPACT_NAMESPACE: "NamespaceDecl",
    SINGLE_NAMESPACE: "SingleNamespaceDecl",
    ENTITY_DEFINITION: "EntityDefinition",
    SINGLE_ENTITY_DEFINITION: "SingleEntityDefinition",
    COMPACT_COMMENT: "Comment",
    COMPACT_INSTRUCTION: "ProcessingInstruction",
    COMPACT_ASIS: "AsisElementContent",
    COMPACT_BIT_STREAM: "BitStream",
    LIST: "List",
    BASE64: "base64Binary",
}

COMPACT_CONSTANTS: Final[Mapping[str, int]] = {
    "Folder": FOLDER,
    "Field": FIELD,
    "PCDataField": FIELD,
    "CDataField": CDATA_FIELD,
    "Value": VALUE,
    "PCDataValue": VALUE,
    "Element": FOLDER,
    **{name: number for number, name in COMPACT_NAMES.items()},
    "DoubleAttribute": COMPACT_ATTRIBUTE,
    "DoubleNamespaceDecl": COMPACT_NAMESPACE,
    "DoubleEntityDefinition": ENTITY_DEFINITION,
    "AsIsElementContent": COMPACT_ASIS,
    "MixedContent": VALUE,
    "gYear": G_YEAR,
    "gMonth": G_MONTH,
    "gDay": G_DAY,
    "gYearMonth": G_YEAR_MONTH,
    "gMonthDay": G_MONTH_DAY,
    "MixedContentRetainNone": 0,
    "CommentsRetainNone": 0,
    "ProcessingInstructionsRetainNone": 0,
    "MixedContentRetainAll": RETAIN_MIXED,
    "CommentsRetainAll": RETAIN_COMMENTS,
    "ProcessingInstructionsRetainAll": RETAIN_INSTRUCTIONS,
}
_QUOTES: Final = 0xFFFFFF8E  # the last bit says which quotes an attribute was written in, and these how its value was
_HOWEVER: Final = 0xFFFFFF8C  # these bits say how a text was written: plain, as CDATA, as both, in a form of XML Schema
# Field and Value are text however it was written, Element is any element, and quotes do not tell attributes apart.
COMPACT_ACCEPTED: Final[Mapping[str, Types]] = {
    **{name: ((_QUOTES, COMPACT_CONSTANTS[name]),) for name in ("Attribute", "NamespaceDecl", "EntityDefinition")},
    **{name: ((_HOWEVER, COMPACT_CONSTANTS[name]),) for name in ("Field", "Value")},
    "Element": ((0xFFFFFFFF, FOLDER), (_HOWEVER, NAME_VALUE)),
}
COMPACT_BESIDE: Final = frozenset({COMPACT_ATTRIBUTE, SINGLE_ATTRIBUTE, COMPACT_NAMESPACE, SINGLE_NAMESPACE})
_COMPACT_KINDS: Final = {
    LIST: Kind.LIST,
    DOCUMENT_TYPE: Kind.DOCTYPE,
    XML_DECLARATION: Kind.DECLARATION,
    VALUE: Kind.TEXT,
    HYBRID_VALUE: Kind.TEXT,
    CDATA_VALUE: Kind.CDATA,
    ENTITY_REFERENCE: Kind.REFERENCE,
    COMPACT_ATTRIBUTE: Kind.ATTRIBUTE,
    SINGLE_ATTRIBUTE: Kind.ATTRIBUTE,
    COMPACT_NAMESPACE: Kind.NAMESPACE,
    SINGLE_NAMESPACE: Kind.NAMESPACE,
    ENTITY_DEFINITION: Kind.PART,
    SINGLE_ENTITY_DEFINITION: Kind.PART,
    COMPACT_COMMENT: Kind.COMMENT,
    COMPACT_INSTRUCTION: Kind.INSTRUCTION,
    COMPACT_ASIS: Kind.RAW,
    COMPACT_BIT_STREAM: Kind.RAW,
}


def generic_kind(type_: int) -> Kind:
    """Returns what an element type of the XML and XMLNS domains means; what they do not know is an element.

    >>> generic_kind(ATTRIBUTE), generic_kind(0x0300000B)
    (<Kind.ATTRIBUTE: 'attribute'>, <Kind.ELEMENT: 'element'>)
    """
    return _GENERIC_KINDS.get(type_, Kind.ELEMENT)


def compact_kind(type_: int) -> Kind:
    """Returns what an element type of the XMLNSC domain means; what it does not know is an element.

    >>> compact_kind(COMPACT_ATTRIBUTE), compact_kind(FIELD)
    (<Kind.ATTRIBUTE: 'attribute'>, <Kind.ELEMENT: 'element'>)
    """
    return _COMPACT_KINDS.get(type_ & ~FORM, Kind.ELEMENT)


class Retention(NamedTuple):
    """The parts of a document that lxml keeps beside elements, attributes and their text."""

    blanks: bool = True
    comments: bool = True
    instructions: bool = True
    references: bool = True


@dataclass(frozen=True, slots=True)
class Flavour:
    """A domain's view of documents.

    `compact` folds the text of an element into its value; `spaces` keeps names and namespaces apart, where otherwise a
    prefix is part of the name; `mixed` keeps text that stands beside elements.
    """

    compact: bool
    spaces: bool
    keep: Retention
    mixed: bool
    kind: Callable[[int], Kind]
    attribute: int
    namespace: int
    comment: int
    instruction: int
    text: int
    cdata: int


def _generic(*, spaces: bool) -> Flavour:
    return Flavour(
        compact=False,
        spaces=spaces,
        keep=Retention(),
        mixed=True,
        kind=generic_kind,
        attribute=ATTRIBUTE,
        namespace=NAMESPACE_DECL if spaces else ATTRIBUTE,
        comment=COMMENT,
        instruction=INSTRUCTION,
        text=CONTENT,
        cdata=CDATA_SECTION,
    )


def compact_flavour(*, mixed: bool = False, comments: bool = False, instructions: bool = False) -> Flavour:
    """The XMLNSC flavour with what an input node's properties ask to retain."""
    return Flavour(
        compact=True,
        spaces=True,
        keep=Retention(blanks=mixed, comments=comments, instructions=instructions, references=False),
        mixed=mixed,
        kind=compact_kind,
        attribute=COMPACT_ATTRIBUTE,
        namespace=COMPACT_NAMESPACE,
        comment=COMPACT_COMMENT,
        instruction=COMPACT_INSTRUCTION,
        text=VALUE,
        cdata=CDATA_VALUE,
    )


XML: Final = _generic(spaces=False)
XMLNS: Final = _generic(spaces=True)
XMLNSC: Final = compact_flavour()
