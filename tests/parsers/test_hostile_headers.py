"""Hostile headers: cut off, garbled, or made up; whatever is done with them, only errors of ours come out."""

import struct
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.descriptor import Descriptor
from engine.errors import BrokerError
from engine.message.received import Received
from engine.message.writer import write_message
from engine.parser import Header, parser_catalog
from engine.tree.element import Element
from engine.tree.sharing import copy, read_only
from engine.tree.source import Handle
from tests.parsers.folder_samples import mqrfh2
from tests.parsers.samples import BIG, FORMS, LITTLE, SAMPLES, Writer, tree, write
from tests.parsers.test_mqcfh import every_kind, pcf
from tests.parsers.test_mqrfh import mqrfh
from tests.parsers.test_mqrmh import mqrmh

VALID: dict[str, Callable[[int, int], bytes]] = {
    **{f"{sample.name}-{sample.length}": sample.bytes for sample in SAMPLES},
    "MQRMH": mqrmh,
    "MQRFH": lambda encoding, ccsid: mqrfh('A b "C d" "e""f"', encoding, ccsid),
    "MQRFH2": lambda encoding, ccsid: mqrfh2(
        encoding, ccsid, "<mcd><Msd>mrm</Msd></mcd>", "<usr><a dt='i4'>1</a><g><h dt='bin.hex'>ff</h></g></usr>"
    ),
    "MQPCF": lambda encoding, ccsid: pcf(Writer(encoding, ccsid), *every_kind(Writer(encoding, ccsid))),
}
EACH = pytest.mark.parametrize("name", VALID)


def look_at_all(element: Element) -> int:
    """Read every value there is; as many as bytes could ever stand for, and no more."""
    seen, pending = 0, [element]
    while pending:
        at = pending.pop()
        _ = at.value
        pending += at
        seen += 1
        assert seen < 10000
    return seen


def attempt(name: str, data: bytes, encoding: int, ccsid: int) -> list[BrokerError]:
    """Measure, read and rewrite a header; the errors that came of it."""
    errors = []
    owner = parser_catalog.find(name.partition("-")[0])

    def measure() -> None:
        portion = tree(owner.name, data, encoding, ccsid).source.portion  # type: ignore[attr-defined]
        if isinstance(owner, Header):
            length, _ = owner.measure(portion)
            assert 0 < length <= len(data)

    def edit(wanted: str) -> None:
        found = tree(owner.name, data, encoding, ccsid)
        field = found.at(wanted)
        if field is not None:
            field.value = 1
            write(found, encoding, ccsid)

    for action in (
        measure,
        lambda: look_at_all(tree(owner.name, data, encoding, ccsid)),
        lambda: write(tree(owner.name, data, encoding, ccsid), BIG, 500),
        lambda: edit("Encoding"),
        lambda: edit("Reason"),
    ):
        try:
            action()
        except BrokerError as error:
            errors.append(error)
    return errors


@EACH
def test_valid_headers_give_no_errors(name: str) -> None:
    """What the other tests here distort is fine as it is."""
    for form in FORMS:
        assert attempt(name, VALID[name](*form), *form) == []


@EACH
def test_cut_off_at_every_byte(name: str) -> None:
    """A header that is cut off anywhere is refused by its name, and nothing else happens."""
    whole = VALID[name](LITTLE, 819)
    for end in range(len(whole)):
        errors = attempt(name, whole[:end], LITTLE, 819)
        assert errors
        assert "offset" in str(errors[0])
        assert name.partition("-")[0] in str(errors[0]) or "PCF" in str(errors[0])


@EACH
@given(data=st.data())
def test_some_bytes_replaced(name: str, data: st.DataObject) -> None:
    """Whatever stands in a header, it is read, written or refused."""
    form = data.draw(st.sampled_from(FORMS))
    garbled = bytearray(VALID[name](*form))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(garbled) - 1))
        piece = data.draw(st.binary(min_size=1, max_size=4))
        garbled[at : at + len(piece)] = piece
    attempt(name, bytes(garbled), *form)


@EACH
@given(data=st.data())
def test_absurd_numbers(name: str, data: st.DataObject) -> None:
    """Lengths, counts and offsets of any size lead nowhere outside the header."""
    encoding, ccsid = data.draw(st.sampled_from(FORMS))
    garbled = bytearray(VALID[name](encoding, ccsid))
    at = 4 * data.draw(st.integers(0, len(garbled) // 4 - 1))
    edges = st.sampled_from([0, 1, -1, 3, 1 << 16, 1 << 28, (1 << 31) - 1, -(1 << 31)])
    number = data.draw(edges | st.integers(-(1 << 31), (1 << 31) - 1) | st.integers(0, 2 * len(garbled)))
    garbled[at : at + 4] = struct.pack(">i" if encoding == BIG else "<i", number)
    attempt(name, bytes(garbled), encoding, ccsid)


@EACH
@given(rest=st.binary(max_size=400))
def test_random_bytes_after_the_eyecatcher(name: str, rest: bytes) -> None:
    """A StrucId and a version do not make a header."""
    keep = 8 if name != "MQPCF" else 12
    attempt(name, VALID[name](BIG, 819)[:keep] + rest, BIG, 819)


@given(
    form=st.sampled_from(FORMS),
    order=st.permutations([name for name in VALID if not name.startswith("MQMD") and name != "MQPCF"]),
    noise=st.binary(max_size=40),
    ccsid=st.sampled_from([0, -1, -2, 819, 500, 1208, 1200, 4711, 65535, 1 << 30]),
)
@example(form=(BIG, 500), order=["MQRFH2"], noise=b"", ccsid=4711)
def test_chains_of_anything(form: tuple[int, int], order: list[str], noise: bytes, ccsid: int) -> None:
    """Any headers in any order, in CCSIDs that may not exist, give a tree or an error, and untouched the same bytes."""
    formats = {name: parser_catalog.find(name.partition("-")[0]).formats[0] for name in order}  # type: ignore[attr-defined]
    body = b"".join(VALID[name](*form) for name in order[:3]) + noise
    received = Received(Descriptor(format=formats[order[0]], encoding=form[0], coded_char_set_id=ccsid), body)
    untouched = copy(read_only(received.root()))
    assert write_message(untouched) == (received.descriptor, body)
    try:
        look_at_all(received.root())
        changed = copy(read_only(received.root()))
        priority = changed.at("MQMD", "Priority")
        assert priority is not None
        priority.value = 5
        assert write_message(changed)[1] == body
    except BrokerError as error:
        assert str(error).startswith("BIP")  # noqa: PT017  # either outcome is right


def test_handles_are_not_kept_for_absurd_counts() -> None:
    """A list that claims many values it cannot have makes none."""
    w = Writer(BIG, 819)
    data = pcf(w, w.longs(6, 28, 1, 0, (1 << 31) - 1, 0) + b"    ")
    made: list[Handle] = []
    with pytest.raises(BrokerError, match="values of 0 bytes"):
        made.extend(tree("MQPCF", data, BIG, 819))
    assert made == []
