"""Documents in many character sets: read, changed and written in the same and in another one."""

from __future__ import annotations

import pytest

from engine.errors import ParserException
from engine.tree.step import step
from parsers.charsets.ccsid import codec
from tests.parsers.markup.documents import body, shown, write

CCSIDS = {
    1208: "UTF-8",
    1200: "UTF-16BE",
    1202: "UTF-16LE",
    13488: "UTF-16BE",
    819: "ISO-8859-1",
    912: "ISO-8859-2",
    1252: "windows-1252",
    5348: "windows-1252",
    37: "IBM037",
    500: "IBM500",
    1047: "IBM1047",
    1140: "IBM01140",
    932: "Windows-31J",
}


def encoded(text: str, ccsid: int, encoding: int = 273) -> bytes:
    return codec(ccsid, encoding).encode(text)[0]


@pytest.mark.parametrize("domain", ["XML", "XMLNS", "XMLNSC"])
@pytest.mark.parametrize("target", CCSIDS)
@pytest.mark.parametrize("ccsid", CCSIDS)
def test_a_changed_document_is_written_in_the_ccsid_that_is_asked_for(domain: str, ccsid: int, target: int) -> None:
    """The declaration names the new encoding when the CCSID changes, and is left alone, right or wrong, when not."""
    text = '<?xml version="1.0" encoding="IBM273"?><a b="1">old</a>'
    top = body(domain, encoded(text, ccsid), ccsid, encoding=273)
    root = top.child(step("a"))
    assert root is not None
    root.value = "new"
    expected = text.replace("old", "new")
    if target != ccsid:
        expected = expected.replace("IBM273", CCSIDS[target])
    assert encoded(expected, target) == write(top, target, encoding=273)


@pytest.mark.parametrize("domain", ["XML", "XMLNS", "XMLNSC"])
def test_a_declaration_that_the_flow_has_written_stays(domain: str) -> None:
    """Recoding rewrites what was read, also where the body's parts were moved, but not what a flow has set."""
    data = b"<?xml version='1.0' encoding='x' standalone='yes'?><a/>"
    top = body(domain, data)
    children = list(top)
    top.append(children[1].detach())
    assert write(top, 500) == encoded('<?xml version="1.0" encoding="IBM500" standalone="yes"?><a/>', 500)
    list(children[0])[1].value = "mine"
    assert write(top, 500) == encoded('<?xml version="1.0" encoding="mine" standalone="yes"?><a/>', 500)


@pytest.mark.parametrize("domain", ["XML", "XMLNS", "XMLNSC"])
def test_characters_that_the_target_lacks_become_references(domain: str) -> None:
    """Text, attributes and CDATA sections are written with references; what reads them finds the same characters."""
    data = (
        "<a b='Ж€'>Ж\U0001f600<c><![CDATA[<Ж>]]></c>.</a>"
        if domain != "XMLNSC"
        else "<a b='Ж€'><c><![CDATA[<Ж>]]></c></a>"
    )
    for target in (819, 912, 1252, 37, 500, 1047, 1140):
        out = write(body(domain, data.encode()), target)
        again = codec(target).decode(out)[0]
        assert "&#1046;" in again
        assert [line.replace("CDataSection", "Content").strip() for line in shown(body(domain, data.encode()))][:2] == [
            line.strip() for line in shown(body(domain, out, target))
        ][:2]
        if domain == "XMLNSC":
            c = body(domain, out, target).at("a", "c")
            assert c is not None
            assert c.value == "<Ж>"


@pytest.mark.parametrize(
    "text", ["<Ж/>", "<a Ж='1'/>", "<a><!--Ж--></a>", "<a><?go Ж?></a>", "<!DOCTYPE a [<!ENTITY Ж 'x'>]><a/>"]
)
def test_names_and_comments_that_the_target_lacks_are_refused(text: str) -> None:
    """Where XML takes no reference, the error says which character and what to do."""
    with pytest.raises(ParserException, match=r"BIP5010.*CCSID 819 lacks the character U\+0416.*CCSID 1208"):
        write(body("XMLNS", text.encode()), 819)


@pytest.mark.parametrize("domain", ["XML", "XMLNS", "XMLNSC"])
@pytest.mark.parametrize(
    ("data", "ccsid"),
    [
        ("\ufeff<?xml version='1.0' encoding='UTF-8'?><a>é</a>".encode(), 1208),
        ("\ufeff<a>é</a>".encode(), 1208),
        ("\ufeff<a>é</a>".encode("utf-16-be"), 1200),
        ("\ufeff<a>é</a>".encode("utf-16-le"), 1202),
        ("\ufeff<a>é</a>".encode("utf-16-le"), 1200),
        ("\ufeff<a>é</a>".encode("utf-16-be"), 1202),
    ],
)
def test_a_byte_order_mark_is_no_part_of_the_document(domain: str, data: bytes, ccsid: int) -> None:
    """A mark does not show; it decides the order of bytes, stays in the same CCSID and goes in another."""
    top = body(domain, data, ccsid, encoding=273)
    root = top.child(step("a"))
    assert root is not None
    assert root.value == "é"
    root.value = "ü"
    same = codec(ccsid, 273).decode(write(top, ccsid, encoding=273))[0]
    assert same.startswith("\ufeff")
    assert same.endswith("<a>ü</a>")
    assert codec(819).decode(write(top, 819))[0].endswith("<a>ü</a>")
    assert "\ufeff" not in codec(819).decode(write(top, 819))[0]
    assert "\ufeff" not in codec(37).decode(write(top, 37))[0]


@pytest.mark.parametrize("domain", ["XML", "XMLNS", "XMLNSC"])
@pytest.mark.parametrize(("ccsid", "name"), [(1204, "utf-16"), (1236, "utf-32")])
def test_a_ccsid_that_asks_for_a_mark_gets_one(domain: str, ccsid: int, name: str) -> None:
    """The mark that came and the one that is written are the same one."""
    top = body(domain, "<a><b>é</b></a>".encode(name), ccsid)
    found = top.at("a", "b")
    assert found is not None
    found.value = "ü"
    assert write(top, ccsid) == "<a><b>ü</b></a>".encode(name)


def test_a_prolog_is_read_in_its_own_encoding() -> None:
    """Comments before the root have their characters in ISO 8859-1 too."""
    data = "<?xml version='1.0'?><!--é--><a/>".encode("latin-1")
    top = body("XML", data, 819)
    assert shown(top)[2] == "Comment  = 'é'"
    assert write(top, 1208) == "<?xml version='1.0'?><!--é--><a/>".encode()


def test_next_line_ends_lines_of_ebcdic_documents() -> None:
    """Where a document in EBCDIC is well-formed only if NEL is a line end, it is one."""
    data = b"<?xml version='1.0'?>\n<a b='1'\n><c/></a>".decode().encode("cp037").replace(b"\x25", b"\x15")
    top = body("XMLNSC", data, 37)
    assert shown(top)[2:] == ["Folder a", "  Attribute b = '1'", "  PCDataField c = ''"]
