"""MQGet: get a further message from a queue in the middle of a flow."""

from __future__ import annotations

import re
import time
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple

from engine.descriptor import PERSISTENT
from engine.errors import BrokerError
from engine.message import Message
from engine.node import UNSUITABLE_VALUE, Range, mandatory, node, prop
from engine.parser import Options, Template
from engine.received import Received, RootDomain, body_of, domain_of, new_root, parse
from engine.sharing import copy, copy_into
from engine.step import Step, step
from engine.tree import Element
from engine.work import Selection

if TYPE_CHECKING:
    from engine.work import Arrival, UnitOfWork

_SYNCPOINT: Final = {"yes": True, "no": False, "automatic": None}
_OK: Final = (0, 0)  # completion code and reason code
_NO_MESSAGE: Final = (2, 2033)
_NAP: Final = 0.01  # seconds between two looks at an empty queue
_BAD_ID: Final = 2230
_PART: Final = r'(?:"[^"]+"|\w+)'
_PATH: Final = re.compile(rf"{_PART}(?:\.{_PART})*")
_INPUT: Final = ("InputRoot", "InputLocalEnvironment")
_OUTPUT: Final = ("OutputRoot", "OutputLocalEnvironment", *_INPUT)  # the manuals' examples use both
_RESULT: Final = ("ResultRoot",)


class _Location(NamedTuple):
    """A place in one of the trees."""

    in_root: bool
    steps: tuple[Step, ...]

    def found(self, tree: Element) -> Element | None:
        """What is there, or None."""
        at: Element | None = tree
        for wanted in self.steps:
            at = None if at is None else at.child(wanted)
        return at

    def made(self, tree: Element) -> Element:
        """What is there, made where it is not."""
        for wanted in self.steps:
            tree = tree.ensure(wanted)
        return tree


def _location(name: str, path: str, trees: tuple[str, ...]) -> _Location:
    parts = re.findall(_PART, path) if _PATH.fullmatch(path) else []
    if not parts or parts[0] not in trees:
        text = f"{name} is a path that begins with {' or '.join(trees)}, not {path!r}"
        raise BrokerError(UNSUITABLE_VALUE, text)
    return _Location(parts[0].endswith("Root"), tuple(step(part.strip('"')) for part in parts[1:]))


