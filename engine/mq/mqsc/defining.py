"""DEFINE, ALTER, DELETE and CLEAR: commands that change objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from engine.mq.attribute_values import Attribute, Value, checked_name
from engine.mq.attributes import ATTRIBUTES, find
from engine.mq.expiry import EXPIRY
from engine.mq.mqsc.errors import WrongCommandError
from engine.mq.mqsc.object_kinds import Kind, Objects
from engine.mq.mqsc.reading import Parameter
from engine.mq.security.authorities import TYPE_OF_KIND

_NOWHERE: Final = "takes no value; leave the parentheses out"
_FOLLOWED: Final = ("QLOCAL", "QALIAS")  # kinds of which the default object, once there is one, is followed
_DEFAULTS: Final = {  # the objects that in MQ have the values of what a definition does not name
    "QLOCAL": "SYSTEM.DEFAULT.LOCAL.QUEUE",
    "QALIAS": "SYSTEM.DEFAULT.ALIAS.QUEUE",
    "TOPIC": "SYSTEM.DEFAULT.TOPIC",
    "SUB": "SYSTEM.DEFAULT.SUB",
}


def name_of(subject: Parameter, kind: Kind | None = None) -> str:
    """Returns the name of the object that a command is about."""
    if not subject.values:
        raise WrongCommandError(f"{subject.word} is followed by a name in parentheses: write {subject.word}(NAME)")
    if len(subject.values) > 1:
        raise WrongCommandError(f"{subject.word} takes one name; quote one that has blanks or commas")
    if kind is not None and kind.is_named_freely:
        return subject.text
    return checked_name(subject.text.strip())


def _name_there(objects: Objects, subject: Parameter, kind: Kind) -> str:
    """Returns the name of an object that is there; without quotes, a subscription's may have small letters."""
    name = name_of(subject, kind)
    raw = subject.values[0].raw if subject.values else ""
    if kind.is_named_freely and raw not in {"", name} and not objects.display(kind.kind, name):
        return raw if objects.display(kind.kind, raw) else name
    return name


def define(objects: Objects, kind: Kind, subject: Parameter, rest: Sequence[Parameter]) -> tuple[str, str]:
    """Defines an object, like another where LIKE says so, in place of one that is there with REPLACE."""
    name, like, replace, given = name_of(subject, kind), "", False, list[Parameter]()
    _check_once(rest)
    for parameter in rest:
        match parameter.word:
            case "REPLACE" | "NOREPLACE":
                _alone(parameter)
                replace = parameter.word == "REPLACE"
            case "LIKE":
                like = name_of(parameter, kind)
            case _:
                given.append(parameter)
    if not like and kind.kind in _FOLLOWED and name != _DEFAULTS[kind.kind]:
        like = _DEFAULTS[kind.kind]
    attributes = {**(_like(objects, kind, like) if like else {}), **settings(kind, _without_own_name(objects, given))}
    objects.define(kind.kind, name, attributes, replace=replace)
    return kind.created, f"{kind.noun} created."


def _like(objects: Objects, kind: Kind, name: str) -> dict[str, Value]:
    """Returns what can be set of an object that is there."""
    known = ATTRIBUTES[kind.kind]
    found = objects.display(kind.kind, name)
    if not found:
        if name == _DEFAULTS[kind.kind]:
            return {}
        raise WrongCommandError(f"there is no {kind.noun} called {name} to be like; define it first", reason=2085)
    own = {"DEST"} if found[0].get("DESTCLAS") == "MANAGED" else set()
    return {
        word: value for word, value in found[0].items() if word in known and not known[word].shown and word not in own
    }


def _without_own_name(objects: Objects, given: Sequence[Parameter]) -> list[Parameter]:
    """Returns the parameters without a DESTQMGR that names this queue manager, as no DESTQMGR does."""
    if not any(one.word == "DESTQMGR" for one in given):
        return list(given)
    own = objects.display("QMGR", "")[0]["QMNAME"]
    return [one for one in given if (one.word, one.text) != ("DESTQMGR", own)]


def alter(objects: Objects, kind: Kind, subject: Parameter, rest: Sequence[Parameter]) -> tuple[str, str]:
    """Changes attributes of an object; what is not named stays as it is."""
    name = "" if kind.kind == "QMGR" else _name_there(objects, subject, kind)
    _check_once(rest)
    given = _without_own_name(objects, [parameter for parameter in rest if not _is_force(parameter)])
    values = settings(kind, given)
    if kind.kind in _FOLLOWED and name == _DEFAULTS[kind.kind] and not objects.display(kind.kind, name):
        objects.define(kind.kind, name, values)
    else:
        objects.alter(kind.kind, name, values)
    return kind.changed, f"{kind.noun} changed."


def _is_force(parameter: Parameter) -> bool:
    """Returns True for FORCE, which is how every change is made here: at once, whoever has the object open."""
    if parameter.word == "FORCE":
        _alone(parameter)
    return parameter.word == "FORCE"


