"""Properties: the folder that comes first in every message and says what it is, whatever brought it."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Final

from engine.descriptor import PERSISTENT, UNLIMITED, Descriptor
from engine.message.received import Received
from engine.parser import Form, Parser, Portion, parser
from engine.tree.element import Element
from engine.tree.source import Handle, Source, Value
from parsers.headers import fields
from parsers.headers.fields import TOP, Computed, ComputedFields

_TENTH: Final = timedelta(seconds=0.1)
_IDENTITIES: Final = ("IdentitySource", "IdentityMapped")
_OF_IDENTITY: Final = ("Type", "Token", "Password", "IssuedBy")


def creation_time(received: Received) -> datetime | None:
    """Returns when the message was put, in GMT; NULL where its descriptor does not say it in MQ's way."""
    put_date = fields.as_date(received.descriptor.put_date)
    put_time = fields.as_time(received.descriptor.put_time)
    if not isinstance(put_date, date) or not isinstance(put_time, time):
        return None
    return datetime.combine(put_date, put_time)


def expiration_time(received: Received) -> Value:
    """Returns the time of expiry: -1 for never, else put time and Expiry together, so that a replay sees the same."""
    expiry = received.descriptor.expiry
    if expiry == UNLIMITED:
        return UNLIMITED
    created = creation_time(received)
    try:
        return None if created is None else created + expiry * _TENTH
    except OverflowError:
        return None


FIELDS: Final[Computed] = {
    "MessageSet": lambda received: received.parts[-1].portion.template.set,
    "MessageType": lambda received: received.parts[-1].portion.template.type,
    "MessageFormat": lambda received: received.parts[-1].portion.template.format,
    "Encoding": lambda received: received.parts[-1].portion.follow.encoding,
    "CodedCharSetId": lambda received: received.parts[-1].portion.follow.ccsid,
    "Transactional": lambda received: received.transactional,
    "Persistence": lambda received: received.descriptor.persistence == PERSISTENT,
    "CreationTime": creation_time,
    "ExpirationTime": expiration_time,
    "Priority": lambda received: received.descriptor.priority,
    "ReplyIdentifier": lambda received: received.descriptor.correl_id,
    "ReplyProtocol": lambda received: "MQ",
    "Topic": lambda received: None,
    "ContentType": lambda received: "",
    **{f"{one}{what}": lambda received: "" for one in _IDENTITIES for what in _OF_IDENTITY},
}


@parser
class Properties(Parser):
    """The folder of what is known of a message beside its headers; it has no bytes of its own."""

    __slots__ = ()
    name = "Properties"

    def read(self, portion: Portion) -> tuple[Source, Handle]:
        return ComputedFields(FIELDS, portion.received or Received(Descriptor(), b"")), TOP

    def write(self, element: Element, form: Form) -> bytes:
        return b""