@node("MQGet", outputs=("failure", "out", "warning", "noMessage"), category="input")
@dataclass(frozen=True, slots=True)
class MQGet:
    """Get a message from a queue and send on what the input message and it make together.

    Where the queue has none in time, what can be made of the input message alone goes to `noMessage`. Nothing goes to
    `warning`: messages come from queues whole and unconverted, so there is nothing to be warned of.
    """

    queue_name: str = mandatory("The queue that the message is got from.")
    message_domain_property: str = prop("BLOB", "The parser of a body that no mcd folder names one for.")
    message_set_property: str = prop("", "The message set that the body belongs to.")
    message_type_property: str = prop("", "The message of that set.")
    message_format_property: str = prop("", "The wire format of the body.")
    validate_timing: Literal["deferred", "immediate", "complete"] = prop(
        "deferred", "When the body is parsed: when it is looked at, or before it goes out."
    )
    transaction_mode: Literal["automatic", "yes", "no"] = prop(
        "automatic", "Whether the get is part of the unit of work; automatic: if the message is persistent."
    )
    wait_interval: Annotated[int, Range(-1)] = prop(
        1000, "Milliseconds to wait for a message; -1: as long as it takes."
    )
    get_with_msg_id: bool = prop(
        False, "Whether only a message with the input MQMD's MsgId is got.", name="getWithMsgID"
    )
    get_with_correl_id: bool = prop(
        False, "Whether only a message with the input MQMD's CorrelId is got.", name="getWithCorrelID"
    )
    input_mqmd_location: str = prop("InputRoot.MQMD", "Where the ids are that are wanted.", name="inputMQMDLocation")
    generate_mode: Literal["none", "message", "localEnvironment", "messageAndLocalEnvironment"] = prop(
        "none", "Which trees are made anew; the others go on as they came, and nothing that is put there is seen."
    )
    copy_message: Literal["none", "copyHeaders", "copyEntireMessage"] = prop(
        "none", "What of the input message a new message begins with."
    )
    copy_local_env: Literal["none", "copyEntireLocalEnvironment"] = prop(
        "copyEntireLocalEnvironment", "What of the input LocalEnvironment a new one begins with."
    )
    output_data_location: str = prop("OutputRoot", "Where what is got is put.")
    result_data_location: str = prop("ResultRoot", "What of the message that is got is put there.")
    output_mq_parms_location: str = prop(
        "OutputLocalEnvironment.MQ.GET",
        "Where the completion code CC and the reason RC are put.",
        name="outputMQParmsLocation",
    )

    _wanted: _Location = field(init=False, repr=False)
    _target: _Location = field(init=False, repr=False)
    _source: _Location = field(init=False, repr=False)
    _codes: _Location = field(init=False, repr=False)

    def __post_init__(self) -> None:
        target = _location("outputDataLocation", self.output_data_location, _OUTPUT)
        source = _location("resultDataLocation", self.result_data_location, _RESULT)
        codes = _location("outputMQParmsLocation", self.output_mq_parms_location, _OUTPUT[1:2] + _OUTPUT[3:])
        if source.steps and not target.steps:
            text = f"{self.result_data_location} cannot be a whole {self.output_data_location}: name a place in it"
            raise BrokerError(UNSUITABLE_VALUE, text)
        object.__setattr__(self, "_wanted", _location("inputMQMDLocation", self.input_mqmd_location, _INPUT))
        object.__setattr__(self, "_target", target)
        object.__setattr__(self, "_source", source)
        object.__setattr__(self, "_codes", codes)

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        arrival = self._got(work, self._selection(message))
        if arrival is None:
            yield "noMessage", self._made(message, None, _NO_MESSAGE)
            return
        result = self._received(arrival, domain_of(message.root)).root()
        if self.validate_timing != "deferred":
            parse(result, whole=self.validate_timing == "complete")
        yield "out", self._made(message, result, _OK)

    def _got(self, work: UnitOfWork, selection: Selection | None) -> Arrival | None:
        """The next message, as soon as there is one in the time that the node waits."""
        end = time.monotonic() + self.wait_interval / 1000
        while True:
            arrival = work.get(self.queue_name, selection, syncpoint=_SYNCPOINT[self.transaction_mode])
            if arrival is not None or (self.wait_interval >= 0 and time.monotonic() >= end):
                return arrival
            time.sleep(_NAP)

    def _selection(self, message: Message) -> Selection | None:
        if not (self.get_with_msg_id or self.get_with_correl_id):
            return None
        tree = message.root if self._wanted.in_root else message.local_environment
        wanted = self._wanted.found(tree)
        return Selection(
            _id(wanted, "MsgId") if self.get_with_msg_id else b"",
            _id(wanted, "CorrelId") if self.get_with_correl_id else b"",
        )

    def _received(self, arrival: Arrival, domain: RootDomain) -> Received:
        persistent = arrival.descriptor.persistence == PERSISTENT
        received = Received(
            arrival.descriptor,
            arrival.body,
            template=Template(
                self.message_domain_property,
                self.message_set_property,
                self.message_type_property,
                self.message_format_property,
            ),
            options=Options(timing=self.validate_timing),
            queue=self.queue_name,
            transactional=persistent if self.transaction_mode == "automatic" else self.transaction_mode == "yes",
        )
        received.domain = domain
        return received

    def _made(self, message: Message, result: Element | None, codes: tuple[int, int]) -> Message:
        """What goes out: the trees that are to be made anew, with what was got in its place."""
        root = environment = None
        if self.generate_mode in {"message", "messageAndLocalEnvironment"}:
            root = self._new_root(message)
            if result is not None and self._target.in_root:
                root = result if not self._target.steps else self._put(root, result)
        if self.generate_mode in {"localEnvironment", "messageAndLocalEnvironment"}:
            whole = self.copy_local_env != "none"
            environment = copy(message.local_environment) if whole else Element("LocalEnvironment")
            said = self._codes.made(environment)
            for name, code in zip(("CC", "RC"), codes, strict=True):
                said.ensure(step(name)).value = code
            if result is not None and not self._target.in_root:
                self._put(environment, result)
        return message.replaced(root=root, local_environment=environment)

    def _new_root(self, message: Message) -> Element:
        if self.copy_message == "none":
            return new_root(message.root)
        root = copy(message.root)
        body = body_of(root) if self.copy_message == "copyHeaders" else None
        if body is not None:
            body.detach()
        return root

    def _put(self, tree: Element, result: Element) -> Element:
        source = self._source.found(result)
        if source is None:
            text = (
                f"the message got from {self.queue_name} has no {self.result_data_location}: correct resultDataLocation"
            )
            raise BrokerError(UNSUITABLE_VALUE, text, self.queue_name)
        copy_into(self._target.made(tree), source)
        return tree


def _id(folder: Element | None, name: str) -> bytes:
    """An id that is wanted; where there is none, any is."""
    found = None if folder is None else folder.at(name)
    if found is None or found.value is None:
        return b""
    if not isinstance(found.value, bytes):
        raise BrokerError(_BAD_ID, f"the {name} that is wanted is {found.value!r:.60}, which is no BLOB: CAST it")
    return found.value
