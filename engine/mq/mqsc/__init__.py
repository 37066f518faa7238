"""MQSC: scripts of commands that define, change, delete and show the objects of a queue manager, and their answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from engine.catalog import did_you_mean
from engine.errors import BrokerError, MessageException
from engine.mq.mqsc.defining import CHANGES, expire, forget, says_yes
from engine.mq.mqsc.displaying import display
from engine.mq.mqsc.errors import WrongCommandError
from engine.mq.mqsc.object_kinds import KINDS, STATUS, SYNONYMS, VERBS, Objects
from engine.mq.mqsc.reading import Command, Parameter, Value, read
from engine.mq.mqsc.security import (
    delete_authorities,
    delete_policy,
    display_authorities,
    display_policies,
    refresh,
    set_authorities,
    set_policy,
)
from engine.mq.protection.policies import POLICY
from engine.mq.refusals import UNKNOWN_OBJECT_NAME
from engine.mq.security.records import AUTHREC

_COLUMN: Final = 40
_NUMBERS: Final = ("No", "One")


class Answer(NamedTuple):
    """The answer of one command; `objects` are those displayed, as their attributes in order.

    `code` is the number of the message, such as AMQ8006I; `failed` says that the command did nothing. An answer that
    came as JSON is `Answer(*values)` again.
    """

    line: int
    command: str
    code: str
    text: str
    objects: tuple[tuple[tuple[str, str | int | bool], ...], ...] = ()
    failed: bool = False
    syntax: bool = False  # it failed because it could not be read

    def __str__(self) -> str:
        """Returns the answer as lines, without the command."""
        if not self.objects:
            return f"{self.code}: {self.text}"
        return "\n".join("\n".join((f"{self.code}: {self.text}", *lines_of(one))) for one in self.objects)


def lines_of(attributes: Sequence[tuple[str, str | int | bool]]) -> Iterator[str]:
    r"""Yields the lines of one displayed object, two attributes a line where they fit.

    >>> print("\n".join(lines_of([("QUEUE", "Q1"), ("TYPE", "QLOCAL"), ("CURDEPTH", 3), ("SHARE", True)])))
       QUEUE(Q1)                               TYPE(QLOCAL)
       CURDEPTH(3)                             SHARE
    """
    left = ""
    for name, value in attributes:
        shown = spelled(name, value)
        if left and len(left) < _COLUMN and len(shown) <= _COLUMN:
            yield f"   {left:<{_COLUMN}}{shown}"
            left = ""
            continue
        if left:
            yield f"   {left}"
        left = shown
    if left:
        yield f"   {left}"


def spelled(name: str, value: str | int | bool) -> str:
    """Returns an attribute as DISPLAY prints it: NAME(VALUE), NAME or NONAME for one that is set or not.

    >>> spelled("MAXDEPTH", 5), spelled("SHARE", False), spelled("DESCR", "")
    ('MAXDEPTH(5)', 'NOSHARE', 'DESCR( )')
    """
    if isinstance(value, bool):
        return name if value else f"NO{name}"
    return f"{name}({' ' if value == '' else value})"


def printed(answers: Sequence[Answer], queue_manager: str) -> Iterator[str]:
    """Yields what runmqsc prints for a script: each command with its line, what it answered, and the counts."""
    yield f"Starting MQSC for queue manager {queue_manager}."
    for answer in answers:
        yield f"{answer.line:6d} : {answer.command}"
        yield str(answer)
    wrong = sum(answer.syntax for answer in answers)
    refused = sum(answer.failed and not answer.syntax for answer in answers)
    yield f"{_count(len(answers), 'MQSC command')} read."
    yield f"{_count(wrong, 'command')} {'has' if wrong == 1 else 'have'} a syntax error."
    if refused:
        yield f"{_count(refused, 'valid MQSC command')} could not be processed."
    else:
        yield "All valid MQSC commands were processed."


def _count(number: int, noun: str) -> str:
    word = _NUMBERS[number] if number < len(_NUMBERS) else str(number)
    return f"{word} {noun}{'' if number == 1 else 's'}"


__all__ = ["Answer", "Objects", "printed", "run"]

_BY_ID: Final = ("SUB", "SBSTATUS")
_SYNTAX_ERROR: Final = "AMQ8405E"
_CODES: Final = {
    2085: "AMQ8147E",  # object not found
    2100: "AMQ8150E",  # object exists already
    2055: "AMQ8143E",  # queue not empty
    2042: "AMQ8148E",  # object in use
    2101: "AMQ8149S",  # object damaged
    2035: "AMQ8135E",  # not authorised
    2152: "AMQ8141E",  # no name of an object
    2067: _SYNTAX_ERROR,
    4005: _SYNTAX_ERROR,
    3213: _SYNTAX_ERROR,
}
_OTHERWISE: Final = "AMQ8101E"
_RECORD_DELETED: Final = {AUTHREC: "AMQ8863I", POLICY: "AMQ9089I"}
_VERBS_OF_ABSENT: Final = ("START", "STOP", "RESET", "RESOLVE", "RESUME", "SUSPEND")
_ABSENT: Final = {
    "QREMOTE": "queues of other queue managers",
    "QMODEL": "model queues",
    **dict.fromkeys(("CHANNEL", "CHSTATUS", "CHINIT", "CHLAUTH", "CHLSTATUS"), "channels"),
    **dict.fromkeys(("CLUSTER", "CLUSQMGR", "QCLUSTER", "TCLUSTER"), "clusters"),
    **dict.fromkeys(("LISTENER", "LSSTATUS"), "listeners"),
    "PROCESS": "processes",
    "NAMELIST": "namelists",
    **dict.fromkeys(("SERVICE", "SVSTATUS"), "services"),
    "AUTHINFO": "objects of authentication",
    "COMMINFO": "multicasts",
    "CMDSERV": "command servers",
}


def run(objects: Objects, script: str) -> list[Answer]:
    """Returns the answer of each command of a script; one that fails leaves out what it asked for, nothing else."""
    return [_answer(objects, command) for command in read(script)]


def _answer(objects: Objects, command: Command) -> Answer:
    try:
        if command.problem:
            raise WrongCommandError(command.problem)
        return _carried_out(objects, command)
    except BrokerError as error:
        reason = error.reason if isinstance(error, MessageException) else -1
        code = _CODES.get(reason, _OTHERWISE) if reason else _SYNTAX_ERROR
        text = error.text if reason <= 0 or str(reason) in error.text else f"{error.text} ({reason})"
        return Answer(command.line, command.text, code, text, failed=True, syntax=code == _SYNTAX_ERROR)


def _carried_out(objects: Objects, command: Command) -> Answer:
    verb = VERBS.get(command.parameters[0].word, command.parameters[0].word)
    _refuse_absent(verb, command.parameters[1:2])
    if verb not in _VERBS:
        raise WrongCommandError(
            f"there is no command {verb:.40}{did_you_mean(verb, tuple(_VERBS))}; write DEFINE QLOCAL(NAME)"
        )
    if len(command.parameters) < 2 or command.parameters[0].values is not None:
        raise WrongCommandError(f"{verb} is followed by a kind of object; write {verb} QLOCAL(NAME)")
    subject, *rest = command.parameters[1:]
    what = SYNONYMS.get(subject.word, subject.word)
    if what in _BY_ID and (subject.values is None or verb != "DISPLAY"):
        subject, rest = _named_by_id(objects, subject, rest)
    return _VERBS[verb](objects, command, _Asked(verb, what, subject, rest))


def _refuse_absent(verb: str, subject: Sequence[Parameter]) -> None:
    """Refuse a command of MQ about a kind of object that is not here, whatever it is to be done to it."""
    what = SYNONYMS.get(subject[0].word, subject[0].word) if subject else ""
    if what in _ABSENT and verb in {*_VERBS, *_VERBS_OF_ABSENT} - {"PING"}:
        raise WrongCommandError(f"there are no {_ABSENT[what]} here; leave the command out", reason=2085)


def _named_by_id(objects: Objects, subject: Parameter, rest: list[Parameter]) -> tuple[Parameter, list[Parameter]]:
    """Returns the word with the name of the subscription that SUBID names, and the other parameters.

    A name that stands there too has to be that one's.
    """
    said = [parameter for parameter in rest if parameter.word == "SUBID" and parameter.values]
    if not said:
        return subject, rest
    wanted = said[0].text.upper()
    found = [str(one["SUB"]) for one in objects.display("SUB", "*") if one["SUBID"] == wanted]
    if not found:
        raise WrongCommandError(f"there is no subscription with SUBID {wanted:.60}", reason=2085)
    if subject.values and found[0] not in {subject.text, subject.values[0].raw}:
        raise WrongCommandError(f"SUBID {wanted:.60} is that of subscription {found[0]}", reason=2085)
    return replace(subject, values=(Value(found[0], quoted=True),)), [one for one in rest if one not in said]


class _Asked:
    """A command taken apart: its verb, the kind of object, the word with the name, and the parameters."""

    __slots__ = ("rest", "subject", "verb", "what")

    def __init__(self, verb: str, what: str, subject: Parameter, rest: Sequence[Parameter]) -> None:
        self.verb = verb
        self.what = what
        self.subject = subject
        self.rest = rest

    def unknown(self, *kinds: str) -> WrongCommandError:
        """Returns the error for a kind of object that the command is not for."""
        hint = did_you_mean(self.what, kinds)
        return WrongCommandError(f"{self.verb} takes {', '.join(kinds)}, not {self.what:.40}{hint}")


def _changed(objects: Objects, command: Command, asked: _Asked) -> Answer:
    if (asked.verb, asked.what) == ("CLEAR", "TOPICSTR"):
        return Answer(command.line, command.text, *forget(objects, asked.subject, asked.rest))
    if (asked.verb, asked.what) == ("DELETE", AUTHREC):
        return Answer(command.line, command.text, *delete_authorities(objects, asked.rest))
    if (asked.verb, asked.what) == ("DELETE", POLICY):
        return Answer(command.line, command.text, *delete_policy(objects, asked.subject, asked.rest))
    allowed = _ALLOWED[asked.verb]
    if asked.what not in allowed:
        raise asked.unknown(*allowed)
    code, text = CHANGES[asked.verb](objects, KINDS[asked.what], asked.subject, asked.rest)
    return Answer(command.line, command.text, code, text)


def _deleted(objects: Objects, command: Command, asked: _Asked) -> Answer:
    """Deletes an object; with IGNSTATE(YES) one that is not there is as good as deleted."""
    said = [parameter for parameter in asked.rest if parameter.word == "IGNSTATE"]
    asked.rest = [parameter for parameter in asked.rest if parameter.word != "IGNSTATE"]
    ignores = [says_yes(parameter) for parameter in said]
    try:
        return _changed(objects, command, asked)
    except MessageException as error:
        if error.reason != UNKNOWN_OBJECT_NAME or not any(ignores):
            raise
        code = KINDS[asked.what].deleted if asked.what in KINDS else _RECORD_DELETED[asked.what]
        return Answer(command.line, command.text, code, f"nothing to delete: {error.text}")


def _displayed(objects: Objects, command: Command, asked: _Asked) -> Answer:
    if asked.what == POLICY:
        policies = tuple(display_policies(objects, asked.subject, asked.rest))
        text = "Display policy details." if policies else f"no policy fits {asked.subject.text}."
        return Answer(command.line, command.text, "AMQ9087I" if policies else "AMQ8147I", text, policies)
    if asked.what == AUTHREC:
        records = tuple(display_authorities(objects, asked.rest))
        if not records:
            return Answer(command.line, command.text, "AMQ8864I", "there is no such authority record.")
        return Answer(command.line, command.text, "AMQ8864I", "Display authority record details.", records)
    kinds = {**STATUS, **KINDS}
    if asked.what not in {*kinds, "QUEUE"}:
        raise asked.unknown("QUEUE", *kinds)
    found = tuple(display(objects, asked.what, asked.subject, asked.rest))
    kind = kinds["QLOCAL" if asked.what == "QUEUE" else asked.what]
    if not found:
        return Answer(command.line, command.text, "AMQ8147I", f"no {kind.noun} fits {asked.subject.text}.")
    return Answer(command.line, command.text, kind.details, kind.details_text, found)


def _set(objects: Objects, command: Command, asked: _Asked) -> Answer:
    if asked.what == POLICY:
        return Answer(command.line, command.text, *set_policy(objects, asked.subject, asked.rest))
    if asked.what != AUTHREC:
        raise asked.unknown(AUTHREC, POLICY)
    return Answer(command.line, command.text, *set_authorities(objects, asked.rest))


def _refreshed(objects: Objects, command: Command, asked: _Asked) -> Answer:
    if asked.what == "QMGR":
        return Answer(command.line, command.text, *expire(objects, asked.rest))
    if asked.what != "SECURITY":
        raise asked.unknown("SECURITY", "QMGR")
    return Answer(command.line, command.text, *refresh(objects, asked.rest))


def _pinged(objects: Objects, command: Command, asked: _Asked) -> Answer:
    if asked.what != "QMGR" or asked.rest:
        raise WrongCommandError("PING takes QMGR and nothing else; write PING QMGR")
    name = objects.display("QMGR", "")[0]["QMNAME"]
    return Answer(command.line, command.text, "AMQ8415I", f"Ping queue manager {name} command complete.")


_DEFINED: Final = ("QLOCAL", "QALIAS", "TOPIC", "SUB")
_ALLOWED: Final = {
    "DEFINE": _DEFINED,
    "ALTER": (*_DEFINED, "QMGR"),
    "DELETE": _DEFINED,
    "CLEAR": ("QLOCAL", "TOPICSTR"),
}
_VERBS: Final[dict[str, Callable[[Objects, Command, _Asked], Answer]]] = {
    **dict.fromkeys(CHANGES, _changed),
    "DELETE": _deleted,
    "DISPLAY": _displayed,
    "PING": _pinged,
    "SET": _set,
    "REFRESH": _refreshed,
}
