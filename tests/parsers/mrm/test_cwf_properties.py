"""CWF over any model: what is written is read as it was, and what was read is written as it came."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import BrokerError
from engine.tree.sharing import copy
from parsers.mrm.model import Field, Group, Member
from tests.parsers.mrm.records import LITTLE, built, field, parser, plain, read, write

FORMS = st.sampled_from([(785, 37), (LITTLE, 819), (273, 1208), (546, 500), (785, 1047)])
TEXT = st.characters(min_codepoint=0x20, max_codepoint=0x7E)


def _text(name: str, draw: Any) -> tuple[Field, Any]:
    physical = draw(st.sampled_from(["fixedLengthString", "lengthEncodedString1", "nullTerminatedString"]))
    value = draw(st.text(TEXT, min_size=1, max_size=9))
    said = {"physical_type": physical} | ({"length": len(value)} if physical == "fixedLengthString" else {})
    return field(name, "string", said), value


def _integer(name: str, draw: Any) -> tuple[Field, Any]:
    kind, width = draw(st.sampled_from([("long", 8), ("int", 4), ("short", 2), ("byte", 1)]))
    return field(name, kind), draw(st.integers(-(1 << 8 * width - 1), (1 << 8 * width - 1) - 1))


def _decimal(name: str, draw: Any) -> tuple[Field, Any]:
    length, scale = draw(st.integers(1, 16)), draw(st.integers(0, 5))
    physical = draw(st.sampled_from(["packedDecimal", "externalDecimal"]))
    orientation = draw(st.sampled_from(["leading", "trailing"]))
    digits = 2 * length - 1 if physical == "packedDecimal" else length
    value = Decimal(draw(st.integers(1 - 10**digits, 10**digits - 1)))
    said = {
        "physical_type": physical,
        "length": length,
        "virtual_decimal_point": scale,
        "sign_orientation": orientation,
    }
    return field(name, "decimal", said), Decimal(f"{value}E-{scale}")


def _float(name: str, draw: Any) -> tuple[Field, Any]:
    return field(name, "double"), draw(st.floats(-1e60, 1e60).filter(lambda number: not 0 < abs(number) < 1e-60))


def _binary(name: str, draw: Any) -> tuple[Field, Any]:
    value = draw(st.binary(min_size=1, max_size=5))
    return field(name, "binary", {"length": len(value)}), value


def _repeated(name: str, draw: Any) -> tuple[Field, Any]:
    values = draw(st.lists(st.integers(0, 255), min_size=2, max_size=4))
    return field(name, "unsignedByte", max_occurs=len(values)), values


KINDS = (_text, _integer, _decimal, _float, _binary, _repeated)


@st.composite
def records(draw: Any, depth: int = 2) -> tuple[tuple[Member, ...], dict[str, Any]]:
    """Members of a message, and values of its fields."""
    members: list[Member] = []
    values: dict[str, Any] = {}
    for number in range(draw(st.integers(1, 5))):
        name = f"f{number}"
        shape = draw(st.integers(0, 9)) if depth else 9
        if shape == 0:
            inner, within = draw(records(depth=depth - 1))
            made, value = field(name, Group(inner)), within
        elif shape == 1:
            inner, within = draw(records(depth=depth - 1))
            count = draw(st.integers(2, 3))
            members.append(field(f"n{number}", "short"))
            values[f"n{number}"] = count
            made = field(name, Group(inner), max_occurs=3, repeat_reference=f"n{number}")
            value = [within] * count
        else:
            made, value = draw(st.sampled_from(KINDS))(name, draw)
        members.append(made)
        values[name] = value
    return tuple(members), values


@settings(max_examples=60, deadline=None)
@given(records(), FORMS)
def test_round_trip(made: tuple[tuple[Member, ...], dict[str, Any]], form: tuple[int, int]) -> None:
    """A tree is written, read as it was, and written as the same bytes: whole, by its parts, and built anew."""
    members, values = made
    mrm = parser(*members)
    data = write(mrm, built(mrm, **values), *form)
    tree = read(mrm, data, *form)
    assert values == plain(tree)
    assert data == write(mrm, tree, *form)
    moved = copy(tree)
    first = moved.first_child
    assert first is not None
    first.detach()
    again = built(mrm)
    again.append(first)
    for child in list(moved):
        again.append(child.detach())
    assert data == write(mrm, again, *form)
    for encoding, ccsid in ((785, 37), (546, 1208)):
        other = write(mrm, tree, encoding, ccsid)
        assert values == plain(read(mrm, other, encoding, ccsid))


@settings(max_examples=60, deadline=None)
@given(records(), FORMS, st.binary(max_size=200))
def test_any_bytes(made: tuple[tuple[Member, ...], dict[str, Any]], form: tuple[int, int], data: bytes) -> None:
    """Any bytes are either read and written as they came, or an error of the broker's."""
    mrm = parser(*made[0])
    try:
        tree = read(mrm, data, *form)
        plain(tree)
    except BrokerError:
        return
    assert data == write(mrm, tree, *form)


@settings(max_examples=60, deadline=None)
@given(records(), FORMS, st.data())
def test_one_change(
    made: tuple[tuple[Member, ...], dict[str, Any]], form: tuple[int, int], data: st.DataObject
) -> None:
    """A record with one field changed reads as the values with that change."""
    members, values = made
    mrm = parser(*members)
    simple = [name for name, value in values.items() if isinstance(value, int) and name.startswith("f")]
    if not simple:
        return
    name = data.draw(st.sampled_from(simple))
    twin = copy(read(mrm, write(mrm, built(mrm, **values), *form), *form))
    found = twin.at(name)
    assert found is not None
    found.value = 7
    assert values | {name: 7} == plain(read(mrm, write(mrm, twin, *form), *form))
