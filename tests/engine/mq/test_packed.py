"""A descriptor as bytes comes back as it was, and its numbers and ids are found by offset."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.descriptor import LENGTHS, Descriptor
from engine.errors import MessageException
from engine.mq import packed_descriptor

NUMBERS = st.integers(-(2**31), 2**31 - 1)
KINDS = {int: lambda _: NUMBERS, bytes: lambda name: st.binary(min_size=LENGTHS[name], max_size=LENGTHS[name])}
DESCRIPTORS = st.builds(
    Descriptor,
    **{
        name: KINDS.get(type(default), lambda _: st.text(st.characters(codec=None), max_size=60))(name)
        for name, default in Descriptor._field_defaults.items()
    },
)


@given(DESCRIPTORS, st.binary(max_size=20), st.binary(max_size=20))
def test_a_descriptor_comes_back_as_it_was(descriptor, before, behind):
    """Whatever its numbers, ids and texts are, and wherever it stands among other bytes."""
    data = before + packed_descriptor.pack(descriptor) + behind
    assert descriptor == packed_descriptor.unpack(data, len(before), len(data) - len(behind))
    assert descriptor == packed_descriptor.unpack(memoryview(data), len(before), len(data) - len(behind))


def test_a_number_is_replaced():
    """A message that is backed out gets its count without being unpacked."""
    data = packed_descriptor.pack(Descriptor(format="MQSTR", backout_count=2))
    counted = packed_descriptor.with_number(data, packed_descriptor.BACKOUT_COUNT_AT, 3)
    assert Descriptor(format="MQSTR", backout_count=3) == packed_descriptor.unpack(counted)


def test_short_ids_are_filled():
    """MQ fills them with zeros."""
    assert b"ab".ljust(24, b"\0") == packed_descriptor.unpack(packed_descriptor.pack(Descriptor(msg_id=b"ab"))).msg_id


@pytest.mark.parametrize(
    ("descriptor", "said"),
    [
        (Descriptor(msg_id=bytes(25)), "msg_id has 25 bytes"),
        (Descriptor(accounting_token=bytes(33)), "accounting_token has 33 bytes"),
        (Descriptor(feedback=2**31), "more than 32 bits"),
        (Descriptor(user_identifier="u" * 70_000), "a descriptor has 70172 bytes"),
    ],
)
def test_what_does_not_fit_is_refused(descriptor, said):
    """Nothing is cut off in silence."""
    with pytest.raises(MessageException, match=said) as caught:
        packed_descriptor.pack(descriptor)
    assert packed_descriptor.MD_ERROR == caught.value.reason


@pytest.mark.parametrize("data", [b"\2" + bytes(163), packed_descriptor.pack(Descriptor())[:-1]])
def test_bytes_that_are_no_descriptor_are_refused(data):
    """Neither another version nor too few texts is read."""
    with pytest.raises(MessageException):
        packed_descriptor.unpack(data)


def test_a_descriptor_with_more_than_can_be_kept_is_not_received():
    """A client cannot hand over texts that no store can keep."""
    packed = packed_descriptor.pack(Descriptor())
    with pytest.raises(MessageException, match="more than the 65535 that can be kept"):
        packed_descriptor.received(packed + b"x" * 70_000, 0, len(packed) + 70_000)
