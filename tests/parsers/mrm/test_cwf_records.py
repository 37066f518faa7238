"""CWF records as trees: repeats, references, choices, alignment; what is decoded when; what is written back."""

from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from engine.errors import ConfigurationException, ParserException
from engine.tree.sharing import copy
from engine.tree.step import step
from parsers.mrm.cwf.properties import CwfGroup
from parsers.mrm.cwf.record import Record
from parsers.mrm.model import UNBOUNDED, Composition, Field, Group
from tests.parsers.mrm.records import BIG, built, edited, field, parser, plain, read, write

TEXT = {"length": 2}
ROW = Group((field("a", "string", TEXT), field("b", "byte")))


def group(name: str, *members: Any, **said: Any) -> Field:
    return field(name, Group(members), **said)


DEPENDING = parser(
    field("n", "byte"),
    field("row", ROW, max_occurs=5, repeat_reference="n"),
    field("end", "string", TEXT),
)
NESTED = parser(
    group("head", field("n", "byte")),
    group(
        "row",
        field("m", "byte"),
        field("text", "string", {"length_reference": "m"}),
        field("item", "byte", repeat_reference="m", max_occurs=9),
        max_occurs=UNBOUNDED,
        repeat_reference="head.n",
    ),
    field("end", "byte"),
)
CHOICE = parser(
    field("kind", "string", {"length": 1}),
    Group(
        (
            field("text", "string", {"length": 4}),
            field("number", "int"),
            Group((field("x", "byte"), field("y", "byte"))),
        ),
        "choice",
    ),
    field("end", "byte"),
)


def test_depending_on() -> None:
    """A field says how often another occurs, and what follows stands behind the last of them."""
    data = b"\2AA\1BB\2ZZ"
    expected = {"n": 2, "row": [{"a": "AA", "b": 1}, {"a": "BB", "b": 2}], "end": "ZZ"}
    tree = read(DEPENDING, data)
    assert expected == plain(tree)
    assert data == write(DEPENDING, built(DEPENDING, **expected))
    end = read(DEPENDING, b"\0ZZ").at("end")
    assert end is not None
    assert "ZZ" == end.value
    assert (0, 2) == (read(DEPENDING, b"\0ZZ").count(step("row")), tree.count(step("row")))


def test_references_up_and_down() -> None:
    """References lead to fields in groups before, and to those of the same occurrence."""
    data = b"\2" + b"\1A\5" + b"\2BB\6\7" + b"\x63"
    expected = {
        "head": {"n": 2},
        "row": [{"m": 1, "text": "A", "item": 5}, {"m": 2, "text": "BB", "item": [6, 7]}],
        "end": 99,
    }
    assert expected == plain(read(NESTED, data))
    assert data == write(NESTED, built(NESTED, **expected))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\2AA\1BB\2Z", "M.end at offset 7: X'5a' is cut off: it takes 2 bytes and 1 are left"),
        (b"\2AA\1BB", "M.row at offset 4: X'4242' is cut off: it takes 3 bytes and 2 are left"),
        (b"\1AA\1ZZ!", "M ends at offset 6, and 1 bytes follow: X'21'"),
        (b"\6" + b"AA\1" * 6 + b"ZZ", "M.row occurs 6 times, as n says, and may 5 times"),
        (b"\xff", "must be a whole number that is not negative, not -1"),
        (b"", "M.n at offset 0: X'' is cut off"),
    ],
)
def test_wrong_records(data: bytes, said: str) -> None:
    """A record that is too short or too long, or counts what cannot be, is an error that names the field."""
    with pytest.raises(ParserException) as caught:
        read(DEPENDING, data).at("end")
    assert said in caught.value.text


def test_choice() -> None:
    """What stands at the same place is read as what is asked for; what nobody asks for, as the first."""
    data = b"NABCD\1"
    assert {"kind": "N", "text": "ABCD", "end": 1} == plain(read(CHOICE, data))
    tree = read(CHOICE, data)
    number = tree.at("number")
    assert number is not None
    assert 0x41424344 == number.value
    assert {"kind": "N", "number": 0x41424344, "end": 1} == plain(tree)
    assert b"N\0\0\0\7\1" == write(CHOICE, edited(tree, 7, "number"))
    assert b"NA\7CD\1" == write(CHOICE, edited(read(CHOICE, data), 7, "y"))
    assert b"N\1\2\0\0\3" == write(CHOICE, built(CHOICE, kind="N", x=1, y=2, end=3))


