"""MQRFH2: its fields, its folders, and what mcd says of the body."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ConversionException, ParserException
from engine.parser import Follow, Header, Portion, Template, parser_catalog
from engine.sharing import copy, read_only
from engine.source import NAME, NAME_VALUE, VALUE
from engine.step import step
from engine.tree import Element
from parsers import folders
from tests.parsers.samples import BIG, CODECS, FORMS, LITTLE, Writer, built, tree, write

FIXED = ("Version", "Format", "Encoding", "CodedCharSetId", "Flags", "NameValueCCSID")
UTF_16 = {BIG: "utf-16-be", LITTLE: "utf-16-le"}
XSI = "xmlns:xsi"


def mqrfh2(encoding: int, ccsid: int, *data: str | bytes, names: int = 1208, following: str = "MQSTR") -> bytes:
    """A header with these pieces of name/value data, text filled up to a multiple of four bytes with blanks."""
    w, rest = Writer(encoding, ccsid), b""
    codec = "utf-8" if names in {0, 1208} else UTF_16[encoding] if names in {1200, 13488, 17584} else CODECS[names]
    for piece in data:
        content = piece
        if isinstance(content, str):
            content = content.encode(codec)
            while len(content) % 4:
                content += " ".encode(codec)
        rest += w.longs(len(content)) + content
    head = w.text("RFH ", 4) + w.longs(2, 36 + len(rest), 546, 1208) + w.text(following, 8)
    return head + w.longs(0, names) + rest


def rfh2(*data: str | bytes, **facts: Any) -> Element:
    return tree("MQRFH2", mqrfh2(LITTLE, 1208, *data, **facts), LITTLE, 1208)


def shown(element: Element) -> list[Any]:
    """The folders as nested lists of name, type, value and children."""
    return [[child.name, child.type, child.value, shown(child)] for child in element if child.name not in FIXED]


def value_at(element: Element, *names: str) -> Any:
    found = element.at(*names)
    assert found is not None
    return found.value


@pytest.mark.parametrize(("encoding", "ccsid"), FORMS)
@pytest.mark.parametrize("names", [1208, 1200, 13488, 17584, 819, 500, 0])
def test_the_tree(encoding: int, ccsid: int, names: int) -> None:
    """Fields come first, then folders; folders are in the name/value CCSID, in the header's byte order."""
    data = mqrfh2(encoding, ccsid, "<mcd><Msd>xml</Msd></mcd>", "<usr><a>1</a><b>é</b></usr>", names=names)
    found = tree("MQRFH2", b"12345" + data + b"<body/>", encoding, ccsid, start=5)
    children = [(child.name, child.value) for child in found]
    assert children[:6] == list(zip(FIXED, (2, "MQSTR   ", 546, 1208, 0, names), strict=True))
    assert [name for name, _ in children[6:]] == ["mcd", "usr"]
    assert [value_at(found, *path) for path in (("mcd", "Msd"), ("usr", "a"), ("usr", "b"))] == ["xml", "1", "é"]
    assert write(copy(found), encoding, ccsid) == data


TYPED: list[tuple[str, Any]] = [
    ("<v>text</v>", "text"),
    ("<v> text </v>", " text "),
    ("<v></v>", ""),
    ("<v/>", ""),
    ("<v dt='string'>7</v>", "7"),
    ("<v dt='boolean'>1</v>", True),
    ("<v dt='boolean'>FALSE</v>", False),
    ("<v dt='bin.hex'>00ffAB</v>", b"\0\xff\xab"),
    ("<v dt='bin.hex'></v>", b""),
    ("<v dt='i1'>-128</v>", -128),
    ("<v dt='i2'>32767</v>", 32767),
    ("<v dt='i4'> -2147483648 </v>", -(1 << 31)),
    ("<v dt='i8'>9223372036854775807</v>", (1 << 63) - 1),
    ("<v dt='int'>12</v>", 12),
    ("<v dt='r4'>1.5</v>", 1.5),
    ("<v dt='r8'>-2.5E-3</v>", -0.0025),
    ("<v dt='unheard-of'>x</v>", "x"),
    ("<v xsi:nil='true'></v>", None),
    ("<v xsi:nil='true' dt='i4'/>", None),
    ("<v>a &lt; b &amp;&amp; c &gt; d &quot;&apos; &#233;</v>", "a < b && c > d \"' é"),
    ("<v><![CDATA[<x>]]></v>", "<x>"),
    ("<v>a<!-- not this -->b</v>", "ab"),
]