def delete(objects: Objects, kind: Kind, subject: Parameter, rest: Sequence[Parameter]) -> tuple[str, str]:
    """Deletes an object; a queue with messages only with PURGE."""
    purge, authorities = False, True
    _check_once(rest)
    for parameter in rest:
        if parameter.word == "AUTHREC" and kind.kind in TYPE_OF_KIND:
            authorities = says_yes(parameter)
            continue
        if parameter.word not in {"PURGE", "NOPURGE"} or kind.kind != "QLOCAL":
            raise WrongCommandError(f"{parameter.word} is no parameter of DELETE {kind.kind}; leave it out")
        _alone(parameter)
        purge = parameter.word == "PURGE"
    objects.delete(kind.kind, _name_there(objects, subject, kind), purge=purge, authorities=authorities)
    return kind.deleted, f"{kind.noun} deleted."


def says_yes(parameter: Parameter) -> bool:
    """Returns True for a parameter with YES, and False for one with NO."""
    if parameter.text not in {"YES", "NO"}:
        raise WrongCommandError(f"{parameter.word} takes YES or NO, not {parameter.text:.40}")
    return parameter.text == "YES"


def clear(objects: Objects, kind: Kind, subject: Parameter, rest: Sequence[Parameter]) -> tuple[str, str]:
    """Removes all messages of a local queue."""
    if kind.kind != "QLOCAL":
        raise WrongCommandError(f"CLEAR is for local queues; write CLEAR QLOCAL({subject.text})")
    if rest:
        raise WrongCommandError(f"{rest[0].word} is no parameter of CLEAR QLOCAL; leave it out")
    objects.clear(name_of(subject))
    return "AMQ8022I", "queue cleared."


def forget(objects: Objects, subject: Parameter, rest: Sequence[Parameter]) -> tuple[str, str]:
    """Removes what is retained on a topic, or on those that fit its wildcards."""
    said = {(one.word, one.text) for one in rest} - {("SCOPE", "LOCAL")}  # no other queue manager's is removed
    if len(subject.values or ()) != 1 or said != {("CLRTYPE", "RETAINED")}:
        raise WrongCommandError("write CLEAR TOPICSTR('topic') CLRTYPE(RETAINED)")
    found = objects.forget_retained(subject.text)
    return "AMQ8691I", "retained publication removed." if found else f"nothing is retained on {subject.text}."


def expire(objects: Objects, rest: Sequence[Parameter]) -> tuple[str, str]:
    """Has messages removed whose time has passed, which is otherwise done every EXPRYINT seconds."""
    if [(one.word, one.text) for one in rest] != [("TYPE", EXPIRY)]:
        raise WrongCommandError("REFRESH QMGR takes TYPE(EXPIRY) and nothing else")
    objects.alter(EXPIRY, "", {})
    return "AMQ8005I", "expired messages removed."


def settings(kind: Kind, given: Sequence[Parameter]) -> dict[str, Value]:
    """Returns the attributes that parameters set, each checked; one that is named twice is refused."""
    found: dict[str, Value] = {}
    for parameter in given:
        for attribute, value in _settings_of(kind, parameter):
            if attribute.name in found:
                raise WrongCommandError(f"{attribute.name} stands twice; leave one out")
            found[attribute.name] = attribute.value(value)
    return found


def _settings_of(kind: Kind, parameter: Parameter) -> Iterator[tuple[Attribute, object]]:
    known = ATTRIBUTES[kind.kind]
    positive = parameter.word.removeprefix("NO")
    if parameter.word not in known and positive in known and known[positive].kind == "flag":
        _alone(parameter)
        yield known[positive], False
        return
    attribute = find(kind.kind, parameter.word)
    if attribute.kind == "flag":
        _alone(parameter)
        yield attribute, True
        return
    values = parameter.values
    if values is None and not attribute.shown:
        raise WrongCommandError(f"{parameter.word} lacks its value; write {parameter.word}(VALUE)")
    if values is not None and len(values) > 1:
        raise WrongCommandError(f"{parameter.word} takes one value; quote one that has blanks or commas")
    yield attribute, parameter.text


def _check_once(rest: Sequence[Parameter]) -> None:
    """Refuse a word without a value that stands twice, or beside its opposite, as in REPLACE NOREPLACE."""
    words = [one.word.removeprefix("NO") for one in rest if one.values is None]
    for word in words:
        if words.count(word) > 1:
            raise WrongCommandError(f"{word} stands twice, or beside NO{word}; leave one out")


def _alone(parameter: Parameter) -> None:
    if parameter.values is not None:
        raise WrongCommandError(f"{parameter.word} {_NOWHERE}")


CHANGES: Final = {"DEFINE": define, "ALTER": alter, "DELETE": delete, "CLEAR": clear}
