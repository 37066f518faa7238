"""MQ headers built byte by byte for the tests, without the parsers' own tables, and the trees they stand for."""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, time
from typing import Any

import ebcdic  # noqa: F401  # registers cp1047

from engine.message.received import Part
from engine.parser import Follow, Form, Parser, Portion, parser_catalog
from engine.tree.element import Element
from engine.tree.source import NAME

BIG, LITTLE = 273, 546
CODECS = {819: "latin-1", 1208: "utf-8", 500: "cp500", 37: "cp037", 1047: "cp1047"}
FORMS = [(encoding, ccsid) for encoding in (BIG, LITTLE) for ccsid in CODECS]
TOKEN = bytes(range(200, 232))

Values = dict[str, Any]


class Writer:
    """Integers and characters in one form."""

    def __init__(self, encoding: int, ccsid: int) -> None:
        self.order = ">" if encoding == BIG else "<"
        self.codec = CODECS[ccsid]

    def longs(self, *numbers: int) -> bytes:
        return struct.pack(f"{self.order}{len(numbers)}i", *numbers)

    def text(self, text: str, size: int) -> bytes:
        data = text.ljust(size).encode(self.codec)
        assert len(data) == size
        return data


def mqdlh(w: Writer, v: Values) -> bytes:
    return (
        w.text("DLH ", 4)
        + w.longs(v["Version"], v["Reason"])
        + w.text(v["DestQName"], 48)
        + w.text(v["DestQMgrName"], 48)
        + w.longs(v["Encoding"], v["CodedCharSetId"])
        + w.text(v["Format"], 8)
        + w.longs(v["PutApplType"])
        + w.text(v["PutApplName"], 28)
        + w.text(f"{v['PutDate']:%Y%m%d}", 8)
        + w.text(f"{v['PutTime']:%H%M%S}{v['PutTime'].microsecond // 10000:02}", 8)
    )


def announced(w: Writer, struc_id: str, length: int, v: Values) -> bytes:
    lengths = w.longs(v["Version"], length, v["Encoding"], v["CodedCharSetId"])
    return w.text(struc_id, 4) + lengths + w.text(v["Format"], 8) + w.longs(v["Flags"])


def mqcih_1(w: Writer, v: Values, length: int = 164) -> bytes:
    numbers = (v["ReturnCode"], v["CompCode"], v["Reason"], v["UOWControl"], v["GetWaitInterval"], v["LinkType"])
    more = (v["OutputDataLength"], v["FacilityKeepTime"], v["ADSDescriptor"], v["ConversationalTask"])
    return (
        announced(w, "CIH ", length, v)
        + w.longs(*numbers, *more, v["TaskEndStatus"])
        + v["Facility"]
        + w.text(v["Function"], 4)
        + w.text(v["AbendCode"], 4)
        + w.text(v["Authenticator"], 8)
        + w.text(v["Reserved1"], 8)
        + w.text(v["ReplyToFormat"], 8)
        + w.text(v["RemoteSysId"], 4)
        + w.text(v["RemoteTransId"], 4)
        + w.text(v["TransactionId"], 4)
        + w.text(v["FacilityLike"], 4)
        + w.text(v["AttentionId"], 4)
        + w.text(v["StartCode"], 4)
        + w.text(v["CancelCode"], 4)
        + w.text(v["NextTransactionId"], 4)
        + w.text(v["Reserved2"], 8)
        + w.text(v["Reserved3"], 8)
    )


def mqcih_2(w: Writer, v: Values) -> bytes:
    return mqcih_1(w, v, 180) + w.longs(v["CursorPosition"], v["ErrorOffset"], v["InputItem"], v["Reserved4"])


def mqiih(w: Writer, v: Values) -> bytes:
    return (
        announced(w, "IIH ", 84, v)
        + w.text(v["LTermOverride"], 8)
        + w.text(v["MFSMapName"], 8)
        + w.text(v["ReplyToFormat"], 8)
        + w.text(v["Authenticator"], 8)
        + v["TranInstanceId"]
        + w.text(v["TranState"] + v["CommitMode"] + v["SecurityScope"] + v["Reserved"], 4)
    )


