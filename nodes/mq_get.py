"""MQGet: get a further message from a queue in the middle of a flow."""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple

from engine.descriptor import NO_ID, PERSISTENT, UTF_8, Descriptor
from engine.errors import BrokerError, ConversionException
from engine.flow.queue_options import (
    ACCEPT_TRUNCATED_MSG,
    CONVERT,
    MATCH_CORREL_ID,
    MATCH_GROUP_ID,
    MATCH_MSG_ID,
    Getting,
    QueueReader,
)
from engine.message.assembly import Message
from engine.message.received import Received, body_of, domain_of, new_root, parse
from engine.node import UNSUITABLE_VALUE, Range, node, prop
from engine.parser import NO_TEMPLATE, conversion_catalog, format_catalog
from engine.tree.element import Element
from engine.tree.sharing import copy, copy_into
from engine.tree.step import Step, step
from engine.work import Arrival

if TYPE_CHECKING:
    from engine.work import UnitOfWork

_OK: Final = (0, 0)  # completion code and reason code
_NO_MESSAGE: Final = (2, 2033)
_TRUNCATED: Final = (1, 2079)
_WARNED: Final = 1
_BAD_ID: Final = 2230
_PART: Final = r'(?:"[^"]+"|\w+)'
_PATH: Final = re.compile(rf"{_PART}(?:\.{_PART})*")
_INPUT: Final = ("InputRoot", "InputLocalEnvironment")
_OUTPUT: Final = ("OutputRoot", "OutputLocalEnvironment", *_INPUT)  # the manuals' examples use both
_RESULT: Final = ("ResultRoot",)
_IDS: Final = ("MsgId", "CorrelId", "GroupId")


class _Location(NamedTuple):
    """A place in one of the trees."""

    in_root: bool
    steps: tuple[Step, ...]

    def found(self, tree: Element) -> Element | None:
        """Returns what is there, or None."""
        at: Element | None = tree
        for wanted in self.steps:
            at = None if at is None else at.child(wanted)
        return at

    def made(self, tree: Element) -> Element:
        """Returns what is there, made where it is not."""
        for wanted in self.steps:
            tree = tree.ensure(wanted)
        return tree


def _location(name: str, path: str, trees: tuple[str, ...]) -> _Location:
    parts = re.findall(_PART, path) if _PATH.fullmatch(path) else []
    if not parts or parts[0] not in trees:
        text = f"{name} is a path that begins with {' or '.join(trees)}, not {path!r}"
        raise BrokerError(UNSUITABLE_VALUE, text)
    return _Location(parts[0].endswith("Root"), tuple(step(part.strip('"')) for part in parts[1:]))


class _Got(NamedTuple):
    """The result of a get: its codes, its options, and the message, if there is one."""

    codes: tuple[int, int]
    options: Getting
    ids: tuple[bytes, bytes, bytes]
    result: Element | None = None


