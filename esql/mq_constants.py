"""The constants of MQ that ESQL knows by name, with their values; a format is a CHARACTER of eight, padded."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MQConstant:
    """A constant of MQ, such as MQFMT_STRING."""

    name: str
    value: int | str | bytes

    @property
    def type(self) -> str:
        """Its type in ESQL."""
        return {int: "INTEGER", str: "CHARACTER", bytes: "BLOB"}[type(self.value)]


_FORMATS = {
    "NONE": "",
    "ADMIN": "MQADMIN",
    "CHANNEL_COMPLETED": "MQCHCOM",
    "CICS": "MQCICS",
    "COMMAND_1": "MQCMD1",
    "COMMAND_2": "MQCMD2",
    "DEAD_LETTER_HEADER": "MQDEAD",
    "DIST_HEADER": "MQHDIST",
    "EVENT": "MQEVENT",
    "IMS": "MQIMS",
    "IMS_VAR_STRING": "MQIMSVS",
    "MD_EXTENSION": "MQHMDE",
    "PCF": "MQPCF",
    "REF_MSG_HEADER": "MQHREF",
    "RF_HEADER": "MQHRF",
    "RF_HEADER_1": "MQHRF",
    "RF_HEADER_2": "MQHRF2",
    "STRING": "MQSTR",
    "TRIGGER": "MQTRIG",
    "WORK_INFO_HEADER": "MQHWIH",
    "XMIT_Q_HEADER": "MQXMIT",
}
_NUMBERS = {
    "MQCCSI_DEFAULT": 0,
    "MQCCSI_Q_MGR": 0,
    "MQCCSI_EMBEDDED": -1,
    "MQCCSI_INHERIT": -2,
    "MQEI_UNLIMITED": -1,
    "MQENC_INTEGER_NORMAL": 0x001,
    "MQENC_INTEGER_REVERSED": 0x002,
    "MQENC_DECIMAL_NORMAL": 0x010,
    "MQENC_DECIMAL_REVERSED": 0x020,
    "MQENC_FLOAT_IEEE_NORMAL": 0x100,
    "MQENC_FLOAT_IEEE_REVERSED": 0x200,
    "MQENC_FLOAT_S390": 0x300,
    "MQENC_NATIVE": 0x222,
    "MQFB_NONE": 0,
    "MQFB_QUIT": 256,
    "MQFB_EXPIRATION": 258,
    "MQFB_COA": 259,
    "MQFB_COD": 260,
    "MQFB_PAN": 275,
    "MQFB_NAN": 276,
    "MQMD_VERSION_1": 1,
    "MQMD_VERSION_2": 2,
    "MQMD_CURRENT_VERSION": 2,
    "MQMF_NONE": 0,
    "MQMF_SEGMENTATION_ALLOWED": 1,
    "MQMF_SEGMENT": 2,
    "MQMF_LAST_SEGMENT": 4,
    "MQMF_MSG_IN_GROUP": 8,
    "MQMF_LAST_MSG_IN_GROUP": 16,
    "MQMT_REQUEST": 1,
    "MQMT_REPLY": 2,
    "MQMT_REPORT": 4,
    "MQMT_DATAGRAM": 8,
    "MQPER_NOT_PERSISTENT": 0,
    "MQPER_PERSISTENT": 1,
    "MQPER_PERSISTENCE_AS_Q_DEF": 2,
    "MQPRI_PRIORITY_AS_Q_DEF": -1,
    "MQRFH_VERSION_1": 1,
    "MQRFH_VERSION_2": 2,
    "MQRO_NONE": 0,
    "MQRO_NEW_MSG_ID": 0,
    "MQRO_COPY_MSG_ID_TO_CORREL_ID": 0,
    "MQRO_DEAD_LETTER_Q": 0,
    "MQRO_PAN": 1,
    "MQRO_NAN": 2,
    "MQRO_ACTIVITY": 4,
    "MQRO_PASS_CORREL_ID": 64,
    "MQRO_PASS_MSG_ID": 128,
    "MQRO_COA": 256,
    "MQRO_COA_WITH_DATA": 768,
    "MQRO_COA_WITH_FULL_DATA": 1792,
    "MQRO_COD": 2048,
    "MQRO_COD_WITH_DATA": 6144,
    "MQRO_COD_WITH_FULL_DATA": 14336,
    "MQRO_PASS_DISCARD_AND_EXPIRY": 16384,
    "MQRO_EXPIRATION": 2097152,
    "MQRO_EXPIRATION_WITH_DATA": 6291456,
    "MQRO_EXPIRATION_WITH_FULL_DATA": 14680064,
    "MQRO_EXCEPTION": 16777216,
    "MQRO_EXCEPTION_WITH_DATA": 50331648,
    "MQRO_EXCEPTION_WITH_FULL_DATA": 117440512,
    "MQRO_DISCARD_MSG": 134217728,
}
_IDENTIFIERS = ("MQMI_NONE", "MQCI_NONE", "MQGI_NONE")
MQ_CONSTANTS = (
    *(MQConstant(f"MQFMT_{name}", text.ljust(8)) for name, text in _FORMATS.items()),
    *(MQConstant(name, value) for name, value in _NUMBERS.items()),
    *(MQConstant(name, bytes(24)) for name in _IDENTIFIERS),
)