def mqmde(w: Writer, v: Values) -> bytes:
    rest = w.longs(v["MsgSeqNumber"], v["Offset"], v["MsgFlags"], v["OriginalLength"])
    return announced(w, "MDE ", 72, v) + v["GroupId"] + rest


def mqsaph(w: Writer, v: Values) -> bytes:
    return (
        announced(w, "SAPH", 108, v)
        + w.text(v["Client"], 3)
        + w.text(v["Language"], 1)
        + w.text(v["HostName"], 48)
        + w.text(v["UserId"], 12)
        + w.text(v["Password"], 8)
        + w.text(v["SystemNumber"], 2)
        + v["Reserved"]
    )


def mqwih(w: Writer, v: Values) -> bytes:
    head = announced(w, "WIH ", 120, v)
    return head + w.text(v["ServiceName"], 32) + w.text(v["ServiceStep"], 8) + v["MsgToken"] + w.text(v["Reserved"], 32)


def mqmd_1(w: Writer, v: Values) -> bytes:
    return (
        w.text("MD  ", 4)
        + w.longs(v["Version"], v["Report"], v["MsgType"], v["Expiry"], v["Feedback"])
        + w.longs(v["Encoding"], v["CodedCharSetId"])
        + w.text(v["Format"], 8)
        + w.longs(v["Priority"], v["Persistence"])
        + v["MsgId"]
        + v["CorrelId"]
        + w.longs(v["BackoutCount"])
        + w.text(v["ReplyToQ"], 48)
        + w.text(v["ReplyToQMgr"], 48)
        + w.text(v["UserIdentifier"], 12)
        + v["AccountingToken"]
        + w.text(v["ApplIdentityData"], 32)
        + w.longs(v["PutApplType"])
        + w.text(v["PutApplName"], 28)
        + w.text(f"{v['PutDate']:%Y%m%d}", 8)
        + w.text(f"{v['PutTime']:%H%M%S}{v['PutTime'].microsecond // 10000:02}", 8)
        + w.text(v["ApplOriginData"], 4)
    )


def mqmd_2(w: Writer, v: Values) -> bytes:
    rest = w.longs(v["MsgSeqNumber"], v["Offset"], v["MsgFlags"], v["OriginalLength"])
    return mqmd_1(w, v) + v["GroupId"] + rest


@dataclass(frozen=True)
class Sample:
    """A header of fixed length: how it is built, its length, and its tree as names and values in order."""

    name: str
    build: Callable[[Writer, Values], bytes]
    length: int
    values: Values

    def bytes(self, encoding: int, ccsid: int, **changed: Any) -> bytes:
        return self.build(Writer(encoding, ccsid), self.values | changed)


def _following(version: int) -> Values:
    return {
        "Version": version,
        "Format": "MQSTR   ",
        "Encoding": 785,
        "CodedCharSetId": 1047,
        "Flags": 3,
    }


