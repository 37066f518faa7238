"""Options that nodes of queues share: names of queues, properties, and how these or an MQGMO have a message got."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal, NamedTuple

from engine.descriptor import LITTLE_ENDIAN, is_encoding
from engine.errors import BrokerError, MessageException
from engine.message.validation import ACTION_WORDS, Action, Master
from engine.node import UNSUITABLE_VALUE, Pattern, Range, mandatory, prop
from engine.parser import Options, Template, parser_catalog
from engine.tree.element import Element
from engine.tree.step import step
from engine.work import Selection

UNKNOWN_OBJECT_NAME: Final = 2085
# MQ's own names have letters, digits and ._/% alone; flows that are tried at a desk first may have others.
_IN_WORDS: Final = "the name of a {}: up to 48 ASCII characters, with no blank and no '*' among them"
_CHARACTERS: Final = "[!-)+-~]"
QUEUE_NAME: Final = Pattern(f"{_CHARACTERS}{{1,48}}", _IN_WORDS.format("queue"))
QUEUE_NAME_OR_NONE: Final = Pattern(f"{_CHARACTERS}{{0,48}}", _IN_WORDS.format("queue"))
QUEUE_MANAGER: Final = Pattern(f"{_CHARACTERS}{{1,48}}", _IN_WORDS.format("queue manager"))
QUEUE_MANAGER_OR_NONE: Final = Pattern(f"{_CHARACTERS}{{0,48}}", _IN_WORDS.format("queue manager"))

Retention = Literal["none", "all"]


def check_queue_name(queue: str, where: str) -> None:
    """Refuse what is no queue's name; `where` a message has it."""
    if not re.fullmatch(QUEUE_NAME.regex, queue):
        raise MessageException(
            UNKNOWN_OBJECT_NAME, f"{where} is {QUEUE_NAME.words}, not {queue!r:.60}", queue, reason=UNKNOWN_OBJECT_NAME
        )


@dataclass(frozen=True, slots=True)
class QueueReader:
    """The properties that nodes have which get messages from a queue: how bodies are parsed, converted, and browsed."""

    queue_name: Annotated[str, QUEUE_NAME] = mandatory("The queue that messages are got from.")
    message_domain_property: str = prop("BLOB", "The parser of bodies that no mcd folder names one for.")
    message_set_property: str = prop("", "The message set that the body belongs to.")
    message_type_property: str = prop("", "The message of that set.")
    message_format_property: str = prop("", "The wire format of the body.")
    validate_master: Master = prop("none", "What of the body is validated by its message set, when it is parsed.")
    validate_failure_action: Action = prop("exception", ACTION_WORDS)
    validate_timing: Literal["deferred", "immediate", "complete"] = prop(
        "deferred", "When the body is parsed: when it is looked at, or before it goes out."
    )
    parser_xmlnsc_mixed_content_retain_mode: Retention = prop("none", "Whether XMLNSC keeps text beside elements.")
    parser_xmlnsc_comments_retain_mode: Retention = prop("none", "Whether XMLNSC keeps comments.")
    parser_xmlnsc_processing_instructions_retain_mode: Retention = prop(
        "none", "Whether XMLNSC keeps processing instructions."
    )
    parser_xmlnsc_use_for_xmlns_domain: bool = prop(
        False, "Whether bodies of the XMLNS domain are read by XMLNSC, and stand under its name."
    )
    convert_encoding: Annotated[int, Range(0, 2**31 - 1)] = prop(LITTLE_ENDIAN, "The encoding to convert to.")
    convert_coded_char_set_id: Annotated[int, Range(0, 2**31 - 1)] = prop(0, "The CCSID to convert to; 0: 1208, UTF-8.")
    browse: bool = prop(False, "Whether messages are only looked at, one after the other, and stay where they are.")
    reset_browse_timeout: Annotated[int, Range(-1)] = prop(
        -1, "Milliseconds without a message after which browsing begins anew; -1: it does not."
    )

    _template: Template = field(init=False, repr=False)
    _options: Options = field(init=False, repr=False)

    def __post_init__(self) -> None:
        domain = self.message_domain_property
        if domain and parser_catalog.get(domain) is None:
            text = f"messageDomainProperty names no parser: {domain}{parser_catalog.suggest(domain)}"
            raise BrokerError(UNSUITABLE_VALUE, text)
        if not is_encoding(self.convert_encoding):
            text = f"convertEncoding {self.convert_encoding} is no MQ encoding: 546 is little endian, 273 big endian"
            raise BrokerError(UNSUITABLE_VALUE, text)
        if self.reset_browse_timeout >= 0 and not self.browse:
            raise BrokerError(UNSUITABLE_VALUE, "resetBrowseTimeout is for browsing: set browse, or leave it at -1")
        template = Template(domain, self.message_set_property, self.message_type_property, self.message_format_property)
        options = Options(
            validation=self.validate_master,
            timing=self.validate_timing,
            action=self.validate_failure_action,
            retain_mixed_content=self.parser_xmlnsc_mixed_content_retain_mode == "all",
            retain_comments=self.parser_xmlnsc_comments_retain_mode == "all",
            retain_processing_instructions=self.parser_xmlnsc_processing_instructions_retain_mode == "all",
            instead=("XMLNS", "XMLNSC") if self.parser_xmlnsc_use_for_xmlns_domain else ("", ""),
        )
        object.__setattr__(self, "_template", template)
        object.__setattr__(self, "_options", options)