@node("MQGet", outputs=("failure", "out", "warning", "noMessage"), category="input")
@dataclass(frozen=True, slots=True)
class MQGet(QueueReader):
    """Get a message from a queue and send on what the input message and it make together.

    Where the queue has none in time, what can be made of the input message alone goes to `noMessage`. A message that
    cannot be converted, or is cut because an MQGMO accepts that, goes to `warning` with its body as a BLOB. Where
    nothing is wired to these two, the flow ends there.

    An MQGMO at inputMQParmsLocation says by its Options, WaitInterval and MatchOptions what the properties do not.
    """

    transaction_mode: Literal["automatic", "yes", "no"] = prop(
        "automatic", "Whether the get is part of the unit of work; automatic: if the message is persistent."
    )
    wait_interval: Annotated[int, Range(-1)] = prop(
        1000, "Milliseconds to wait for a message; -1: as long as it takes."
    )
    minimum_get_buffer_size: Annotated[int, Range(1, 102400)] = prop(
        4, "Kilobytes of the buffer; what is longer is cut where an MQGMO says MQGMO_ACCEPT_TRUNCATED_MSG."
    )
    get_with_msg_id: bool = prop(
        False, "Whether only a message with the input MQMD's MsgId is got.", name="getWithMsgID"
    )
    get_with_correl_id: bool = prop(
        False, "Whether only a message with the input MQMD's CorrelId is got.", name="getWithCorrelID"
    )
    use_complete_input_mqmd: bool = prop(
        False,
        "Whether all of the input MQMD counts: both ids, and CodedCharSetId and Encoding for conversion.",
        name="useCompleteInputMQMD",
    )
    convert: bool = prop(False, "Whether the message is converted as it is got; where that fails, it is a warning.")
    input_mqmd_location: str = prop("InputRoot.MQMD", "Where the ids are that are wanted.", name="inputMQMDLocation")
    input_mq_parms_location: str = prop(
        "InputLocalEnvironment.MQ.GET", "Where an MQGMO may be that says how to get.", name="inputMQParmsLocation"
    )
    generate_mode: Literal["none", "message", "localEnvironment", "messageAndLocalEnvironment"] = prop(
        "message", "Which trees are made anew; the others go on as they came, and nothing that is put there is seen."
    )
    copy_message: Literal["none", "copyHeaders", "copyEntireMessage"] = prop(
        "none", "What of the input message a new message begins with."
    )
    copy_local_env: Literal["none", "copyEntireLocalEnvironment"] = prop(
        "copyEntireLocalEnvironment", "What of the input LocalEnvironment a new one begins with."
    )
    output_data_location: str = prop("OutputRoot", "Where what is got is put.")
    result_data_location: str = prop("ResultRoot", "What of the message that is got is put there.")
    warning_data_location: str = prop("OutputRoot", "Where a message with a warning is put, whole.")
    output_mq_parms_location: str = prop(
        "OutputLocalEnvironment.MQ.GET",
        "Where the completion code CC and the reason RC are put, and what was asked for where an MQGMO or MQMD was.",
        name="outputMQParmsLocation",
    )

    _wanted: _Location = field(init=False, repr=False)
    _target: _Location = field(init=False, repr=False)
    _source: _Location = field(init=False, repr=False)
    _codes: _Location = field(init=False, repr=False)
    _warned: _Location = field(init=False, repr=False)
    _given: _Location = field(init=False, repr=False)
    _own: Getting = field(init=False, repr=False)

    def __post_init__(self) -> None:
        QueueReader.__post_init__(self)
        target = _location("outputDataLocation", self.output_data_location, _OUTPUT)
        source = _location("resultDataLocation", self.result_data_location, _RESULT)
        if source.steps and not target.steps:
            text = f"{self.result_data_location} cannot be a whole {self.output_data_location}: name a place in it"
            raise BrokerError(UNSUITABLE_VALUE, text)
        whole = self.use_complete_input_mqmd
        own = Getting.of(
            self.transaction_mode,
            self.wait_interval,
            by_msg_id=self.get_with_msg_id or whole,
            by_correl_id=self.get_with_correl_id or whole,
            convert=self.convert,
        )
        for name, value in {
            "_target": target,
            "_source": source,
            "_warned": _location("warningDataLocation", self.warning_data_location, _OUTPUT),
            "_wanted": _location("inputMQMDLocation", self.input_mqmd_location, _INPUT),
            "_given": _location("inputMQParmsLocation", self.input_mq_parms_location, _INPUT[1:]),
            "_codes": _location(
                "outputMQParmsLocation", self.output_mq_parms_location, ("OutputLocalEnvironment", _INPUT[1])
            ),
            "_own": own,
        }.items():
            object.__setattr__(self, name, value)

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        got = self._got(message, work)
        terminal = "noMessage" if got.result is None else "warning" if got.codes[0] == _WARNED else "out"
        if got.result is not None and terminal == "out" and self.validate_timing != "deferred":
            parse(got.result, whole=self.validate_timing == "complete")
        yield terminal, self._made(message, got)

    def _got(self, message: Message, work: UnitOfWork) -> _Got:
        """Get the message, with what there is to be warned of."""
        parms = self._given.found(message.local_environment)
        options = self._own.overridden(None if parms is None else parms.at("MQGMO"))
        wanted = self._wanted.found(message.root if self._wanted.in_root else message.local_environment)
        ids = _ids(wanted, options.match)
        selection = options.selection(ids, browse=self.browse, rewind=self.reset_browse_timeout / 1000)
        wait = options.milliseconds / 1000
        arrival = work.get(self.queue_name, selection, syncpoint=options.syncpoint, wait=wait)
        if arrival is None:
            return _Got(_NO_MESSAGE, options, ids)
        codes, (descriptor, body) = _OK, arrival
        if options.options & CONVERT:
            codes, (descriptor, body) = self._converted(arrival, wanted)
        if options.options & ACCEPT_TRUNCATED_MSG and len(body) > self.minimum_get_buffer_size * 1024:
            codes, body = _TRUNCATED, body[: self.minimum_get_buffer_size * 1024]
        received = self._received(descriptor, body, options, is_whole=codes == _OK)
        received.domain = domain_of(message.root)
        return _Got(codes, options, ids, received.root())

    def _converted(self, arrival: Arrival, wanted: Element | None) -> tuple[tuple[int, int], Arrival]:
        """The message in the encoding and CCSID that are wanted; as it is, and why, where it cannot be."""
        encoding, ccsid = self.convert_encoding, self.convert_coded_char_set_id or UTF_8
        if self.use_complete_input_mqmd:
            encoding, ccsid = _number(wanted, "Encoding", encoding), _number(wanted, "CodedCharSetId", ccsid)
        try:
            return _OK, Arrival(*conversion_catalog.find("get")(*arrival, encoding, ccsid))
        except ConversionException as error:
            return (_WARNED, error.number), arrival

    def _received(self, descriptor: Descriptor, body: bytes, options: Getting, *, is_whole: bool) -> Received:
        syncpoint = options.syncpoint
        if not is_whole and format_catalog.get(descriptor.format) is not None:
            descriptor = descriptor._replace(format="")  # its headers are bytes like all of it
        return Received(
            descriptor,
            body,
            template=self._template if is_whole else NO_TEMPLATE,
            options=self._options,
            queue=self.queue_name,
            transactional=descriptor.persistence == PERSISTENT if syncpoint is None else syncpoint,
        )

    def _made(self, message: Message, got: _Got) -> Message:
        """Returns what goes out: the trees that are to be made anew, with what was got in its place."""
        root = environment = None
        result, target = got.result, self._warned if got.codes[0] == _WARNED else self._target
        if self.generate_mode in {"message", "messageAndLocalEnvironment"}:
            root = self._new_root(message)
            if result is not None and target.in_root:
                root = result if not target.steps else self._put(root, got, target)
        if self.generate_mode in {"localEnvironment", "messageAndLocalEnvironment"}:
            whole = self.copy_local_env != "none"
            environment = copy(message.local_environment) if whole else Element("LocalEnvironment")
            if result is not None and not target.in_root:
                self._put(environment, got, target)
            self._say(message, environment, got)
        return message.replaced(root=root, local_environment=environment)

    def _say(self, message: Message, environment: Element, got: _Got) -> None:
        """Put the codes into a LocalEnvironment, and what was asked for where the input says something of that."""
        said = self._codes.made(environment)
        for name, code in zip(("CC", "RC"), got.codes, strict=True):
            said.ensure(step(name)).value = code
        given = self._given.found(message.local_environment)
        if given is not None and given.at("MQGMO") is not None:
            got.options.written(said)
        if given is not None and given.at("MQMD") is not None:
            folder = said.ensure(step("MQMD"))
            for name, one in zip(_IDS, got.ids, strict=True):
                folder.ensure(step(name)).value = one or NO_ID

    def _new_root(self, message: Message) -> Element:
        if self.copy_message == "none":
            return new_root(message.root)
        root = copy(message.root)
        body = body_of(root) if self.copy_message == "copyHeaders" else None
        if body is not None:
            body.detach()
        return root

    def _put(self, tree: Element, got: _Got, target: _Location) -> Element:
        assert got.result is not None
        source = got.result if got.codes[0] == _WARNED else self._source.found(got.result)
        if source is None:
            text = (
                f"the message got from {self.queue_name} has no {self.result_data_location}: correct resultDataLocation"
            )
            raise BrokerError(UNSUITABLE_VALUE, text, self.queue_name)
        copy_into(target.made(tree), source)
        return tree


def _ids(folder: Element | None, match: int) -> tuple[bytes, bytes, bytes]:
    """The ids that are wanted; those that do not count are not looked at."""
    flags = (MATCH_MSG_ID, MATCH_CORREL_ID, MATCH_GROUP_ID)
    msg_id, correl_id, group_id = (
        _id(folder, name) if match & flag else b"" for name, flag in zip(_IDS, flags, strict=True)
    )
    return msg_id, correl_id, group_id


def _number(folder: Element | None, name: str, otherwise: int) -> int:
    found = None if folder is None else folder.at(name)
    return found.value if found is not None and isinstance(found.value, int) and found.value > 0 else otherwise


def _id(folder: Element | None, name: str) -> bytes:
    """An id that is wanted; where there is none, any is."""
    found = None if folder is None else folder.at(name)
    if found is None or found.value is None:
        return b""
    if not isinstance(found.value, bytes):
        raise BrokerError(_BAD_ID, f"the {name} that is wanted is {found.value!r:.60}, which is no BLOB: CAST it")
    return found.value
