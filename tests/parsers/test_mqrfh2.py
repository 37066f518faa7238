"""MQRFH2: its fields, its folders, and what mcd says of the body."""

from typing import Any

import pytest

from engine.errors import ParserException
from engine.parser import Follow, Header, Portion, Template, parser_catalog
from engine.tree.sharing import copy
from engine.tree.source import NAME, NAME_VALUE, VALUE
from engine.tree.step import step
from parsers.headers import folders
from tests.parsers.folder_samples import FIXED, mqrfh2, rfh2, shown, value_at
from tests.parsers.samples import BIG, FORMS, LITTLE, Writer, tree, write


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
    ("<v dt='i4'>1_0</v>", "'1_0' in v is not of its type i4"),
    ("<v dt='i4'>\u0661</v>", "in v is not of its type i4"),
    ("<v dt='r8'>1_0.5</v>", "'1_0.5' in v is not of its type r8"),
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


def test_a_length_that_is_cut_off() -> None:
    """A header that ends within the length of a folder is refused with the offset of that length."""
    data = mqrfh2(BIG, 819, "<usr></usr>")
    garbled = data[:8] + Writer(BIG, 819).longs(38) + data[12:]
    with pytest.raises(
        ParserException, match="NameValueLength at offset 36 is cut off: 2 bytes of the header are left"
    ):
        list(tree("MQRFH2", garbled, BIG, 819))