@pytest.mark.parametrize(("text", "expected"), TYPED)
def test_values(text: str, expected: Any) -> None:
    """A value has the type that its dt attribute says; without one it is text, and nil is NULL."""
    found = rfh2(f"<usr>{text}</usr>")
    value = value_at(found, "usr", "v")
    assert (value, type(value)) == (expected, type(expected))


BADLY_TYPED = [
    ("<v dt='i1'>128</v>", "'128' in v is not of its type i1"),
    ("<v dt='i4'>2147483648</v>", "is not of its type i4"),
    ("<v dt='i4'>1.0</v>", "is not of its type i4"),
    ("<v dt='i4'></v>", "is not of its type i4"),
    ("<v dt='boolean'>yes</v>", "'yes' in v is not of its type boolean"),
    ("<v dt='bin.hex'>abc</v>", "is not of its type bin.hex"),
    ("<v dt='r8'>much</v>", "is not of its type r8"),
]


@pytest.mark.parametrize(("text", "expected"), BADLY_TYPED)
def test_values_that_are_not_of_their_type(text: str, expected: str) -> None:
    """A value that is not what its dt attribute says is an error, where it is read and nowhere else."""
    found = rfh2(f"<usr><ok>1</ok>{text}</usr>")
    assert value_at(found, "usr", "ok") == "1"
    with pytest.raises(ParserException) as caught:
        value_at(found, "usr", "v")
    assert expected in str(caught.value)
    assert "MQRFH2.NameValueData at offset 40" in str(caught.value)


STRUCTURES: list[tuple[tuple[str | bytes, ...], list[Any]]] = [
    ((), []),
    (("<usr></usr>",), [["usr", NAME_VALUE, "", []]]),
    ((b"",), []),
    (("    ",), []),
    (
        ("<usr><a>1</a><a>2</a></usr>", "<usr><a>3</a></usr>"),
        [
            ["usr", NAME, None, [["a", NAME_VALUE, "1", []], ["a", NAME_VALUE, "2", []]]],
            ["usr", NAME, None, [["a", NAME_VALUE, "3", []]]],
        ],
    ),
    (
        ("<a><b>1</b></a><c><d>2</d></c>",),
        [["a", NAME, None, [["b", NAME_VALUE, "1", []]]], ["c", NAME, None, [["d", NAME_VALUE, "2", []]]]],
    ),
    (
        (" \n<usr  >\n <g> <h>1</h>\n </g>\n</usr>\0\0\0",),
        [["usr", NAME, None, [["g", NAME, None, [["h", NAME_VALUE, "1", []]]]]]],
    ),
    (
        ("<usr content='properties'><a copy='x' dt='i4'>1</a></usr>",),
        [
            [
                "usr",
                NAME,
                None,
                [
                    ["content", folders.ATTRIBUTE, "properties", []],
                    ["a", NAME_VALUE, 1, [["copy", folders.ATTRIBUTE, "x", []]]],
                ],
            ]
        ],
    ),
    (
        ("<usr>lead<a>1</a>trail</usr>",),
        [["usr", NAME, "lead", [["", VALUE, "lead", []], ["a", NAME_VALUE, "1", []], ["", VALUE, "trail", []]]]],
    ),
    (
        ("<p:a xmlns:p='u'><p:b p:c='1'>2</p:b></p:a>",),
        [
            [
                "p:a",
                NAME,
                None,
                [
                    ["xmlns:p", folders.ATTRIBUTE, "u", []],
                    ["p:b", NAME_VALUE, "2", [["p:c", folders.ATTRIBUTE, "1", []]]],
                ],
            ]
        ],
    ),
]


@pytest.mark.parametrize(("data", "expected"), STRUCTURES)
def test_folders(data: tuple[str | bytes, ...], expected: list[Any]) -> None:
    """Folders, groups, attributes, text and repeated names have their place, and come back when they are written."""
    found = rfh2(*data)
    names = [row[0] for row in expected]
    assert [child.name for child in found][len(FIXED) :] == names
    comparable = [[name, NAME, value, children] for name, _, value, children in expected]
    assert shown(found) == comparable
    recoded = write(found, BIG, 500)
    assert shown(tree("MQRFH2", recoded, BIG, 500)) == comparable
    rebuilt = rfh2(*(folders.render(folder) for folder in found if folder.name not in FIXED))
    assert shown(rebuilt) == comparable


