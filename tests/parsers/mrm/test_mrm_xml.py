"""MRM XML: documents whose elements and attributes a model renames, types and orders."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from itertools import product
from typing import Any

import pytest

from engine.errors import ConfigurationException, ParserException
from engine.parser import Form
from engine.tree.element import Element
from engine.tree.sharing import copy, copy_into
from engine.tree.source import NAME
from engine.tree.step import step
from parsers.mrm.model import Definition, Field, Group, Message, MessageSet, SimpleType, WireFormatUse
from parsers.mrm.xml import ModelledDocument
from parsers.mrm.xml.source import Document, Place
from parsers.mrm.xml.values import XmlField, XmlFormat, XmlMessage
from tests.parsers.mrm.texts import built, part_of, plain

UTF_8 = 1208


def simple(name: str, kind: str = "string", **said: Any) -> Field:
    own = {key: said.pop(key) for key in ("min_occurs", "max_occurs", "nullable", "namespace") if key in said}
    return Field(name, SimpleType(kind), physical={"Doc": XmlField(**said)}, **own)  # type: ignore[arg-type]


def codec(group: Group, message: XmlMessage | None = None, **settings: Any) -> ModelledDocument:
    settings.setdefault("suppress_xml_declaration", True)
    physical = {} if message is None else {"Doc": message}
    formats = {"Doc": WireFormatUse("Doc", "XML", XmlFormat(**settings))}
    messages = {"Order": Message("Order", group, physical=physical)}
    return ModelledDocument(Definition(MessageSet("SET", formats=formats, messages=messages), messages["Order"], "Doc"))


def read(own: ModelledDocument, text: str) -> Element:
    data = text.encode()
    return Element("MRM", "", NAME, part_of(own, data))


def write(own: ModelledDocument, element: Element, ccsid: int = UTF_8) -> bytes:
    return own.write(element, Form(273, ccsid))


LINE = Group((simple("sku"), simple("qty", "integer")))
ORDER = Group(
    (
        simple("id", "integer", render="XMLAttribute"),
        simple("status", xml_name="Status"),
        simple("total", "decimal", render="XMLElementAttrVal", value_attribute_name="v"),
        simple("home", render="XMLElementAttrID", xml_name="Address", id_attribute_value="home"),
        simple("work", render="XMLElementAttrIDVal", xml_name="Address", id_attribute_value="work"),
        simple("when", "dateTime"),
        Field("line", LINE, max_occurs=-1, min_occurs=0),
    )
)
TEXT = (
    '<Order id="7"><Status>NEW</Status><total v="12.50"/><Address id="home">A</Address><Address id="work" val="B"/>'
    "<when>2004-10-07T11:16:56</when><line><sku>x</sku><qty>2</qty></line><line><sku>y</sku><qty>3</qty></line></Order>"
)
TREE: list[Any] = [
    ("id", 7),
    ("status", "NEW"),
    ("total", Decimal("12.50")),
    ("home", "A"),
    ("work", "B"),
    ("when", datetime(2004, 10, 7, 11, 16, 56)),
    ("line", [("sku", "x"), ("qty", 2)]),
    ("line", [("sku", "y"), ("qty", 3)]),
]


def test_every_rendering() -> None:
    """Elements, attributes, and elements told by an attribute are read as the fields of the model, and written so."""
    own = codec(ORDER)
    assert plain(read(own, TEXT)) == TREE
    assert write(own, built(TREE)).decode() == TEXT


def test_a_change_leaves_the_rest_as_it_was_read() -> None:
    """One field changes; elements that did not keep their own form."""
    own = codec(ORDER)
    changed = copy(
        read(own, TEXT.replace("<sku>x</sku>", "<sku >&#120;<!-- no --></sku>").replace(">NEW<", "><![CDATA[NEW]]><"))
    )
    line = changed.at("line", "qty")
    assert line is not None
    line.value = 5
    assert write(own, changed).decode() == TEXT.replace(">NEW<", "><![CDATA[NEW]]><").replace("<qty>2<", "<qty>5<")


def test_what_the_model_does_not_know() -> None:
    """Elements without a model define themselves, and are written behind the others."""
    own = codec(Group((simple("a"),)))
    tree = read(own, "<Order><extra><b>1</b></extra><a>x</a></Order>")
    assert plain(tree) == [("extra", [("b", "1")]), ("a", "x")]
    tree = copy(tree)
    found = tree.at("a")
    assert found is not None
    found.value = "y"
    assert write(own, tree) == b"<Order><a>y</a><extra><b>1</b></extra></Order>"


def test_the_own_form_of_what_the_model_does_not_know() -> None:
    """What has no model is written as it was read, attributes, text and all; an attribute that changes stays one."""
    own = codec(Group((simple("a"),)))
    tree = copy(read(own, '<Order z="1"><e q="2">t</e><f>u<g/>v</f><a>x</a></Order>'))
    assert plain(tree)[:1] == [("z", "1")]
    unknown, attribute, field = (tree.at(*path) for path in (["e"], ["e", "q"], ["a"]))
    assert unknown is not None
    assert attribute is not None
    assert field is not None
    assert (unknown.value, attribute.value) == ("t", "2")
    field.value = "y"
    assert write(own, tree) == b'<Order z="1"><a>y</a><e q="2">t</e><f>u<g/>v</f></Order>'
    attribute.value = "3"
    assert write(own, tree) == b'<Order z="1"><a>y</a><e q="3">t</e><f>u<g/>v</f></Order>'


def test_what_the_model_does_not_know_under_another_name() -> None:
    """What has no model is called as it is in the tree, wherever it was copied from."""
    own = codec(Group((simple("a"),)))
    given = read(own, "<Order><e>t</e><a>x</a></Order>")
    unknown = given.at("e")
    assert unknown is not None
    tree = built([("a", "y"), ("other", "")])
    other = tree.at("other")
    assert other is not None
    copy_into(other, unknown)
    assert write(own, tree) == b"<Order><a>y</a><other>t</other></Order>"


SPELLED: list[tuple[str, dict[str, Any], str, Any]] = [
    ("boolean", {}, "true", True),
    ("integer", {}, "-5", -5),
    ("float", {}, "1.5", 1.5),
    ("float", {}, "INF", float("inf")),
    ("date", {}, "2004-10-07", date(2004, 10, 7)),
    ("date", {"date_time_format": "dd/MM/yyyy"}, "07/10/2004", date(2004, 10, 7)),
    ("gYearMonth", {}, "2004-10", date(2004, 10, 1)),
    ("binary", {}, "00FF", b"\x00\xff"),
    ("binary", {"encoding": "base64"}, "AP8=", b"\x00\xff"),
    ("string", {}, " a &lt; b ", " a < b "),
]


@pytest.mark.parametrize(("kind", "said", "text", "value"), SPELLED)
def test_spelling(kind: str, said: dict[str, Any], text: str, value: Any) -> None:
    """A value is read from its text and written as it."""
    own = codec(Group((simple("x", kind, **said),)))
    document = f"<Order><x>{text}</x></Order>"
    assert plain(read(own, document)) == [("x", value)]
    assert write(own, built([("x", value)])).decode() == document


NULLS = [
    ({"encoding_non_numeric_null": "nullEmpty"}, "<x/>"),
    ({"encoding_non_numeric_null": "nullValue", "encoding_non_numeric_null_value": "nil"}, "<x>nil</x>"),
    (
        {"encoding_non_numeric_null": "nullXMLSchema"},
        '<x xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:nil="true"/>',
    ),
    ({"encoding_non_numeric_null": "nullAttribute", "encoding_non_numeric_null_value": "n=y"}, '<x n="y"/>'),
    ({"encoding_non_numeric_null": "nullElement", "encoding_non_numeric_null_value": "none"}, "<x><none/></x>"),
]


@pytest.mark.parametrize(("settings", "element"), NULLS)
def test_null(settings: dict[str, Any], element: str) -> None:
    """Each representation of NULL is read as NULL, and written for it."""
    own = codec(Group((simple("x", nullable=True),)), **settings)
    document = f"<Order>{element}</Order>"
    assert plain(read(own, document)) == [("x", None)]
    assert write(own, built([("x", None)])).decode() == document


@pytest.mark.parametrize("true", ["true", "1"])
def test_an_attribute_that_says_null(true: str) -> None:
    """An attribute that is named says NULL by being TRUE; where it is not, the value counts."""
    settings = {"encoding_non_numeric_null": "nullAttribute", "encoding_non_numeric_null_value": "null"}
    own = codec(Group((simple("x", nullable=True),)), **settings)
    assert plain(read(own, f'<Order><x null="{true}">v</x></Order>')) == [("x", None)]
    assert plain(read(own, '<Order><x null="false">v</x></Order>')) == [("x", "v")]
    assert write(own, built([("x", None)])) == b'<Order><x null="true"/></Order>'


def test_null_of_a_value_attribute() -> None:
    """Where NULL is a value attribute that is not there, an empty one is an empty text."""
    own = codec(
        Group((simple("x", render="XMLElementAttrVal", nullable=True),)), encoding_non_numeric_null="nullValueAttribute"
    )
    for document, value in (("<Order><x/></Order>", None), ('<Order><x val=""/></Order>', "")):
        assert plain(read(own, document)) == [("x", value)]
        assert write(own, built([("x", value)])).decode() == document


NULL_ATTRIBUTES = [
    ({"encoding_non_numeric_null": "nullEmpty"}, "", None),
    ({"encoding_non_numeric_null": "nullValue", "encoding_non_numeric_null_value": "nil"}, "nil", None),
    ({"encoding_non_numeric_null": "nullElement", "encoding_non_numeric_null_value": "s"}, "", ""),
    ({"encoding_non_numeric_null": "nullXMLSchema"}, "", ""),
]


@pytest.mark.parametrize(("settings", "text", "again"), NULL_ATTRIBUTES)
def test_null_of_an_attribute(settings: dict[str, Any], text: str, again: str | None) -> None:
    """NULL is a text in an attribute, an empty one where the format has none for it."""
    own = codec(Group((simple("x", render="XMLAttribute", nullable=True), simple("s"))), **settings)
    document = f'<Order x="{text}"><s>t</s></Order>'
    assert write(own, built([("x", None), ("s", "t")])).decode() == document
    assert plain(read(own, document)) == [("x", again), ("s", "t")]


@pytest.mark.parametrize("value", ["", "no name"])
@pytest.mark.parametrize("how", ["nullAttribute", "nullElement"])
def test_null_without_a_name(how: str, value: str) -> None:
    """A representation of NULL that needs a name is refused without one."""
    settings = {"encoding_numeric_null": how, "encoding_numeric_null_value": value}
    with pytest.raises(ConfigurationException, match=f"{how} needs the name"):
        codec(Group((simple("x"),)), **settings)


def test_what_stands_around_a_message() -> None:
    """A root, a DOCTYPE and a declaration stand around the message's own element."""
    own = codec(
        Group((simple("a"),)), XmlMessage(xml_name="Msg"), root_tag_name="MRM", suppress_doctype=False,
        doctype_system_id="mrm.dtd", suppress_xml_declaration=False, standalone_document="no",
    )  # fmt: skip
    text = (
        '<?xml version="1.0" encoding="UTF-8" standalone="no"?><!DOCTYPE MRM SYSTEM "mrm.dtd">'
        "<MRM><Msg><a>x</a></Msg></MRM>"
    )
    assert write(own, built([("a", "x")])).decode() == text
    assert plain(read(own, text)) == [("a", "x")]


