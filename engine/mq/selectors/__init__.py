"""Selectors: the conditional subset of SQL-92 that JMS and MQ have, compiled once and asked of each message."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from engine.descriptor import NO_ID, Descriptor
from engine.mq.selectors.compiling import compiled
from engine.mq.selectors.lexer import SELECTOR_SYNTAX_ERROR
from engine.mq.selectors.names import Evaluation, Properties
from engine.mq.selectors.parser import parse
from engine.mq.selectors.syntax import And, Comparison, Expression, Identifier, Literal

__all__ = ["SELECTOR_SYNTAX_ERROR", "Properties", "Selector", "compile_selector"]

_ID: Final = re.compile("ID:([0-9a-fA-F]{48})")
_BY_ID: Final = {
    "JMSMessageID": "msg_id",
    "Root.MQMD.MsgId": "msg_id",
    "JMSCorrelationID": "correl_id",
    "Root.MQMD.CorrelId": "correl_id",
    "JMSXGroupID": "group_id",
    "Root.MQMD.GroupId": "group_id",
}


@dataclass(frozen=True, slots=True)
class Selector:
    """A compiled selector; the ids are those that every message it selects has, so that an index can find them."""

    text: str
    evaluate: Evaluation
    msg_id: bytes = b""
    correl_id: bytes = b""
    group_id: bytes = b""

    def __call__(self, descriptor: Descriptor, properties: Properties) -> bool | None:
        """Returns True where the message is selected, False or None (unknown) where it is not."""
        value = self.evaluate(descriptor, properties)
        return value if isinstance(value, bool) else None


@lru_cache(maxsize=512)
def compile_selector(text: str) -> Selector:
    """Returns the selector of a text; one that is empty selects every message, a wrong one is refused with 2459.

    >>> wanted = compile_selector("colour IN ('red', 'blue') AND JMSPriority >= 4")
    >>> wanted(Descriptor(priority=5), lambda: {"colour": "red"}), wanted(Descriptor(priority=5), dict)
    (True, None)
    """
    if not text.strip():
        return Selector(text, lambda _, __: True)
    expression = parse(text)
    return Selector(text, compiled(expression, text), **_ids(expression))


def _ids(expression: Expression) -> dict[str, bytes]:
    """Returns the ids that a message must have to be selected."""
    match expression:
        case And(operands=operands):
            found: dict[str, bytes] = {}
            for operand in reversed(operands):
                found |= _ids(operand)
            return found
        case (
            Comparison(operator="=", left=Identifier(name=name), right=Literal(value=value))
            | Comparison(operator="=", left=Literal(value=value), right=Identifier(name=name))
        ) if name in _BY_ID:
            wanted = _as_bytes(name, value)
            return {_BY_ID[name]: wanted} if wanted not in {b"", NO_ID} else {}
    return {}


def _as_bytes(name: str, value: object) -> bytes:
    """Returns the id that a constant spells, or nothing where it spells none."""
    if name.startswith("Root."):
        return value if isinstance(value, bytes) and len(value) == len(NO_ID) else b""
    spelled = _ID.fullmatch(value) if isinstance(value, str) else None
    return bytes.fromhex(spelled[1]) if spelled is not None else b""
