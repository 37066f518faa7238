"""MQRFH2 on its way out: changed folders, folders that nobody has touched, and other forms."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ConversionException, ParserException
from engine.parser import Follow, parser_catalog
from engine.tree.element import Element
from engine.tree.sharing import copy, read_only
from engine.tree.source import NAME, NAME_VALUE
from engine.tree.step import step
from tests.parsers.folder_samples import FIXED, mqrfh2, rfh2, shown, value_at
from tests.parsers.samples import BIG, FORMS, LITTLE, built, tree, write

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
