"""Lines: documents whose lines end in CR LF or in CR alone are the documents that they would be with LF."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ParserException
from engine.parser import Options
from engine.tree.sharing import copy
from engine.tree.step import step
from tests.parsers.markup.documents import Tag, body, documents, shown, text_of, write

DOMAINS = ["XML", "XMLNS", "XMLNSC"]
CODECS = {1208: "utf-8", 819: "iso-8859-1", 500: "cp500", 1200: "utf-16-be"}
ENDS = ["\r\n", "\r"]
DOCUMENTS = [
    "<O>\n  <Status>NEW</Status>\n  <Note> a\n b </Note>\n</O>\n",
    "<?xml version='1.0'?>\n<O k='a\nb'\n  l='&#13;&#10;'>\n<Status>\n</Status></O>",
    "<O>\n<!-- a\n b -->\n<Status>x<![CDATA[\ny\n]]></Status><?p a\nb?>\n</O>",
    "<O>\n<Status>\n\n x</Status>\n</O>\n<!--\n-->\n",
    "<!DOCTYPE P [\n<!ENTITY e 'a\nb'>\n]>\n<O>&e;\n<Status>&e;\n</Status>\n</O>",
]


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("ccsid", CODECS)
def test_line_ends_make_no_difference(domain: str, end: str, document: str, ccsid: int) -> None:
    """The tree, and what is written of it when a field has changed, are as if each line ended in LF."""
    told = []
    for text in (document, document.replace("\n", end)):
        read = body(domain, text.encode(CODECS[ccsid]), ccsid, encoding=273)
        changed = copy(read)
        changed.ensure(step("O")).ensure(step("Status")).value = "DONE"
        told.append((shown(read), write(changed, ccsid, encoding=273)))
    assert told[0] == told[1]


@given(documents(spaces=True), st.sampled_from(ENDS), st.sampled_from(DOMAINS), st.booleans())
def test_line_ends_make_no_difference_anywhere(document: Tag, end: str, domain: str, mixed: bool) -> None:
    """Wherever a blank stands in a document that was generated, a line may end there instead."""
    text = text_of(document).replace(" ", "\n")
    options = Options(retain_mixed_content=mixed)
    unix, other = (body(domain, one.encode(), options=options) for one in (text, text.replace("\n", end)))
    assert shown(unix) == shown(other)


@pytest.mark.parametrize(("end", "ccsid"), [("\r\n", 1208), ("\r\n", 1200), ("\r\n", 500), ("\r", 819)])
def test_errors_count_in_what_came(end: str, ccsid: int) -> None:
    """The offset of an error is that in the bytes as they came, line ends and all."""
    text = end.join(["<O>", *["<a>1</a>"] * 50, "<b></c>", "</O>"])
    data = text.encode(CODECS[ccsid])
    with pytest.raises(ParserException, match="at offset") as caught:
        shown(body("XMLNSC", data, ccsid, encoding=273))
    offset = int(str(caught.value).split("at offset ")[1].split(" ")[0])
    width = 2 if ccsid == 1200 else 1
    assert width * text.index("<b>") <= offset <= width * text.index("</O>")


@pytest.mark.parametrize("ccsid", CODECS)
@pytest.mark.parametrize("before", ["<O>\n<a>é</a>", "<O>" + "é" * 40, "<O>\r\n<a k='éü'/>", "<é/>"])
def test_an_error_is_told_where_it_is_among_characters_of_several_bytes(before: str, ccsid: int) -> None:
    """The offset of an error is that of its character, however many bytes the characters before it have."""
    fault = f"{before}<b></c>" if before.startswith("<O>") else f"{before}<"
    data = f"{fault} </O>".encode(CODECS[ccsid])
    with pytest.raises(ParserException, match="at offset") as caught:
        shown(body("XMLNSC", data, ccsid, encoding=273))
    offset = int(str(caught.value).split("at offset ")[1].split(" ")[0])
    expected = before if fault.endswith("<") else fault
    assert len(expected.encode(CODECS[ccsid])) == offset


def test_an_error_behind_a_byte_order_mark_is_told_where_it_is() -> None:
    """The bytes of a byte order mark count in the offset of an error in the first line."""
    with pytest.raises(ParserException, match=r"at offset 13 \(line 1, column 11\)"):
        shown(body("XMLNSC", b"\xef\xbb\xbf<a><b></c></a>"))


@pytest.mark.parametrize("end", ["\n", *ENDS])
@pytest.mark.parametrize("ccsid", CODECS)
def test_an_element_with_too_many_attributes_is_told_by_its_line(end: str, ccsid: int) -> None:
    """The offset of an element beyond the limit is that of the line it begins in, whatever the lines end in."""
    before = f"<O>{end}<é/>{end}"
    attributes = " ".join(f"k{number}='1'" for number in range(1025))
    data = f"{before}<b {attributes}/>{end}</O>".encode(CODECS[ccsid])
    offset = len(before.encode(CODECS[ccsid]))
    with pytest.raises(ParserException, match=rf"at offset {offset} \(line 3, column 1\)"):
        shown(body("XMLNSC", data, ccsid, encoding=273))