def test_choice_keeps_what_the_option_does_not_have() -> None:
    """A tree whose order has changed still has the bytes of a choice that its option does not read."""
    tree = copy(read(CHOICE, b"NABCD\1"))
    assert tree.at("x") is not None
    kind = tree.at("kind")
    assert kind is not None
    kind.detach()
    twin = built(CHOICE, kind="M")
    for child in list(tree):
        twin.append(copy(child))
    assert b"MABCD\1" == write(CHOICE, twin)


def test_alignment_and_skips() -> None:
    """Fields stand at multiples of their alignment from the message's start; what is skipped is written as the pad."""
    mrm = parser(
        field("a", "byte"),
        field("b", "int", {"byte_alignment": 4}),
        field("c", "byte", {"leading_skip_count": 2, "trailing_skip_count": 1}, max_occurs=2),
        field("d", "short", {"byte_alignment": 2}),
    )
    data = bytes.fromhex("01ffffff 00000002 ffff 03ff 04ff 0005")
    expected = {"a": 1, "b": 2, "c": [3, 4], "d": 5}
    assert expected == plain(read(mrm, data))
    assert bytes.fromhex("01000000 00000002 0000 0300 0400 0005") == write(mrm, built(mrm, **expected))
    assert bytes.fromhex("01ffffff 00000009 ffff 03ff 04ff 0005") == write(mrm, edited(read(mrm, data), 9, "b"))


def test_aligned_groups() -> None:
    """Each occurrence of a field's group stands at a multiple of the group's alignment."""
    row = Group((field("b", "byte"),), physical={"CWF": CwfGroup(byte_alignment=4)})
    mrm = parser(field("a", "byte"), field("row", row, max_occurs=2))
    expected = {"a": 1, "row": [{"b": 2}, {"b": 3}]}
    data = bytes.fromhex("01000000 02000000 03")
    assert expected == plain(read(mrm, data))
    assert data == write(mrm, built(mrm, **expected))


@pytest.mark.parametrize("composition", ["sequence", "choice"])
def test_alignment_of_a_group_among_members(composition: Composition) -> None:
    """A group that no field has is not aligned, and one that asks for it is refused."""
    aligned = Group((field("b", "byte"),), composition, physical={"CWF": CwfGroup(byte_alignment=4)})
    for member in (aligned, Group((aligned,)), Group((aligned,), "choice")):
        mrm = parser(field("a", "byte"), member)
        with pytest.raises(ConfigurationException, match="M: a group among members is not aligned"):
            read(mrm, b"\1\2").at("a")


@pytest.mark.parametrize("alignment", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 16])
def test_absent_occurrences(size: int, alignment: int) -> None:
    """Occurrences that are not in the tree are written as those that have the default, wherever they begin."""
    text = field("t", "string", {"length": size, "byte_alignment": alignment}, default="x" * size, max_occurs=3)
    row = Group((field("b", "byte", default=7), text))
    mrm = parser(field("a", "byte"), field("row", row, max_occurs=50), field("z", "byte"))
    full = [{"b": 7, "t": ["x" * size] * 3}] * 50
    expected = write(mrm, built(mrm, a=1, row=full, z=2))
    for given in (0, 1, 7, 49):
        assert expected == write(mrm, built(mrm, a=1, row=full[:given], z=2))


def test_unbounded() -> None:
    """What may occur without end occurs until the record ends."""
    mrm = parser(field("a", "byte"), field("b", "short", max_occurs=UNBOUNDED))
    assert {"a": 1, "b": [2, 3]} == plain(read(mrm, b"\1\0\2\0\3"))
    assert b"\1\0\2\0\3" == write(mrm, built(mrm, a=1, b=[2, 3]))
    with pytest.raises(ParserException, match="is cut off"):
        read(mrm, b"\1\0\2\0").at("a")


def test_inclusive_length() -> None:
    """An inclusive length counts the field that says it."""
    mrm = parser(
        field("n", "short"), field("t", "string", {"length_reference": "n", "inclusive_length_reference": True})
    )
    assert {"n": 5, "t": "ABC"} == plain(read(mrm, b"\0\5ABC"))
    assert b"\0\5ABC" == write(mrm, built(mrm, n=5, t="ABC"))


