"""Hostile and broken bodies: a ParserException that says where, or the right tree; never anything else."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.errors import ParserException
from engine.tree.element import Element
from engine.tree.step import step
from parsers.charsets.ccsid import codec
from tests.parsers.markup.documents import body, shown, write

DOMAINS = ["XML", "XMLNS", "XMLNSC"]
SECONDS = 2.0


def look(domain: str, data: bytes, ccsid: int = 1208) -> list[str] | ParserException:
    """The whole tree, or the error that it gave; nothing may take long or leave files open."""
    files, start = len(os.listdir("/proc/self/fd")), time.process_time()
    answer: list[str] | ParserException
    try:
        answer = shown(body(domain, data, ccsid))
    except ParserException as error:
        answer = error
    assert time.process_time() - start < SECONDS
    assert len(os.listdir("/proc/self/fd")) == files
    return answer


def assert_placed(error: list[str] | ParserException, size: int) -> None:
    """A parsing error is a 5009 caused by a 5004 that says offset, line and column."""
    assert isinstance(error, ParserException)
    cause = error.__cause__
    assert isinstance(cause, ParserException)
    assert (error.number, cause.number) == (5009, 5004)
    offset = int(cause.text.split("at offset ")[1].split(" ")[0])
    line, column = (int(insert.text) for insert in cause.inserts[2:4])
    assert 0 <= offset <= size
    assert line >= 1
    assert column >= 1
    assert f"(line {line}, column {column})" in cause.text


@pytest.mark.parametrize("domain", DOMAINS)
def test_nothing_outside_a_document_is_ever_opened(domain: str, tmp_path: Path) -> None:
    """External entities, parameter entities and DTDs are not read, from files or from the network."""
    secret = tmp_path / "secret.dtd"
    secret.write_text("<!ENTITY leaked 'SECRET'><!ATTLIST a leaked CDATA 'SECRET'>")
    broken = tmp_path / "broken.dtd"
    broken.write_text("<!ELEMENT")
    for text in (
        f"<!DOCTYPE a SYSTEM '{broken}'><a/>",
        f"<!DOCTYPE a SYSTEM '{broken}' [<!ATTLIST a b CDATA '1'>]><a/>",
    ):
        assert isinstance(look(domain, text.encode()), list)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        port = server.getsockname()[1]
        for place in (secret.as_uri(), str(secret), f"http://127.0.0.1:{port}/x", f"ftp://127.0.0.1:{port}/x"):
            for text in (
                f'<!DOCTYPE a [<!ENTITY x SYSTEM "{place}">]><a>&x;</a>',
                f'<!DOCTYPE a [<!ENTITY x PUBLIC "p" "{place}">]><a>&x;</a>',
                f'<!DOCTYPE a [<!ENTITY % x SYSTEM "{place}"> %x;]><a>&leaked;</a>',
                f'<!DOCTYPE a SYSTEM "{place}"><a>&leaked;</a>',
                f'<!DOCTYPE a SYSTEM "{place}" [<!ATTLIST a b CDATA "1">]><a/>',
                f'<!DOCTYPE a PUBLIC "p" "{place}" [<!ATTLIST a b CDATA "1">]><a y="1"/>',
                f'<a xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="{place}" parse="text"/></a>',
                f'<?xml-stylesheet href="{place}" type="text/xsl"?><a/>',
            ):
                answer = look(domain, text.encode())
                assert "SECRET" not in str(answer)
        with pytest.raises(BlockingIOError):
            server.accept()


def bomb(levels: int, width: int) -> str:
    """A document whose entities expand to width ** levels characters."""
    entities = [f'<!ENTITY e{n} "{f"&e{n - 1};" * width}">' for n in range(1, levels)]
    return f'<!DOCTYPE a [<!ENTITY e0 "{"x" * width}">{"".join(entities)}]>'


LONG = "x" * 90_000
DEFAULT = f'<!DOCTYPE a [<!ATTLIST b c CDATA "{LONG}">]>'
ENTITY_DEFAULT = f'<!DOCTYPE a [<!ENTITY e "{LONG}"><!ATTLIST b c CDATA "&e;">]>'
BOMBS = {
    "billion laughs": f"{bomb(10, 10)}<a>&e9;</a>",
    "billion laughs in an attribute": f'{bomb(10, 10)}<a b="&e9;"/>',
    "quadratic": f'<!DOCTYPE a [<!ENTITY e "{"x" * 100_000}">]><a>{"&e;" * 20_000}</a>',
    "quadratic in an attribute": f'<!DOCTYPE a [<!ENTITY e "{"x" * 100_000}">]><a b="{"&e;" * 20_000}"/>',
    "quadratic in a default": f"{DEFAULT}<a>{'<b/>' * 9_000}</a>",
    "quadratic by an entity in a default": f"{ENTITY_DEFAULT}<a>{'<b/>' * 9_000}</a>",
    "an entity in itself": '<!DOCTYPE a [<!ENTITY e "&e;">]><a>&e;</a>',
    "entities in each other": '<!DOCTYPE a [<!ENTITY e "&f;"><!ENTITY f "&e;">]><a b="&e;">&f;</a>',
    "a chain of entities": f"{bomb(3_000, 1)}<a>&e2999;</a>",
    "parameter entities": '<!DOCTYPE a [<!ENTITY % p "&#37;p;"> %p; ]><a/>',
}


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("name", BOMBS)
def test_entities_do_not_explode(domain: str, name: str) -> None:
    """A document whose entities grow without end is refused, or shown without a copy for each reference."""
    answer = look(domain, BOMBS[name].encode())
    assert isinstance(answer, ParserException)
    assert answer.number == 5009


PARAMETER = "<!ENTITY % p \"<!ENTITY e 'v'>\"> <!ENTITY % q SYSTEM 'nix'> %p; %q;"


def test_parameter_entities_are_no_hindrance() -> None:
    """XMLNSC reads a document whose DTD uses them, unless it must know what such a one declares."""
    assert look("XMLNSC", f"<!DOCTYPE a [{PARAMETER}]><a><b>x</b></a>".encode()) == [
        "Folder a",
        "  PCDataField b = 'x'",
    ]
    text = f"<!DOCTYPE a [{PARAMETER}]><a><b>&e;</b></a>"
    assert_placed(look("XMLNSC", text.encode()), len(text))


def nested(depth: int, before: str = "") -> bytes:
    return f"{before}{'<a>' * depth}x{'</a>' * depth}".encode()


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("depth", [255, 256, 257, 400, 512])
def test_documents_are_read_to_the_limit_of_depth(domain: str, depth: int) -> None:
    """512 levels are read, found and written, also with a change at the bottom and by a renderer of the whole."""
    top = body(domain, nested(depth))
    at = top
    for _ in range(depth):
        found = at.child(step("a"))
        assert found is not None
        at = found
    assert at.value == "x"
    at.value = "y"
    assert write(top) == nested(depth).replace(b"x", b"y")
    at = top
    for _ in range(depth):
        at = next(iter(at))
        at.change(name="b")
    assert write(top) == nested(depth).replace(b"a>", b"b>").replace(b"x", b"y")


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("before", ["", '<?xml version="1.0"?>\n', "<!DOCTYPE a>"])
@pytest.mark.parametrize("depth", [513, 2_047, 2_049, 100_000])
def test_documents_that_are_too_deep_are_refused(domain: str, before: str, depth: int) -> None:
    """513 levels are an error that says so."""
    answer = look(domain, nested(depth, before))
    assert_placed(answer, len(nested(depth, before)))
    assert "deep" in str(answer)


HUGE: dict[str, Callable[[], bytes]] = {
    "an attribute of 10 MB": lambda: b'<a b="' + b"x" * 10_000_000 + b'"/>',
    "an attribute of 9 MB": lambda: b'<a b="' + b"x" * 9_000_000 + b'"/>',
    "text of 10 MB": lambda: b"<a>" + b"x" * 10_000_001 + b"</a>",
    "blanks of 10 MB": lambda: b"<a>" + b" " * 10_000_001 + b"</a>",
    "a name of 1 MB": lambda: b"<" + b"x" * 1_000_000 + b"/>",
    "a comment of 10 MB": lambda: b"<a><!--" + b"x" * 10_000_001 + b"--></a>",
    "100,000 attributes": lambda: b"<a" + b"".join(b' b%d="1"' % n for n in range(100_000)) + b"/>",
    "20,000 namespaces": lambda: b"<a" + b"".join(b' xmlns:b%d="u"' % n for n in range(20_000)) + b"/>",
    "100,000 comments": lambda: b"<a>" + b"<!--x-->" * 100_000 + b"</a>",
    "20,000 CDATA sections": lambda: b"<a>" + b"<b><![CDATA[x]]></b>" * 20_000 + b"</a>",
    "50,000 texts among elements": lambda: b"<a>" + b"x<b/>" * 50_000 + b"</a>",
    "quotes in a document type": lambda: b"<!DOCTYPE a [" + b"<!--'-->" * 20_000 + b"<!ENTITY e '\"'>]><a/>",
}


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("name", HUGE)
def test_huge_parts_are_read_or_refused(domain: str, name: str) -> None:
    """What is large is read whole or refused with its place, and can be changed and written in linear time."""
    data = HUGE[name]()
    answer = look(domain, data)
    if isinstance(answer, ParserException):
        assert_placed(answer, len(data))
        return
    top, start = body(domain, data), time.process_time()
    root = next(e for e in top if e.owner.type_names[e.type] in {"Element", "Folder", "PCDataField"})
    root.ensure(step("new")).value = "1"
    assert b"<new>1</new>" in write(top)
    assert time.process_time() - start < SECONDS


SAMPLE = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE p:a [<!ENTITY e "x"><!ATTLIST p:a d CDATA "1">]>
<!--é--><?go on?><p:a xmlns:p="urn:p" b="&lt;">t&e;<c><![CDATA[<]]>]</c><d/>&#65;€</p:a>
"""


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("ccsid", [1208, 1200, 37])
def test_a_truncated_document_is_refused_wherever_it_ends(domain: str, ccsid: int) -> None:
    """Each beginning of a document is an error with its place, or a body without a document."""
    sample = SAMPLE if ccsid != 37 else SAMPLE.replace("€", "")
    data = codec(ccsid, 546).encode(sample)[0]
    end = len(codec(ccsid, 546).encode(sample.rstrip())[0])
    assert isinstance(look(domain, data[:end], ccsid), list)
    for at in range(1, end):
        assert_placed(look(domain, data[:at], ccsid), at)


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize(
    ("data", "ccsid"),
    [
        (b"<a>\xff</a>", 1208),
        (b"<a>\xed\xa0\x80</a>", 1208),
        (b"<a>\xc0\xbc</a>", 1208),
        ("<a>é</a>".encode("latin-1"), 1208),
        ("<a>é</a>".encode("cp500"), 1208),
        ("<a>é</a>".encode("utf-16-le"), 1208),
        (b"<a>\x81</a>", 1252),
        (b"<a/>", 1200),
        (b"<a/> ", 1200),
        (b"\x00\xd8<\x00a\x00/\x00>\x00", 1202),
        (b"<a/>", 37),
        (b"<a/>", 99999),
        (b"<a/>", 65535),
        (b"<a>\0</a>", 1208),
        (b"<a/>\0", 1208),
        (b"\0<a/>", 1208),
        (b"<a b='\0'/>", 819),
        (b"<a>\x01</a>", 819),
        (b"<a>\xef\xbf\xbf</a>", 1208),
        (b"<a></b>", 1208),
        (b"<a/><b/>", 1208),
        (b"<a b='1' b='2'/>", 1208),
        (b"<a><b p:c='1' p:c='2'/></a>", 1208),
        (b"text", 1208),
        (b"<a>&undeclared;</a>", 1208),
        (b"<a b='<'/>", 1208),
        (b"<a>]]></a>", 1208),
        (b"<a><!-- -- --></a>", 1208),
        (b"<?xml version='1.0'?", 1208),
        (b"<a>&#0;</a>", 1208),
        (b"<a>&#x110000;</a>", 1208),
        (b" <?xml version='1.0'?><a/>", 1208),
    ],
)
def test_what_is_no_document_is_refused(domain: str, data: bytes, ccsid: int) -> None:
    """Bytes that are no XML of their CCSID are an error with its place."""
    assert_placed(look(domain, data, ccsid), len(data))


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("data", [b"", b" ", b"\r\n\t ", b" " * 7, b" " * 8, b" " * 1000, b"\0" * 20])
def test_a_blank_body_has_no_document(domain: str, data: bytes) -> None:
    """A body of nothing but blanks is an empty tree, whatever its length."""
    top = body(domain, data)
    assert top.first_child is None
    assert top.value is None


