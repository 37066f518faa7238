"""Options that name messages by their ids, as hexadecimal digits."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Final

import typer

from engine.errors import ConfigurationException

if TYPE_CHECKING:
    from engine.work import Selection

MsgId = Annotated[str, typer.Option("--msg-id", metavar="HEX", help="Only messages with this message id.")]
CorrelId = Annotated[str, typer.Option("--correl-id", metavar="HEX", help="Only messages with this correlation id.")]
GroupId = Annotated[str, typer.Option("--group-id", metavar="HEX", help="Only messages of this group.")]
Selector = Annotated[
    str, typer.Option("--selector", metavar="CONDITION", help="Only messages that fit, such as \"colour = 'red'\".")
]
_LENGTH: Final = 24


def identifier(name: str, digits: str) -> bytes:
    """Returns an id that an option gives; a short one is filled with zeros.

    >>> identifier("msg_id", "0aFF")[:3].hex()
    '0aff00'
    """
    option = f"--{name.replace('_', '-')}"
    if len(digits) > 2 * _LENGTH or not re.fullmatch("([0-9a-fA-F]{2})*", digits):
        raise ConfigurationException(
            f"{option} {digits:.60} is no id: it is up to {2 * _LENGTH} hexadecimal digits, two for each byte"
        )
    return bytes.fromhex(digits).ljust(_LENGTH, b"\0")


def selection(msg_id: str, correl_id: str, group_id: str, selector: str) -> Selection:
    """Returns what the options select."""
    from engine.work import Selection

    return Selection(
        identifier("msg_id", msg_id) if msg_id else b"",
        identifier("correl_id", correl_id) if correl_id else b"",
        identifier("group_id", group_id) if group_id else b"",
        selector=selector,
    )