def test_only_the_folder_that_is_asked_for_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A field reads no folder, and a value reads only its own folder, once."""
    read: list[bytes] = []
    original = folders._read
    monkeypatch.setattr(folders, "_read", lambda content, where: read.append(content) or original(content, where))
    found = rfh2("<mcd><Msd>x</Msd></mcd>", "<usr><a>1</a><b>2</b></usr>", "<jms><Dst>q</Dst></jms>")
    assert value_at(found, "Flags") == 0
    assert found.count(step("usr")) == 1
    assert [child.name for child in found][6:] == ["mcd", "usr", "jms"]
    assert read == []
    assert (value_at(found, "usr", "a"), value_at(found, "usr", "b")) == ("1", "2")
    assert read == [b"<usr><a>1</a><b>2</b></usr>"]


MCD: list[tuple[tuple[str, ...], Template, Template | None]] = [
    ((), Template("XMLNSC"), None),
    (("<usr><mcdx>1</mcdx></usr>",), Template("XMLNSC"), None),
    (("<mcd><Msd>mrm</Msd><Set>S</Set><Type>T</Type><Fmt>F</Fmt></mcd>",), Template(), Template("MRM", "S", "T", "F")),
    (("<mcd><Msd>MRM</Msd></mcd>",), Template("XML", "S", "T", "F"), Template("MRM")),
    (("<usr/>", "<mcd><Msd> xml </Msd></mcd>"), Template(), Template("XML")),
    (("<mcd><Msd>XmlNs</Msd></mcd>",), Template(), Template("XMLNS")),
    (("<mcd><Msd>xmlnsC</Msd></mcd>",), Template(), Template("XMLNSC")),
    (("<mcd><Msd>json</Msd></mcd>",), Template(), Template("JSON")),
    (("<mcd><Msd>BLOB</Msd></mcd>",), Template("XML"), Template("BLOB")),
    (("<mcd><Msd>none</Msd></mcd>",), Template("XML"), Template("BLOB")),
    (("<mcd><Msd>jms_map</Msd></mcd>",), Template(), Template("XML")),
    (("<mcd><Msd>jms_text</Msd></mcd>",), Template("XMLNSC", "S"), Template("XMLNSC", "S")),
    (("<mcd><Set>S2</Set></mcd>",), Template("MRM", "S", "T", "F"), Template("MRM", "S2", "T", "F")),
    (("<mcd><Msd>Custom</Msd></mcd>",), Template(), Template("Custom")),
]


@pytest.mark.parametrize(("data", "node", "expected"), MCD)
@pytest.mark.parametrize("names", [1208, 1200])
def test_what_mcd_says_of_the_body(
    data: tuple[str, ...], node: Template, expected: Template | None, names: int
) -> None:
    """The mcd folder chooses the body's parser, before the input node does; what it leaves out the node says."""
    header = mqrfh2(LITTLE, 1208, *data, names=names)
    owner = parser_catalog.find("MQRFH2")
    assert isinstance(owner, Header)
    portion = Portion(header + b"body", 0, len(header) + 4, Follow("MQHRF2", LITTLE, 1208), node)
    assert owner.measure(portion) == (len(header), Follow("MQSTR", 546, 1208, expected))


SET: list[tuple[str, str, Any, str]] = [
    ("usr", "new", "x<&>", "<usr><a dt='i2'>1</a><b>t</b><new>x&lt;&amp;&gt;</new></usr>"),
    ("usr", "a", 5, '<usr><a dt="i2">5</a><b>t</b></usr>'),
    ("usr", "a", 40000, '<usr><a dt="i4">40000</a><b>t</b></usr>'),
    ("usr", "a", 1 << 40, '<usr><a dt="i8">1099511627776</a><b>t</b></usr>'),
    ("usr", "a", "five", "<usr><a>five</a><b>t</b></usr>"),
    ("usr", "a", None, "<usr><a xsi:nil='true'></a><b>t</b></usr>"),
    ("usr", "b", True, '<usr><a dt="i2">1</a><b dt="boolean">1</b></usr>'),
    ("usr", "b", 1.5, '<usr><a dt="i2">1</a><b dt="r8">1.5</b></usr>'),
    ("usr", "b", b"\1\xff", '<usr><a dt="i2">1</a><b dt="bin.hex">01FF</b></usr>'),
    ("psc", "RegOpt", 5, "<psc><RegOpt>5</RegOpt></psc>"),
    ("jms", "Dlv", 2, "<jms><Dlv>2</Dlv></jms>"),
    ("app", "n", 2, '<app><n dt="i4">2</n></app>'),
]


