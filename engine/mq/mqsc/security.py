"""SET, DISPLAY and DELETE of authority records and of policies of message protection, and REFRESH SECURITY."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final

from engine.catalog import did_you_mean
from engine.mq.attribute_values import Value
from engine.mq.mqsc.defining import name_of
from engine.mq.mqsc.errors import WrongCommandError
from engine.mq.mqsc.object_kinds import Objects
from engine.mq.mqsc.reading import Parameter
from engine.mq.protection.policies import POLICY
from engine.mq.security.profiles import Profiles
from engine.mq.security.records import AUTHREC

Shown = tuple[tuple[str, Value], ...]

_TYPES: Final[Mapping[str, str]] = {"QUEUE": "QUEUE", "TOPIC": "TOPIC", "QMGR": "QMGR"}
_ENTITIES: Final = ("PRINCIPAL", "GROUP")
_SET: Final = ("PROFILE", "OBJTYPE", *_ENTITIES, "AUTHADD", "AUTHRMV")
_NAMED: Final = _SET[:4]
_SHOWN: Final = (*_NAMED, "ENTITY", "ENTTYPE", "AUTHLIST", "MATCH", "ALL")
_EXAMPLE: Final = "PROFILE(ORDERS) OBJTYPE(QUEUE) PRINCIPAL('ann')"


class _Said:
    """The parameters of a command about authority records, by their words."""

    def __init__(self, verb: str, rest: Sequence[Parameter], known: tuple[str, ...]) -> None:
        self.verb = verb
        self._values: dict[str, list[str]] = {}
        for parameter in rest:
            if parameter.word not in known:
                hint = did_you_mean(parameter.word, known)
                raise WrongCommandError(f"{parameter.word:.40} is no parameter of {verb} AUTHREC{hint}; leave it out")
            if parameter.word in self._values and parameter.word not in _ENTITIES:
                raise WrongCommandError(f"{parameter.word} stands twice; leave one out")
            texts = [value.text if value.quoted else value.raw for value in parameter.values or ()]
            if parameter.word not in _ENTITIES and not (parameter.values and parameter.values[0].quoted):
                texts = [text.upper() for text in texts]
            self._values.setdefault(parameter.word, []).extend(text.strip() for text in texts)

    def __contains__(self, word: str) -> bool:
        return word in self._values

    def many(self, word: str) -> list[str]:
        """Returns the values of a word."""
        return [text for text in self._values.get(word, []) if text]

    def one(self, word: str) -> str:
        """Returns the only value of a word, or an empty text."""
        found = self.many(word)
        if len(found) > 1:
            raise WrongCommandError(f"{word} takes one value, not {len(found)}")
        if word in self._values and not found:
            raise WrongCommandError(f"{word} is followed by a value in parentheses: write {_EXAMPLE}")
        return found[0] if found else ""

    def kind(self) -> str:
        """Returns the type of object."""
        text = self.one("OBJTYPE")
        if text and text not in _TYPES:
            raise WrongCommandError(f"OBJTYPE takes QUEUE, TOPIC or QMGR, not {text:.40}: there are no others here")
        return text

    def keys(self) -> list[str]:
        """Returns the identities of the records that the command is about."""
        kind, profile = self.kind(), self.one("PROFILE")
        if kind == "QMGR":
            profile = profile or "SELF"
        entities = [(word, name) for word in _ENTITIES for name in self.many(word)]
        if not (kind and profile and entities):
            raise WrongCommandError(f"{self.verb} AUTHREC needs PROFILE, OBJTYPE and who it is for: write {_EXAMPLE}")
        for _, name in entities:
            if any(character.isspace() for character in name):
                raise WrongCommandError(f"a user's or group's name has no blanks, as {name!r:.40} has")
        return [f"{kind} {word} {name} {profile}" for word, name in entities]


def set_authorities(objects: Objects, rest: Sequence[Parameter]) -> tuple[str, str]:
    """Gives users or groups authorities by a profile, or takes them away."""
    said = _Said("SET", rest, _SET)
    if "AUTHADD" not in said and "AUTHRMV" not in said:
        raise WrongCommandError(f"SET AUTHREC changes nothing: write SET AUTHREC {_EXAMPLE} AUTHADD(PUT)")
    changes = {word: " ".join(one.upper() for one in said.many(word)) for word in ("AUTHADD", "AUTHRMV")}
    for key in said.keys():  # noqa: SIM118 - no mapping
        objects.define(AUTHREC, key, changes)
    return "AMQ8862I", "authority record set."


def delete_authorities(objects: Objects, rest: Sequence[Parameter]) -> tuple[str, str]:
    """Deletes records of users or groups."""
    for key in _Said("DELETE", rest, _NAMED).keys():  # noqa: SIM118 - no mapping
        objects.delete(AUTHREC, key)
    return "AMQ8863I", "authority record deleted."


def display_authorities(objects: Objects, rest: Sequence[Parameter]) -> list[Shown]:
    """Returns the records that are asked for: of profiles that match a name, of a type, of a user or group."""
    said = _Said("DISPLAY", rest, _SHOWN)
    match = said.one("MATCH") or "PROFILE"
    if match not in {"PROFILE", "EXACT"}:
        raise WrongCommandError(f"MATCH takes PROFILE or EXACT, not {match:.40}")
    kind, profile = said.kind(), said.one("PROFILE")
    entities = {(word, name) for word in _ENTITIES for name in said.many(word)}
    return [
        tuple(one.items())
        for one in objects.display(AUTHREC, "*")
        if (not kind or one["OBJTYPE"] == kind)
        and (not entities or (one["ENTTYPE"], one["ENTITY"]) in entities)
        and (not profile or _fits(str(one["PROFILE"]), profile, exact=match == "EXACT"))
    ]


def _fits(profile: str, name: str, *, exact: bool) -> bool:
    """Returns True for a profile that is named, or that the name matches."""
    if profile == name or exact:
        return profile == name
    matching = Profiles[bool]()
    matching.put(profile, True)
    return matching.find(name) is not None


_REFRESHED: Final = ("AUTHSERV", "CLASSES", "CONNAUTH")  # of the last nothing is remembered


def refresh(objects: Objects, rest: Sequence[Parameter]) -> tuple[str, str]:
    """Has the queue manager read the groups of users again, and forget what users may do."""
    for parameter in rest:
        if parameter.word != "TYPE" or parameter.text not in _REFRESHED:
            raise WrongCommandError(
                f"REFRESH SECURITY takes TYPE with one of {', '.join(_REFRESHED)}, and nothing else"
            )
    objects.alter("SECURITY", "", {})
    return "AMQ8560I", "security cache refreshed."


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
