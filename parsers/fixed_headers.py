"""Headers that one layout describes whole: their bytes are its fields, and nothing follows within the header."""

from __future__ import annotations

from typing import Final

from engine.parser import parser
from parsers.headers.fields import byte, char, long, put_date, put_time
from parsers.headers.layout import ANNOUNCING, LaidOut, lay_out

_ONLY: Final = 0x111  # MQCUOWC_ONLY
_AS_DEFAULT: Final = -2  # MQCGWI_DEFAULT
_PROGRAM: Final = 1  # MQCLT_PROGRAM
_AS_INPUT: Final = -1  # MQCODL_AS_INPUT


@parser
class MqCih(LaidOut):
    """MQCIH, the CICS information header: what the CICS bridge is told, and says, of a transaction or program.

    It has 164 bytes in version 1, 180 in version 2.
    """

    __slots__ = ()
    name = "MQCIH"
    formats = ("MQCICS",)
    # Encoding and CodedCharSetId are reserved and zero: what follows is in the form of the header itself.
    layout = lay_out(
        "MQCIH",
        "CIH ",
        (
            *ANNOUNCING,
            long("ReturnCode"),
            long("CompCode"),
            long("Reason"),
            long("UOWControl", _ONLY),
            long("GetWaitInterval", _AS_DEFAULT),
            long("LinkType", _PROGRAM),
            long("OutputDataLength", _AS_INPUT),
            long("FacilityKeepTime"),
            long("ADSDescriptor"),
            long("ConversationalTask"),
            long("TaskEndStatus"),
            byte("Facility", 8),
            char("Function", 4),
            char("AbendCode", 4),
            char("Authenticator", 8),
            char("Reserved1", 8),
            char("ReplyToFormat", 8),
            char("RemoteSysId", 4),
            char("RemoteTransId", 4),
            char("TransactionId", 4),
            char("FacilityLike", 4),
            char("AttentionId", 4),
            char("StartCode", 4),
            char("CancelCode", 4),
            char("NextTransactionId", 4),
            char("Reserved2", 8),
            char("Reserved3", 8),
        ),
        (
            long("CursorPosition"),
            long("ErrorOffset"),
            long("InputItem"),
            long("Reserved4"),
        ),
        announces=("Format",),
    )


@parser
class MqDlh(LaidOut):
    """MQDLH, the dead-letter header: why a message could not be delivered, and where it was to go.

    It has 172 bytes.
    """

    __slots__ = ()
    name = "MQDLH"
    formats = ("MQDEAD",)
    layout = lay_out(
        "MQDLH",
        "DLH ",
        (
            long("Reason"),
            char("DestQName", 48),
            char("DestQMgrName", 48),
            long("Encoding"),
            long("CodedCharSetId"),
            char("Format", 8),
            long("PutApplType"),
            char("PutApplName", 28),
            put_date("PutDate"),
            put_time("PutTime"),
        ),
    )


@parser
class MqIih(LaidOut):
    """MQIIH, the IMS information header: what the IMS bridge is told, and says, of a transaction.

    It has 84 bytes; MQIMSVS announces an IMS message without one.
    """

    __slots__ = ()
    name = "MQIIH"
    formats = ("MQIMS",)
    # Encoding and CodedCharSetId are reserved and zero: what follows is in the form of the header itself.
    layout = lay_out(
        "MQIIH",
        "IIH ",
        (
            *ANNOUNCING,
            char("LTermOverride", 8),
            char("MFSMapName", 8),
            char("ReplyToFormat", 8),
            char("Authenticator", 8),
            byte("TranInstanceId", 16),
            char("TranState", 1),
            char("CommitMode", 1, "0"),
            char("SecurityScope", 1, "C"),
            char("Reserved", 1),
        ),
        announces=("Format",),
    )


@parser
class MqMde(LaidOut):
    """MQMDE, the message descriptor extension: what version 2 of an MQMD has, beside one of version 1.

    It has 72 bytes; its only version is 2.
    """

    __slots__ = ()
    name = "MQMDE"
    formats = ("MQHMDE",)
    layout = lay_out(
        "MQMDE",
        "MDE ",
        (
            *ANNOUNCING,
            byte("GroupId", 24),
            long("MsgSeqNumber", 1),
            long("Offset"),
            long("MsgFlags"),
            long("OriginalLength", -1),
        ),
        first=2,
    )


@parser
class MqSaph(LaidOut):
    """MQSAPH, the header of MQSeries link for R/3: which SAP system an IDoc goes to, and as whom.

    It has 108 bytes.
    """

    __slots__ = ()
    name = "MQSAPH"
    formats = ("MQHSAP",)
    layout = lay_out(
        "MQSAPH",
        "SAPH",
        (
            *ANNOUNCING,
            char("Client", 3),
            char("Language", 1),
            char("HostName", 48),
            char("UserId", 12),
            char("Password", 8),
            char("SystemNumber", 2),
            byte("Reserved", 2),
        ),
    )


@parser
class MqWih(LaidOut):
    """MQWIH, the work information header: which service the z/OS workload manager is to give a message to.

    It has 120 bytes.
    """

    __slots__ = ()
    name = "MQWIH"
    formats = ("MQHWIH",)
    layout = lay_out(
        "MQWIH",
        "WIH ",
        (
            *ANNOUNCING,
            char("ServiceName", 32),
            char("ServiceStep", 8),
            byte("MsgToken", 16),
            char("Reserved", 32),
        ),
    )