def test_namespaces() -> None:
    """Namespaces of fields are those of their elements, declared at the start or where they are needed."""
    group = Group((simple("a", namespace="urn:a"),))
    text = b'<Order xmlns:ns1="urn:a"><ns1:a>x</ns1:a></Order>'
    tree = Element("MRM")
    tree.add("a", "x", namespace="urn:a")
    assert write(codec(group), tree) == text
    required = write(codec(group, output_namespace_declaration="asRequired"), tree)
    assert required == b'<Order><ns0:a xmlns:ns0="urn:a">x</ns0:a></Order>'
    found = next(iter(read(codec(group), text.decode())))
    assert (found.name, found.namespace, found.value) == ("a", "urn:a", "x")


def test_characters_that_the_ccsid_lacks() -> None:
    """What the CCSID lacks is written as a reference; EBCDIC is read as anything else."""
    own = codec(Group((simple("a"),)))
    assert write(own, built([("a", "€")]), 819) == b"<Order><a>&#8364;</a></Order>"
    assert write(own, built([("a", "é")]), 500) == "<Order><a>é</a></Order>".encode("cp500")


REFUSED = [
    ("<Other/>", "Other stands where the message Order must"),
    ("", "is empty"),
    ("<Order><n>x</n></Order>", "n: 'x' cannot be read: it is no integer"),
    ("<Order><n>1</Order>", "XML parsing errors have occurred"),
]