# MQGMO.Options, as MQ numbers them
WAIT: Final = 1
SYNCPOINT: Final = 2
NO_SYNCPOINT: Final = 4
ACCEPT_TRUNCATED_MSG: Final = 64
SYNCPOINT_IF_PERSISTENT: Final = 4096
FAIL_IF_QUIESCING: Final = 8192
CONVERT: Final = 16384
LOGICAL_ORDER: Final = 32768
COMPLETE_MSG: Final = 65536
ALL_MSGS_AVAILABLE: Final = 131072
_KNOWN: Final = (
    *(WAIT, SYNCPOINT, NO_SYNCPOINT, ACCEPT_TRUNCATED_MSG, SYNCPOINT_IF_PERSISTENT, FAIL_IF_QUIESCING),
    *(CONVERT, LOGICAL_ORDER, COMPLETE_MSG, ALL_MSGS_AVAILABLE),
)
_SYNCPOINTS: Final = {"yes": SYNCPOINT, "no": NO_SYNCPOINT, "automatic": SYNCPOINT_IF_PERSISTENT}

# MQGMO.MatchOptions
MATCH_MSG_ID: Final = 1
MATCH_CORREL_ID: Final = 2
MATCH_GROUP_ID: Final = 4

OPTIONS_ERROR: Final = 2046
_MATCHES: Final = MATCH_MSG_ID | MATCH_CORREL_ID | MATCH_GROUP_ID


class Getting(NamedTuple):
    """The options of a get, as MQGMO has them; `wait` is in milliseconds, -1 as long as it takes."""

    options: int = 0
    wait: int = 0
    match: int = 0

    @classmethod
    def of(cls, transaction_mode: str, wait: int, *, by_msg_id: bool, by_correl_id: bool, convert: bool) -> Getting:
        """Returns what properties ask for.

        >>> Getting.of("yes", 0, by_msg_id=True, by_correl_id=False, convert=False)
        Getting(options=65538, wait=0, match=1)
        """
        options = _SYNCPOINTS[transaction_mode] | (WAIT if wait else 0) | (CONVERT if convert else 0)
        if transaction_mode != "automatic":
            options |= COMPLETE_MSG
        return cls(options, wait, (MATCH_MSG_ID if by_msg_id else 0) | (MATCH_CORREL_ID if by_correl_id else 0))

    def overridden(self, mqgmo: Element | None) -> Getting:
        """The same as an MQGMO folder has it; Options, where they are given, stand for all."""
        if mqgmo is None:
            return self
        return Getting(
            _number(mqgmo, "Options", self.options, sum(_KNOWN)),
            _number(mqgmo, "WaitInterval", self.wait, 2**31 - 1),
            _number(mqgmo, "MatchOptions", self.match, _MATCHES),
        )

    @property
    def milliseconds(self) -> int:
        """Returns how long it waits; -1 as long as it takes."""
        return self.wait if self.options & WAIT else 0

    @property
    def syncpoint(self) -> bool | None:
        """Returns whether the get is part of the unit of work; None: if the message is persistent."""
        if self.options & SYNCPOINT:
            return True
        return None if self.options & SYNCPOINT_IF_PERSISTENT else False

    def selection(self, ids: tuple[bytes, bytes, bytes], *, browse: bool, rewind: float) -> Selection | None:
        """Returns which message is wanted, by its message, correlation and group ids; empty ones do not count."""
        msg_id, correl_id, group_id = ids
        logical, whole = bool(self.options & LOGICAL_ORDER), bool(self.options & ALL_MSGS_AVAILABLE)
        if not (msg_id or correl_id or group_id or logical or whole or browse):
            return None
        return Selection(msg_id, correl_id, group_id, logical=logical, whole_groups=whole, browse=browse, rewind=rewind)

    def written(self, above: Element) -> None:
        """Say below an element what was asked for."""
        folder = above.ensure(step("MQGMO"))
        for name, value in (("Options", self.options), ("WaitInterval", self.wait), ("MatchOptions", self.match)):
            folder.ensure(step(name)).value = value


def _number(mqgmo: Element, name: str, otherwise: int, known: int) -> int:
    field = mqgmo.at(name)
    if field is None or field.value is None:
        return otherwise
    value = field.value
    fits = isinstance(value, int) and not isinstance(value, bool)
    fits = fits and (-1 <= value <= known if name == "WaitInterval" else value >= 0 and not value & ~known)  # type: ignore[operator]
    if not fits:
        text = (
            f"MQGMO.{name} is {value!r:.60}, which asks for what is not there: use the node's properties, or correct it"
        )
        raise BrokerError(OPTIONS_ERROR, text, name)
    assert isinstance(value, int)
    return value