def test_the_offset_counts_in_the_message_as_it_came() -> None:
    """The place of an error counts bytes of the message, after its headers and in its own encoding."""
    text = "<ä><b></ä>"
    with pytest.raises(ParserException, match="at offset") as caught:
        shown(body("XMLNSC", text.encode("utf-16-le"), 1202, start=100))
    offset = int(str(caught.value).split("at offset ")[1].split(" ")[0])
    assert 100 + 2 * text.index("</") <= offset <= 100 + 2 * len(text)


def test_undeclared_prefixes_are_part_of_names_in_the_xml_domain() -> None:
    """The XML domain takes prefixes that nothing declares; the domains that know namespaces refuse them."""
    data = b'<p:a q:b="1"><p:c>x</p:c></p:a>'
    top = body("XML", data)
    assert shown(top) == ["Element p:a", "  Attribute q:b = '1'", "  Element p:c = 'x'", "    Content  = 'x'"]
    at: Element | None = body("XML", data).at("p:a", "p:c")
    assert at is not None
    assert at.value == "x"
    assert write(top) == data
    for domain in ("XMLNS", "XMLNSC"):
        assert_placed(look(domain, data), len(data))
    assert_placed(look("XML", b"<p:a><b></p:a>"), 14)


@given(st.binary(max_size=60), st.sampled_from([1208, 819, 1200, 37, 932]), st.sampled_from(DOMAINS))
@example(b"<a>\xef\xbb\xbf</a>", 1208, "XMLNSC")
def test_any_bytes_give_a_tree_or_an_error(data: bytes, ccsid: int, domain: str) -> None:
    """Bytes without meaning give a ParserException or an empty tree."""
    answer = look(domain, data, ccsid)
    if isinstance(answer, ParserException):
        assert_placed(answer, len(data))


@given(st.data(), st.sampled_from(DOMAINS))
def test_a_distorted_document_gives_a_tree_or_an_error(data: st.DataObject, domain: str) -> None:
    """A document in which bytes were changed, put in or left out gives a ParserException or a tree that is written."""
    bytes_ = bytearray(SAMPLE.encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(bytes_) - 1))
        bytes_[at : at + data.draw(st.integers(0, 3))] = data.draw(
            st.sampled_from([b"", b"<", b"&", b">", b"'", b"\xff", b"]]>", b"-", b"%p;", b"["])
        )
    answer = look(domain, bytes(bytes_))
    if isinstance(answer, ParserException):
        assert_placed(answer, len(bytes_))
    else:
        write(body(domain, bytes(bytes_)))