@pytest.mark.parametrize(("text", "why"), REFUSED)
def test_refused_documents(text: str, why: str) -> None:
    """A document that is not as its model says is refused, with the reason."""
    own = codec(Group((simple("n", "integer"),)))
    with pytest.raises(ParserException) as raised:
        plain(read(own, text))
    assert why in str(raised.value)


def test_refused_trees() -> None:
    """A tree that its model cannot write is refused."""
    own = codec(Group((simple("n", "integer", render="XMLAttribute"), simple("s"))))
    for tree, why in (
        ([("n", "x")], "n: 'x' cannot be written"),
        ([("n", 1), ("n", 2)], "stands there only once"),
        ([("s", None)], "s may not be NULL"),
        ([("s", "\x01")], "characters that XML cannot"),
    ):
        with pytest.raises(ParserException) as raised:
            write(own, built(tree))
        assert why in str(raised.value)


def test_a_model_that_cannot_be() -> None:
    """A field with fields of its own is no attribute."""
    field = replace(simple("a", render="XMLAttribute"), type=LINE)
    with pytest.raises(ConfigurationException, match="cannot be rendered XMLAttribute"):
        codec(Group((field,)))


def test_fields_by_name_are_found_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many fields are asked for by name, their element is gone through twice at most; repeats keep order."""
    passes = []
    children = Document.children

    def counted(document: Document, place: Place) -> Iterator[Place]:
        passes.append(place)
        return children(document, place)

    monkeypatch.setattr(Document, "children", counted)
    names = [f"field{number:02d}" for number in range(40)]
    text = "".join(f"<{name}>{name}</{name}><more>{name}</more>" for name in names)
    order = read(codec(Group(tuple(simple(name) for name in names))), f"<Order>{text}</Order>")
    for name in names:
        found = order.child(step(name))
        assert found is not None
        assert name == found.value
    assert names == [found.value for found in order.every(step("more"))]
    assert order.child(step("other")) is None
    assert 2 == len(passes)


@pytest.mark.parametrize(
    ("kind", "text"),
    [*product(("integer", "decimal", "double"), ("1_000", "\u0661\u0662", "inf")), ("double", "1e9999")],
)
def test_texts_that_only_python_takes_for_numbers(kind: str, text: str) -> None:
    """A text is written into a number's field where XML Schema has it for a number."""
    with pytest.raises(ParserException, match=f"takes values of {kind}"):
        write(codec(Group((simple("a", kind),))), built([("a", text)]))