# Trees that are written: the order and presence of a, b and c, which have defaults or none.
WRITTEN: list[tuple[dict[str, Any], bytes | str]] = [
    ({"a": 1, "b": 2, "c": 3}, b"\1\2\3"),
    ({"a": 1, "c": 3}, b"\1\x09\3"),
    ({"b": 2, "a": 1, "c": 3}, b"\1\x09\3"),
    ({"a": 1, "x": 5, "b": 2, "c": 3}, b"\1\2\3"),
    ({"b": 2, "c": 3}, "M.a is missing, and has no default"),
    ({"a": [1, 7], "b": 2, "c": 3}, b"\1\2\3"),
]


@pytest.mark.parametrize(("values", "expected"), WRITTEN)
def test_order_and_defaults(values: dict[str, Any], expected: bytes | str) -> None:
    """What is missing or out of order gets its default, or is an error; what the model lacks is left out."""
    mrm = parser(field("a", "byte"), field("b", "byte", default="9"), field("c", "byte"))
    if isinstance(expected, bytes):
        assert expected == write(mrm, built(mrm, **values))
    else:
        with pytest.raises(ParserException, match=expected) as caught:
            write(mrm, built(mrm, **values))
        assert 5344 == caught.value.number


def test_all_in_any_order() -> None:
    """Of a message composed of all, fields may stand in the tree in any order."""
    mrm = parser(field("a", "byte"), field("b", "byte"), composition="all")
    assert b"\1\2" == write(mrm, built(mrm, b=2, a=1))


def test_untouched_fields_keep_their_bytes() -> None:
    """A changed field is laid over the record; bytes that mean the same as others stay as they came."""
    mrm = parser(
        field("p", "integer", {"physical_type": "packedDecimal", "length": 2}, max_occurs=2), field("t", "string", TEXT)
    )
    data = bytes.fromhex("000d 001f") + b"AB"
    tree = read(mrm, data)
    assert {"p": [0, 1], "t": "AB"} == plain(tree)
    assert bytes.fromhex("000d 001f") + b"XY" == write(mrm, edited(tree, "XY", "t"))
    grown = copy(tree)
    grown.add("t", "no room")
    assert data == write(mrm, grown)


def test_other_form() -> None:
    """A tree that was read is written in another encoding and CCSID by its values."""
    mrm = parser(
        field("t", "string", TEXT),
        field("n", "short"),
        field("d", "decimal", {"physical_type": "externalDecimal", "length": 2, "virtual_decimal_point": 1}),
    )
    tree = read(mrm, bytes.fromhex("c1c2 0102 f1d2"), BIG, 37)
    assert {"t": "AB", "n": 258, "d": Decimal("-1.2")} == plain(tree)
    assert bytes.fromhex("4142 0201 3172") == write(mrm, tree, 546, 819)


def test_laziness(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what is looked at is decoded, and no place is made for what is not asked for by name."""
    seen: Counter[str] = Counter()
    decoded = Record.value

    def counted(self: Record, handle: Any) -> object:
        seen[handle.item.name] += 1
        return decoded(self, handle)

    monkeypatch.setattr(Record, "value", counted)
    mrm = parser(
        *(field(f"f{number}", "string", TEXT) for number in range(100)),
        field("bad", "integer", {"physical_type": "packedDecimal", "length": 1}),
    )
    tree = read(mrm, b"AB" * 100 + b"\0")
    assert [3, 50] == [n for n in (3, 50) if (one := tree.at(f"f{n}")) is not None and one.value == "AB"]
    assert {"f3": 1, "f50": 1} == dict(seen)
    assert b"AB" * 50 + b"XY" + b"AB" * 49 + b"\0" == write(mrm, edited(tree, "XY", "f50"))
    assert "bad" not in seen


def test_repeats_by_number() -> None:
    """The n-th occurrence is found without the others."""
    mrm = parser(field("row", ROW, max_occurs=1000))
    tree = read(mrm, b"".join(b"%02d%c" % (n % 100, n % 100) for n in range(1000)))
    found = tree.nth(step("row"), 778)
    assert found is not None
    assert {"a": "77", "b": 77} == plain(found)


def test_cut_off_in_a_large_table() -> None:
    """A record that is far shorter than its model is refused without a place for each field that is not there."""
    mrm = parser(field("row", ROW, max_occurs=2**31 - 1), field("end", "byte"))
    with pytest.raises(
        ParserException, match=r"M\.row\.b at offset 5: X'' is cut off: it takes 1 bytes and 0 are left"
    ):
        read(mrm, b"AA\1BB").at("end")