@pytest.mark.parametrize(("folder", "name", "value", "expected"), SET)
def test_a_changed_folder(folder: str, name: str, value: Any, expected: str) -> None:
    """A changed or new folder is written anew, its values with their types; the others stay as they came."""
    odd = b"<mcd ><Msd>xml</Msd ></mcd>    \0"
    found = rfh2(odd, "<usr><a dt='i2'>1</a><b>t</b></usr>", "  <pscr/>")
    found.ensure(step(folder)).ensure(step(name)).value = value
    pieces: list[str | bytes] = [odd, "<usr><a dt='i2'>1</a><b>t</b></usr>", "  <pscr/>"]
    if folder == "usr":
        pieces[1] = expected.replace("<a dt='i2'>1", '<a dt="i2">1')
    else:
        pieces.append(expected)
    assert write(found, LITTLE, 1208) == mqrfh2(LITTLE, 1208, *pieces)


def test_a_changed_field_leaves_the_folders() -> None:
    """A changed field leaves all else as it came, also empty pieces and lengths that are no multiple of four."""
    data = mqrfh2(BIG, 500, b"<usr><a>1</a></usr>", b"", b"<a/><b/> ")
    found = tree("MQRFH2", data, BIG, 500)
    field = found.at("Flags")
    assert field is not None
    field.value = 9
    assert write(found, BIG, 500) == data[:28] + b"\0\0\0\x09" + data[32:]


def test_a_folder_is_taken_away_or_put_in() -> None:
    """Folders are written in the order of the tree."""
    found = rfh2("<mcd/>", "<usr><a>1</a></usr>", "<jms/>")
    first, last = found.at("mcd"), found.at("jms")
    assert first is not None
    assert last is not None
    first.detach()
    found.insert(Element("app"), before=last)
    assert write(found, LITTLE, 1208) == mqrfh2(LITTLE, 1208, "<usr><a>1</a></usr>", "<app></app>", "<jms/>")


@pytest.mark.parametrize(("start", "end"), [(1208, 1200), (1200, 1208), (819, 13488)])
def test_another_name_value_ccsid(start: int, end: int) -> None:
    """When NameValueCCSID is changed, all folders are written in it."""
    found = rfh2("<usr><a>é</a></usr>", names=start)
    field = found.at("NameValueCCSID")
    assert field is not None
    field.value = end
    assert write(found, LITTLE, 1208) == mqrfh2(LITTLE, 1208, "<usr><a>é</a></usr>", names=end)


def test_another_byte_order() -> None:
    """In another byte order lengths and UTF-16 are turned round; UTF-8 stays as it came."""
    for names, piece in ((1208, "<usr ><a>é</a></usr >"), (1200, "<usr><a>é</a></usr>")):
        found = rfh2(piece, names=names)
        assert write(found, BIG, 500) == mqrfh2(BIG, 500, piece, names=names)


def test_a_built_header() -> None:
    """A header that a flow builds announces what follows it, and has MQ's initial values else."""
    found = built("MQRFH2", {"Version": 2})
    found.add("usr").add("a", "1")
    data = write(found, LITTLE, 1208, Follow("MQSTR", LITTLE, 1208))
    assert data == mqrfh2(LITTLE, 1208, "<usr><a>1</a></usr>")
    alone = tree("MQRFH2", write(built("MQRFH2", {}), BIG, 500), BIG, 500)
    assert [value_at(alone, name) for name in FIXED] == [2, " " * 8, 0, -2, 0, 1208]


REFUSED: list[tuple[tuple[str | bytes, ...], tuple[str, ...], str]] = [
    (("<usr><a>1</usr>",), ("usr", "a"), "MQRFH2.NameValueData at offset 40: Opening and ending tag mismatch"),
    (("no folder",), ("usr",), "MQRFH2.NameValueData at offset 40: 'no folder' is not in a folder"),
    (("<usr/> more",), ("usr",), "'more' is not in a folder"),
    (("<usr>&undefined;</usr>",), ("usr", "a"), "Entity 'undefined' not defined"),
    (("<!DOCTYPE usr [<!ENTITY a 'b'>]><usr>&a;</usr>",), ("usr", "a"), "a folder cannot have a document type"),
    (("</_><_>",), ("usr",), "MQRFH2.NameValueData at offset 40"),
    (("<usr>" + "<a>" * 150 + "</a>" * 150 + "</usr>",), ("usr", "a"), "nested deeper than 128 levels"),
    (("<usr>" + "<a>" * 9999 + "</usr>",), ("usr", "a"), "MQRFH2.NameValueData at offset 40"),
    (("<a><b/></a><a><b/></a><c>",), ("a", "b"), "MQRFH2.NameValueData at offset 40"),
    (("<usr\xff/>".encode("latin-1"),), ("usr",), "MQRFH2.NameValueData at offset 40"),
    (("<usr><q:a>1</q:a></usr>",), ("usr", "a"), "Namespace prefix q"),
]