ENVELOPE = Group(
    (
        simple("soap", xml_name="xmlns:S", render="XMLAttribute", min_occurs=0),
        simple("instance", xml_name="xmlns:xsi", render="XMLAttribute", min_occurs=0),
        simple("place", xml_name="xsi:schemaLocation", render="XMLAttribute", min_occurs=0),
        Field("body", Group((simple("n", "integer", xml_name="S:n"),)), physical={"Doc": XmlField(xml_name="S:Body")}),
    )
)
XSI_URI = "http://www.w3.org/2001/XMLSchema-instance"


def test_names_with_prefixes() -> None:
    """A model without namespaces has prefixes in its names, and declares them by attributes of its own."""
    own = codec(ENVELOPE, XmlMessage(xml_name="S:Envelope"))
    start = f'<S:Envelope xmlns:S="u" xmlns:xsi="{XSI_URI}" xsi:schemaLocation="a b">'
    text = start + "<S:Body><S:n>5</S:n></S:Body></S:Envelope>"
    tree = [("soap", "u"), ("instance", XSI_URI), ("place", "a b"), ("body", [("n", 5)])]
    assert tree == plain(read(own, text))
    assert text.encode() == write(own, built(tree))
    changed = copy(read(own, text))
    number = changed.at("body", "n")
    assert number is not None
    number.value = 6
    assert text.replace("5", "6").encode() == write(own, changed)


@pytest.mark.parametrize("text", ['<Envelope xmlns="u"/>', '<T:Envelope xmlns:T="u"/>', "<Envelope/>"])
def test_other_prefixes(text: str) -> None:
    """Where a name has a prefix, that prefix is meant, and not the namespace that it stands for."""
    with pytest.raises(ParserException, match="stands where the message Order must, as S:Envelope"):
        plain(read(codec(ENVELOPE, XmlMessage(xml_name="S:Envelope")), text))


@pytest.mark.parametrize("name", [":a", "a:", "a:b:c"])
def test_prefixes_that_are_none(name: str) -> None:
    """A name has one prefix, and something behind it."""
    with pytest.raises(ConfigurationException, match="cannot be a name in XML"):
        write(codec(Group((simple("f", xml_name=name),))), built([]))
