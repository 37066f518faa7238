"""The values of identifiers in selectors: JMS header fields, fields of the MQMD, and message properties."""

from __future__ import annotations

from calendar import timegm
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from engine.descriptor import FIELDS, LAST_MSG_IN_GROUP, MSG_IN_GROUP, NO_ID, PERSISTENT, Descriptor
from engine.mq.selectors.syntax import Value

Properties: TypeAlias = Callable[[], Mapping[str, object]]
Evaluation: TypeAlias = Callable[[Descriptor, Properties], Value]

IDS: Final = frozenset({"JMSMessageID", "JMSCorrelationID", "JMSXGroupID"})  # texts that begin with ID: and digits

_MQMD: Final = "Root.MQMD."
_OF_CONTENTS: Final = ("Root.", "Body.", "InputRoot.", "InputBody.")  # which filters of contents read, and no selector
_IN_GROUP: Final = MSG_IN_GROUP | LAST_MSG_IN_GROUP
_SYNONYMS: Final = {
    "jms.Cid": "JMSCorrelationID",
    "jms.Rto": "JMSReplyTo",
    "jms.Gid": "JMSXGroupID",
    "jms.Seq": "JMSXGroupSeq",
}


def lookup(name: str) -> Evaluation | None:
    """Returns what finds the value of an identifier in a message, or None for a name that cannot be one.

    >>> lookup("JMSPriority")(Descriptor(priority=7), dict)
    7
    >>> lookup("usr.colour")(Descriptor(), lambda: {"colour": "red"})
    'red'
    """
    if name in _HEADERS:
        return _HEADERS[name]
    if name.startswith(_MQMD):
        field = FIELDS.get(name.removeprefix(_MQMD))
        return None if field is None else _field(field)
    if name.startswith(_OF_CONTENTS) or name.endswith(".") or ".." in name:
        return None
    return _property(name.removeprefix("usr.") if name.count(".") == 1 else name)


def _property(name: str) -> Evaluation:
    def found(_: Descriptor, properties: Properties) -> Value:
        return properties().get(name)  # type: ignore[return-value]

    return found


def _field(field: str) -> Evaluation:
    at = Descriptor._fields.index(field)

    def found(descriptor: Descriptor, _: Properties) -> Value:
        value: Value = descriptor[at]
        return value

    return found


def _or_property(name: str, evaluate: Evaluation) -> Evaluation:
    """Returns the evaluation of a field that a property overrides, as JMS writes it or as programs of MQ set it."""
    synonym = _SYNONYMS.get(name, name)

    def found(descriptor: Descriptor, properties: Properties) -> Value:
        said = properties()
        value = said.get(synonym, said.get(name))
        return evaluate(descriptor, properties) if value is None else value  # type: ignore[return-value]

    return found


def _id(value: bytes) -> str | None:
    return None if value in {NO_ID, b""} else f"ID:{value.hex()}"


def _delivery_mode(descriptor: Descriptor, _: Properties) -> Value:
    return "PERSISTENT" if descriptor.persistence == PERSISTENT else "NON_PERSISTENT"


def _group_id(descriptor: Descriptor, _: Properties) -> Value:
    return _id(descriptor.group_id)


def _group_seq(descriptor: Descriptor, _: Properties) -> Value:
    grouped = descriptor.msg_flags & _IN_GROUP or descriptor.group_id not in {NO_ID, b""}
    return descriptor.msg_seq_number if grouped else None


def _timestamp(descriptor: Descriptor, _: Properties) -> Value:
    """Returns the put date and time in milliseconds since 1970, or None where there is none."""
    digits = descriptor.put_date + descriptor.put_time
    if len(digits) != 16 or not (digits.isascii() and digits.isdigit()):
        return None
    year, month, day = int(digits[:4]), int(digits[4:6]), int(digits[6:8])
    hour, minute, second, hundredths = (int(digits[at : at + 2]) for at in (8, 10, 12, 14))
    if not (year and 1 <= month <= 12 and 1 <= day <= 31):
        return None
    return timegm((year, month, day, hour, minute, second)) * 1000 + hundredths * 10


def _expiration(descriptor: Descriptor, properties: Properties) -> Value:
    """Returns the moment a message expires in milliseconds since 1970; 0 says never, as JMS has it."""
    if descriptor.expiry < 0:
        return 0
    put = _timestamp(descriptor, properties)
    return put + descriptor.expiry * 100 if isinstance(put, int) else None


def _reply_to(descriptor: Descriptor, _: Properties) -> Value:
    return f"queue://{descriptor.reply_to_q_mgr}/{descriptor.reply_to_q}" if descriptor.reply_to_q else None


def _type(_: Descriptor, properties: Properties) -> Value:
    """Returns mcd.Type, or the mcd URI where the folder names a message set or a format too."""
    found = properties()
    if (given := found.get("JMSType")) is not None:  # a program of MQ has set it
        return given  # type: ignore[return-value]
    domain, set_, type_, format_ = (str(found.get(f"mcd.{name}") or "") for name in ("Msd", "Set", "Type", "Fmt"))
    if set_ or format_:
        return f"mcd://{domain}/{set_}/{type_}" + (f"?format={format_}" if format_ else "")
    return type_ or None


def _text(field: str) -> Evaluation:
    """Returns the evaluation of a text of the MQMD that is NULL when it is blank."""
    at = Descriptor._fields.index(field)

    def found(descriptor: Descriptor, _: Properties) -> Value:
        value: Value = descriptor[at]
        return value or None

    return found


_HEADERS: Final[dict[str, Evaluation]] = {
    "JMSMessageID": lambda descriptor, _: f"ID:{descriptor.msg_id.hex()}",
    "JMSCorrelationID": _or_property("jms.Cid", lambda descriptor, _: _id(descriptor.correl_id)),
    "JMSPriority": _field("priority"),
    "JMSDeliveryMode": _delivery_mode,
    "JMSTimestamp": _or_property("jms.Tms", _timestamp),
    "JMSExpiration": _or_property("jms.Exp", _expiration),
    "JMSType": _type,
    "JMSRedelivered": lambda descriptor, _: descriptor.backout_count > 0,
    "JMSReplyTo": _or_property("jms.Rto", _reply_to),
    "JMSDestination": _property("jms.Dst"),
    "JMSXGroupID": _or_property("jms.Gid", _group_id),
    "JMSXGroupSeq": _or_property("jms.Seq", _group_seq),
    "JMSXUserID": _text("user_identifier"),
    "JMSXAppID": _text("put_appl_name"),
    "JMSXDeliveryCount": lambda descriptor, _: descriptor.backout_count + 1,
    "JMS_IBM_Format": _text("format"),
    "JMS_IBM_MsgType": _field("msg_type"),
    "JMS_IBM_Feedback": _field("feedback"),
    "JMS_IBM_Encoding": _field("encoding"),
    "JMS_IBM_Character_Set": _field("coded_char_set_id"),
    "JMS_IBM_PutApplType": _field("put_appl_type"),
    "JMS_IBM_PutDate": _text("put_date"),
    "JMS_IBM_PutTime": _text("put_time"),
}
