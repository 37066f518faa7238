"""XMLNSC with schemas: which documents are valid, what is said of those that are not, and what schemas may read."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from engine.descriptor import Descriptor
from engine.errors import ParserException
from engine.message.assembly import Message
from engine.message.received import Received, RootDomain
from engine.parser import Options, Template
from engine.tree.sharing import read_only
from parsers.markup.xml_schema import Schemas, ValidatedXmlnsc
from tests.nodes.bench import carried
from tests.nodes.esql_nodes import made, sent

XS = 'xmlns="http://www.w3.org/2001/XMLSchema"'
FILES = {
    "x/order.xsd": f"""<schema {XS} xmlns:t="urn:t" targetNamespace="urn:o" elementFormDefault="qualified">
      <import namespace="urn:t" schemaLocation="types/t.xsd"/>
      <element name="order"><complexType><sequence>
        <element name="id" type="int"/><element name="kind" type="t:Kind" maxOccurs="2"/>
      </sequence></complexType></element></schema>""".encode(),
    "x/types/t.xsd": f"""<schema {XS} targetNamespace="urn:t"><simpleType name="Kind"><restriction base="string">
      <enumeration value="A"/><enumeration value="é"/></restriction></simpleType></schema>""".encode(),
    "x/plain.xsd": f'<schema {XS}><element name="n" type="int"/></schema>'.encode(),
}
PARSER = ValidatedXmlnsc(Schemas(FILES))
VALID = '<order xmlns="urn:o"><id>1</id><kind>é</kind></order>'
NO_INT = "line 1: Element '{urn:o}id': 'x' is not a valid value of the atomic type 'xs:int'."

DOCUMENTS: list[tuple[str, int]] = [
    (VALID, 0),
    (f'<?xml version="1.0" encoding="ISO-8859-1"?>\n{VALID}', 0),
    ("<n>1</n>", 0),
    ("<n>x</n>", 1),
    (VALID.replace("<id>1</id>", ""), 1),
    (VALID.replace("1", "x").replace("é", "B"), 4),
    ("<other/>", 1),
    ("<order><id>1</id><kind>A</kind></order>", 1),
]


@pytest.mark.parametrize(("document", "count"), DOCUMENTS)
def test_documents(document: str, count: int) -> None:
    """A document is held against the schema that has its root as a global element."""
    found = list(PARSER.schemas.wrong_with(document))
    assert len(found) == count if count < 2 else len(found) >= 2


def came(document: str, codec: str = "utf-8", ccsid: int = 1208, **options: str) -> Message:
    """A document as it was received, by a deployment that knows the schemas."""
    received = Received(
        Descriptor(coded_char_set_id=ccsid),
        document.encode(codec),
        template=Template("XMLNSC"),
        options=Options(**options),  # type: ignore[arg-type]  # of its literals
    )
    received.domain = RootDomain({"XMLNSC": PARSER})
    return Message(read_only(received.root()))


@pytest.mark.parametrize(("codec", "ccsid"), [("utf-8", 1208), ("latin-1", 819), ("cp500", 500), ("utf-16-be", 1201)])
def test_when_it_is_read(codec: str, ccsid: int) -> None:
    """A body is validated when it is looked at, whatever its CCSID, if the input node asks for that."""
    asked = {"validation": "contentAndValue"}
    valid = came(VALID, codec, ccsid, **asked).root.last_child
    assert valid is not None
    assert [child.name for child in valid] == ["order"]
    wrong = VALID.replace("1", "x")
    assert came(wrong, codec, ccsid).root.last_child is not None
    body = came(wrong, codec, ccsid, **asked).root.last_child
    assert body is not None
    with pytest.raises(ParserException) as failed:
        _ = body.first_child
    assert failed.value.text.startswith(f"XMLNSC: {NO_INT}")


def test_what_becomes_of_it(caplog: pytest.LogCaptureFixture) -> None:
    """All that is wrong may be told to a log, and the body is there all the same."""
    caplog.set_level(logging.INFO, "penstock")
    body = came(VALID.replace("1", "x"), validation="content", action="localErrorLog").root.last_child
    assert body is not None
    assert body.first_child is not None
    assert caplog.records[0].getMessage() == f"BIP5025: {NO_INT}; the message goes on"


COPY = "DECLARE o NAMESPACE 'urn:o'; SET OutputRoot = InputRoot; SET OutputRoot.XMLNSC.o:order.o:id = 'x';"
PROGRAMS: list[tuple[str, dict[str, str], bool]] = [
    (COPY, {}, False),
    (COPY, {"validateMaster": "contentAndValue"}, True),
    (COPY, {"validateMaster": "contentAndValue", "validateFailureAction": "userTrace"}, False),
    ("SET OutputRoot = InputRoot;", {"validateMaster": "contentAndValue"}, False),
    ("SET OutputRoot.BLOB.BLOB = ASBITSTREAM(InputRoot.XMLNSC OPTIONS ValidateContentAndValue CCSID 1208);", {}, False),
    (f"{COPY} SET Environment.B = ASBITSTREAM(OutputRoot.XMLNSC OPTIONS ValidateContent CCSID 1208);", {}, True),
    ("CREATE LASTCHILD OF OutputRoot DOMAIN 'XMLNSC' PARSE(CAST('<n>x</n>' AS BLOB CCSID 1208) "
     "OPTIONS BITOR(ValidateContentAndValue, ValidateComplete) CCSID 1208);", {}, True),
    ("CREATE LASTCHILD OF OutputRoot DOMAIN 'XMLNSC' PARSE(CAST('<n>7</n>' AS BLOB CCSID 1208) "
     "OPTIONS BITOR(ValidateContentAndValue, ValidateImmediate) CCSID 1208);", {}, False),
]  # fmt: skip


@pytest.mark.parametrize(("program", "settings", "fails"), PROGRAMS)
def test_programs(program: str, settings: dict[str, str], fails: bool) -> None:
    """Compute validates what it makes, and ASBITSTREAM and PARSE what their OPTIONS say."""
    node = made("Compute", program, **settings)
    if not fails:
        assert len(sent(node, came(VALID))) == 1
        return
    with pytest.raises(ParserException, match="is not a valid value of the atomic type"):
        sent(node, came(VALID))


def test_the_validate_node() -> None:
    """Validate sends what is not valid to failure."""
    for document, terminal in ((VALID, "match"), (VALID.replace("1", "x"), "failure")):
        properties = {"validateMaster": "contentAndValue"}
        assert carried("Validate", came(document), "match", "failure", properties=properties).terminals == [terminal]


def test_schemas_read_nothing_else(tmp_path: Path) -> None:
    """What a schema names is taken from the deployment's files alone, and what is missing is told."""
    other = tmp_path / "other.xsd"
    other.write_bytes(FILES["x/types/t.xsd"])
    for place in (str(other), "types/gone.xsd", "file:///etc/hostname"):
        schemas = Schemas({"x/order.xsd": FILES["x/order.xsd"].replace(b"types/t.xsd", place.encode())})
        assert schemas.faults
    assert PARSER.schemas.faults == ()


def test_broken_schemas() -> None:
    """A schema that is no XML, or says what cannot be, is told with its place."""
    schemas = Schemas(
        {"a.xsd": b"<schema", "b.xsd": f'<schema {XS}>\n<element name="a" type="nothing"/></schema>'.encode()}
    )
    assert [(fault.file, fault.line) for fault in schemas.faults] == [("a.xsd", 1), ("b.xsd", 2)]


def test_entities() -> None:
    """What a document says itself is expanded; it cannot have files read while it is validated."""
    assert list(PARSER.schemas.wrong_with('<!DOCTYPE n [<!ENTITY e "7">]><n>&e;</n>')) == []
    outside = '<!DOCTYPE n [<!ENTITY e SYSTEM "file:///etc/hostname">]><n>&e;</n>'
    body = came(outside, validation="content").root.last_child
    assert body is not None
    with pytest.raises(ParserException):
        _ = body.first_child
