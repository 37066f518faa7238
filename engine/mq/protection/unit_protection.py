"""Protection at the end of a unit of work: what is put is sealed, what is got is opened, by policies of queues."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from engine.descriptor import UTF_8
from engine.errors import ConfigurationException, MessageException
from engine.flow.dead_letters import FORMAT as DEAD_LETTER
from engine.flow.dead_letters import header
from engine.mq.properties import join, split
from engine.mq.protection.policies import ERRORS, UnprotectedError, check_installed
from engine.mq.refusals import refusal
from engine.work import Arrival, Selection, UnitOfWork

if TYPE_CHECKING:
    from engine.descriptor import Descriptor
    from engine.mq.protection.envelope import Reader, Writer
    from engine.mq.protection.policies import Policy

KEY_STORE: Final = "PENSTOCK_KEY_STORE"  # the environment variable that names the folder
SECURITY_ERROR: Final = 2063
_SEALED: Final = "PSPROT"
_LOG: Final = logging.getLogger("penstock.queues.protection")
_LOG.addHandler(logging.NullHandler())


class Bound(UnitOfWork, Protocol):
    """A unit of work whose messages are protected here, at its end, where `protects` says so."""

    protects: bool


class Protection:
    """The protection of messages for one user, with the key store that PENSTOCK_KEY_STORE names."""

    __slots__ = ("_reader", "_writer")

    def __init__(self) -> None:
        self._writer: Writer | None = None
        self._reader: Reader | None = None

    def _ends(self, policy: Policy) -> tuple[Writer, Reader]:
        """Returns what seals and what opens envelopes, with the keys as they were when they were first needed."""
        if self._writer is None or self._reader is None:
            check_installed()
            folder = os.environ.get(KEY_STORE, "")
            if not folder:
                text = f"policy {policy.name} needs keys: name the folder of yours by --key-store or {KEY_STORE}"
                raise ConfigurationException(text)
            from engine.mq.protection.envelope import Reader, Writer  # noqa: PLC0415 - a package that may be missing
            from engine.mq.protection.keys import KeyStore  # noqa: PLC0415 - as well

            store = KeyStore(Path(folder))
            self._writer, self._reader = Writer(store), Reader(store)
        return self._writer, self._reader

    def put(
        self, work: Bound, queue: str, policy: Policy, message: tuple[Descriptor, bytes], *, syncpoint: bool
    ) -> Descriptor:
        """Put a message in an envelope; its properties stay in front of that, so that selectors find them."""
        joined = self.sealed(policy, *message)
        work.protects = False
        try:
            full = work.put(queue, *joined, syncpoint=syncpoint)
        finally:
            work.protects = True
        plain = message[0]
        return full._replace(format=plain.format, encoding=plain.encoding, coded_char_set_id=plain.coded_char_set_id)

    def sealed(self, policy: Policy, descriptor: Descriptor, body: bytes) -> tuple[Descriptor, bytes]:
        """Returns a message in an envelope, its properties in front."""
        writer, _ = self._ends(policy)
        properties, plain, content = split(descriptor, body)
        return join(properties, plain._replace(format=_SEALED), writer.seal(policy, plain, content))

    def published(self, policy: Policy, descriptor: Descriptor, body: bytes) -> tuple[Descriptor, bytes]:
        """Returns a publication as it goes to a queue with a policy: what its publisher has sealed stays as it is."""
        if split(descriptor, body)[1].format.rstrip() == _SEALED:
            return descriptor, body
        try:
            return self.sealed(policy, descriptor, body)
        except ConfigurationException as error:
            text = f"a publication cannot be protected by policy {policy.name}: {error.text}"
            _LOG.warning("%s (reason %d)", text, SECURITY_ERROR)
            raise refusal(SECURITY_ERROR, text, policy.name) from error

    def get(
        self,
        work: Bound,
        queue: str,
        policy: Policy,
        selection: Selection | None,
        *,
        syncpoint: bool | None,
        wait: float,
    ) -> Arrival | None:
        """Get a message out of its envelope; one that is not protected as it should be goes to the error queue."""
        work.protects = False
        try:
            arrival = work.get(queue, selection, syncpoint=syncpoint, wait=wait)
            if arrival is None:
                return None
            try:
                return self.opened(policy, arrival)
            except MessageException as error:
                if error.reason == SECURITY_ERROR and not (selection is not None and selection.browse):
                    self._put_away(work, queue, arrival, syncpoint=syncpoint)
                raise
        finally:
            work.protects = True

    def opened(self, policy: Policy, arrival: Arrival) -> Arrival:
        """Returns a message as it was before it was sealed."""
        _, reader = self._ends(policy)
        properties, descriptor, body = split(*arrival)
        if descriptor.format.rstrip() != _SEALED:
            if policy.tolerates:
                return arrival
            raise _wrong(policy, "it is not protected")
        try:
            found = reader.open(policy, body)
        except UnprotectedError as error:
            raise _wrong(policy, str(error)) from error
        plain = descriptor._replace(
            format=found.format, encoding=found.encoding, coded_char_set_id=found.coded_char_set_id
        )
        return Arrival(*join(properties, plain, found.body))

    def _put_away(self, work: Bound, queue: str, arrival: Arrival, *, syncpoint: bool | None) -> None:
        """Move a message that was got to the error queue, in the unit that got it."""
        descriptor, body = arrival
        above = header(queue, descriptor, work, SECURITY_ERROR, UTF_8)
        letter = descriptor._replace(format=DEAD_LETTER, coded_char_set_id=UTF_8, backout_count=0)
        inside = descriptor.persistence == 1 if syncpoint is None else syncpoint
        work.put(ERRORS, letter, above + body, syncpoint=inside)


def _wrong(policy: Policy, why: str) -> MessageException:
    text = f"a message of queue {policy.name} is not as its policy asks: {why}; it is on {ERRORS}"
    return refusal(SECURITY_ERROR, text, policy.name)