CIH_1 = {
    **_following(1),
    "ReturnCode": 6,
    "CompCode": 2,
    "Reason": 2018,
    "UOWControl": 273,
    "GetWaitInterval": -2,
    "LinkType": 1,
    "OutputDataLength": -1,
    "FacilityKeepTime": 30,
    "ADSDescriptor": 17,
    "ConversationalTask": 1,
    "TaskEndStatus": 65536,
    "Facility": TOKEN[:8],
    "Function": "MQGE",
    "AbendCode": "ASRA",
    "Authenticator": "SECRET  ",
    "Reserved1": "        ",
    "ReplyToFormat": "MQCICS  ",
    "RemoteSysId": "SYS1",
    "RemoteTransId": "TRN1",
    "TransactionId": "CKBP",
    "FacilityLike": "TERM",
    "AttentionId": "}   ",
    "StartCode": "S   ",
    "CancelCode": "CANC",
    "NextTransactionId": "NEXT",
    "Reserved2": "        ",
    "Reserved3": "        ",
}
_MD_1 = {
    "Encoding": 785,
    "CodedCharSetId": 500,
    "Format": "MQSTR   ",
    "Version": 1,
    "Report": 0x01000000,
    "MsgType": 1,
    "Expiry": 600,
    "Feedback": -7,
    "Priority": 9,
    "Persistence": 1,
    "MsgId": TOKEN[:24],
    "CorrelId": TOKEN[8:],
    "BackoutCount": 2,
    "ReplyToQ": "REPLY.QUEUE".ljust(48),
    "ReplyToQMgr": "QM1".ljust(48),
    "UserIdentifier": "mqm         ",
    "AccountingToken": TOKEN,
    "ApplIdentityData": "identity".ljust(32),
    "PutApplType": 11,
    "PutApplName": "payroll.exe".ljust(28),
    "PutDate": date(2003, 7, 31),
    "PutTime": time(23, 59, 58, 120000, tzinfo=UTC),
    "ApplOriginData": "orig",
}
SAMPLES = [
    Sample(
        "MQDLH",
        mqdlh,
        172,
        {
            "Version": 1,
            "Format": "MQSTR   ",
            "Encoding": 785,
            "CodedCharSetId": 1047,
            "Reason": 2053,
            "DestQName": "ORDERS.IN".ljust(48),
            "DestQMgrName": "QM.EAST".ljust(48),
            "PutApplType": 6,
            "PutApplName": "amqsput".ljust(28),
            "PutDate": date(2002, 11, 5),
            "PutTime": time(9, 8, 7, 650000, tzinfo=UTC),
        },
    ),
    Sample("MQCIH", mqcih_1, 164, CIH_1),
    Sample(
        "MQCIH",
        mqcih_2,
        180,
        CIH_1 | {"Version": 2, "CursorPosition": 80, "ErrorOffset": 4, "InputItem": 1, "Reserved4": 0},
    ),
    Sample(
        "MQIIH",
        mqiih,
        84,
        {
            **_following(1),
            "LTermOverride": "LTERM01 ",
            "MFSMapName": "MAP1    ",
            "ReplyToFormat": "MQIMSVS ",
            "Authenticator": "PASS    ",
            "TranInstanceId": TOKEN[:16],
            "TranState": "C",
            "CommitMode": "1",
            "SecurityScope": "F",
            "Reserved": " ",
        },
    ),
    Sample(
        "MQMDE",
        mqmde,
        72,
        {
            **_following(2),
            "GroupId": TOKEN[:24],
            "MsgSeqNumber": 7,
            "Offset": 4096,
            "MsgFlags": 24,
            "OriginalLength": 65536,
        },
    ),
    Sample(
        "MQSAPH",
        mqsaph,
        108,
        {
            **_following(1),
            "Client": "100",
            "Language": "E",
            "HostName": "sap.example.com".ljust(48),
            "UserId": "CPIC        ",
            "Password": "INIT    ",
            "SystemNumber": "01",
            "Reserved": b"\1\2",
        },
    ),
    Sample(
        "MQWIH",
        mqwih,
        120,
        {
            **_following(1),
            "ServiceName": "PAYROLL".ljust(32),
            "ServiceStep": "STEP1   ",
            "MsgToken": TOKEN[:16],
            "Reserved": " " * 32,
        },
    ),
    Sample("MQMD", mqmd_1, 324, _MD_1),
    Sample(
        "MQMD",
        mqmd_2,
        364,
        _MD_1
        | {
            "Version": 2,
            "GroupId": TOKEN[:24],
            "MsgSeqNumber": 3,
            "Offset": 128,
            "MsgFlags": 8,
            "OriginalLength": 256,
        },
    ),
]


def tree(name: str, data: bytes, encoding: int, ccsid: int, start: int = 0) -> Element:
    """An element over bytes that a parser is to read."""
    owner = parser_catalog.find(name)
    top = Element(name, "", NAME, Part(owner, Portion(data, start, len(data), Follow("", encoding, ccsid))))
    top.domain = owner
    return top


def built(name: str, values: Values) -> Element:
    """An element as ESQL builds it: one new field after the other."""
    top = Element(name)
    top.domain = parser_catalog.find(name)
    for field, value in values.items():
        top.add(field, value)
    return top


def fields(element: Element) -> Values:
    """The children as names and values, in order."""
    return {child.name: child.value for child in element}


def write(element: Element, encoding: int, ccsid: int, following: Follow | None = None) -> bytes:
    owner = element.owner
    assert isinstance(owner, Parser)
    return owner.write(element, Form(encoding, ccsid, next=following))