@pytest.mark.parametrize(("data", "path", "expected"), REFUSED)
def test_folders_that_cannot_be_read(data: tuple[str | bytes, ...], path: tuple[str, ...], expected: str) -> None:
    """What is no XML, has a document type or is nested too deep is refused with its offset, without being expanded."""
    found = rfh2(*data)
    assert value_at(found, "Flags") == 0
    with pytest.raises(ParserException) as caught:
        value_at(found, *path)
    assert expected in str(caught.value)


@pytest.mark.parametrize("length", [-1, -(1 << 31), 1 << 30, 13, (1 << 31) - 1])
def test_lengths_that_lead_outside(length: int) -> None:
    """A folder that does not lie within its header is refused with the offset of its length."""
    data = mqrfh2(BIG, 819, "<usr></usr>")
    garbled = b"x" + data[:36] + Writer(BIG, 819).longs(length) + data[40:]
    found = tree("MQRFH2", garbled, BIG, 819, start=1)
    with pytest.raises(ParserException, match=f"MQRFH2.NameValueLength at offset 37 is {length}, and 12 bytes are"):
        list(found)


def test_text_that_cannot_be_written() -> None:
    """Control characters have no place in XML, and each CCSID lacks some characters."""
    for value, names, kind in (("a\1b", 1208, ParserException), ("€", 819, ConversionException)):
        found = built("MQRFH2", {"NameValueCCSID": names})
        found.add("usr").add("a", value)
        with pytest.raises(kind):
            write(found, LITTLE, 1208)
    misnamed = built("MQRFH2", {})
    misnamed.add("usr").add("no name", "x")
    with pytest.raises(ParserException, match="'no name' cannot be"):
        write(misnamed, LITTLE, 1208)


def test_a_tree_that_is_nested_too_deep() -> None:
    """Groups are nested as deep in writing as in reading, and no deeper."""
    found = built("MQRFH2", {})
    at = found.add("usr")
    for _ in range(5000):
        at = at.add("a")
    with pytest.raises(ParserException, match="nested deeper than 128 levels"):
        write(found, LITTLE, 1208)


def test_edits_of_several_nodes_add_up() -> None:
    """What one node changed in a folder is still there when the next has changed another value of it."""
    root = read_only(rfh2("<usr><a>1</a><b>2</b></usr>", "<jms><c>3</c></jms>"))
    for path in (("usr", "a"), ("jms", "c"), ("usr", "b")):
        mine = copy(root)
        mine.domain = parser_catalog.find("MQRFH2")
        field = mine.at(*path)
        assert field is not None
        field.value = "x"
        root = read_only(mine)
    data = mqrfh2(LITTLE, 1208, "<usr><a>x</a><b>x</b></usr>", "<jms><c>x</c></jms>")
    assert write(root, LITTLE, 1208) == data


names = st.sampled_from(["a", "b", "Msd", "g.h", "_x", "é"])
texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"))
values = st.one_of(
    texts, st.integers(-(1 << 63), (1 << 63) - 1), st.booleans(), st.binary(max_size=20), st.floats(), st.none()
)
groups = st.recursive(
    st.lists(st.tuples(names, values), max_size=3), lambda inner: st.lists(st.tuples(names, inner), max_size=3)
)


def _add(element: Element, content: Any) -> None:
    for name, what in content:
        if isinstance(what, list):
            _add(element.add(name), what)
        else:
            element.add(name, what, type_=NAME_VALUE)


def _plain(element: Element) -> Any:
    """Names, values and structure, with NaN as something that equals itself, and an empty group as empty text."""
    children = [(child.name, _plain(child)) for child in element]
    return children or repr("" if element.value is None and element.type == NAME else element.value)


@given(content=groups, form=st.sampled_from(FORMS), codec=st.sampled_from([1208, 1200, 17584]))
def test_any_folder_comes_back(content: Any, form: tuple[int, int], codec: int) -> None:
    """Names, groups and values of every type are read as they were written."""
    found = built("MQRFH2", {"NameValueCCSID": codec})
    _add(found.add("usr"), content)
    data = write(found, *form)
    again = tree("MQRFH2", data, *form)
    before, after = found.at("usr"), again.at("usr")
    assert before is not None
    assert after is not None
    assert _plain(after) == _plain(before)
    assert write(again, *form) == data


@given(data=st.lists(st.binary(max_size=40) | st.text("<>/&;'\"= adt!-[]", max_size=40).map(str.encode), max_size=3))
def test_any_bytes_for_folders(data: list[bytes]) -> None:
    """Whatever stands where folders should be, it is read or refused, and written as it came."""
    found = rfh2(*data)
    assert write(found, LITTLE, 1208) == mqrfh2(LITTLE, 1208, *data)
    with suppress(ParserException):
        shown(found)
