"""SET, DISPLAY and DELETE of policies of message protection."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

from engine.catalog import did_you_mean
from engine.mq.attribute_values import Value
from engine.mq.mqsc.defining import name_of
from engine.mq.mqsc.errors import WrongCommandError
from engine.mq.mqsc.objects import Objects
from engine.mq.mqsc.reading import Parameter
from engine.mq.protection.policies import POLICY

Shown = tuple[tuple[str, Value], ...]

_ONE: Final = ("SIGNALG", "ENCALG", "KEYREUSE", "ACTION")
_MANY: Final = ("SIGNER", "RECIP")
_FLAGS: Final = ("ENFORCE", "TOLERATE")


def set_policy(objects: Objects, subject: Parameter, rest: Sequence[Parameter]) -> tuple[str, str]:
    """Gives a queue a policy, in place of one that is there, or removes it by ACTION(REMOVE)."""
    name = name_of(subject)
    values: dict[str, list[str]] = {}
    for parameter in rest:
        word = parameter.word
        if word not in {*_ONE, *_MANY, *_FLAGS}:
            hint = did_you_mean(word, (*_ONE, *_MANY, *_FLAGS))
            raise WrongCommandError(f"{word:.40} is no parameter of SET POLICY{hint}; leave it out")
        if word in values and word not in _MANY:
            raise WrongCommandError(f"{word} stands twice; leave one out")
        if (parameter.values is None) != (word in _FLAGS):
            raise WrongCommandError(f"write SET POLICY({name}) ENCALG(AES256) RECIP('CN=ann') ENFORCE, not {word:.40}")
        texts = [one.text if one.quoted or word not in _MANY else one.raw for one in parameter.values or ()]
        values.setdefault(word, []).extend(text.strip() for text in texts)
    if "ENFORCE" in values and "TOLERATE" in values:
        raise WrongCommandError("ENFORCE and TOLERATE exclude each other; leave one out")
    action = " ".join(values.pop("ACTION", ["REPLACE"]))
    if action not in {"REPLACE", "REMOVE"}:
        raise WrongCommandError(f"ACTION takes REPLACE or REMOVE, not {action:.40}")
    if action == "REMOVE":
        objects.delete(POLICY, name)
        return "AMQ9089I", "policy removed."
    given: dict[str, Value] = {word: "\n".join(texts) for word, texts in values.items() if word not in _FLAGS}
    objects.define(POLICY, name, given | {"TOLERATE": "YES" if "TOLERATE" in values else "NO"}, replace=True)
    return "AMQ9088I", "policy set."


def delete_policy(objects: Objects, subject: Parameter, rest: Sequence[Parameter]) -> tuple[str, str]:
    """Removes the policy of a queue."""
    if rest:
        raise WrongCommandError(f"{rest[0].word} is no parameter of DELETE POLICY; leave it out")
    objects.delete(POLICY, name_of(subject))
    return "AMQ9089I", "policy removed."


def display_policies(objects: Objects, subject: Parameter, rest: Sequence[Parameter]) -> list[Shown]:
    """Returns the policies whose names fit."""
    if any(parameter.word != "ALL" for parameter in rest):
        raise WrongCommandError("DISPLAY POLICY shows all that a policy says; leave the rest out")
    pattern = subject.text.strip() or "*"
    return [_shown(one) for one in objects.display(POLICY, "*") if fnmatchcase(str(one[POLICY]), pattern)]


def _shown(one: object) -> Shown:
    assert isinstance(one, dict)  # as it is displayed
    found: list[tuple[str, Value]] = []
    for name, value in one.items():
        if name in _MANY:
            found += [(name, part) for part in str(value).split("\n") if part]
        elif name == "TOLERATE":
            found.append(("ENFORCE", True) if value == "NO" else ("TOLERATE", True))
        else:
            found.append((name, value))
    return tuple(found)
