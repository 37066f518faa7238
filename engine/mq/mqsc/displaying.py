"""DISPLAY: which objects are shown, and which of their attributes."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from engine.catalog import did_you_mean
from engine.mq.attribute_values import Value
from engine.mq.attributes import ATTRIBUTES, find
from engine.mq.mqsc.errors import WrongCommandError
from engine.mq.mqsc.object_kinds import KINDS, STATUS, Kind, Objects
from engine.mq.mqsc.reading import Parameter

Shown = tuple[tuple[str, Value], ...]

_TOPICS: Final = "TPSTATUS"
_QUEUE_KINDS: Final = ("QALIAS", "QLOCAL")
_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
    "EQ": operator.eq,
    "NE": operator.ne,
}
_AS_NUMBERS: Final = frozenset(  # that are numbers unless they are words, such as ASPUB
    {"ACCTIME", "CAPEXPRY", "CURACCTIME", "CURSTATIME", "DEFPRTY", "EXPIRY", "PUBPRTY", "STATIME"}
)
_NUMBER: Final = re.compile(r"-?[0-9]{1,9}(?:\.[0-9]{1,2})?", re.ASCII)
_OF_MANY: Final = ("TOPICSTR", "CURDEPTH")  # those of them that an object has are shown where many are, unasked
_MONITORED: Final = {  # which nothing is known of while MONQ is off, as it is here
    **dict.fromkeys(("LGETDATE", "LGETTIME", "LPUTDATE", "LPUTTIME", "MEDIALOG"), ""),
    "MONQ": "OFF",
    "MSGAGE": "",
    "QTIME": " , ",
}
_OF_SUBSCRIBERS: Final = (
    *("ACTCONN", "DURABLE", "LMSGDATE", "LMSGTIME", "NUMMSGS", "RESMDATE", "RESMTIME", "SUBTYPE", "SUBUSER"),
)
_STATES: Final[Mapping[str, tuple[str, ...]]] = {  # what is shown of a state, and all that is known of it
    "QSTATUS": ("CURDEPTH", "IPPROCS", *_MONITORED, "OPPROCS", "UNCOM"),
    "HANDLE": (
        "APPLTAG",
        "APPLTYPE",
        "CHANNEL",
        "CONN",
        "CONNAME",
        "INPUT",
        "OBJNAME",
        "OUTPUT",
        "PID",
        "USERID",
        "UOWSTATE",
    ),
    "CONN": ("APPLTAG", "APPLTYPE", "CHANNEL", "CONNAME", "EXTCONN", "PID", "USERID", "UOWSTATE"),
    "QMSTATUS": ("STATUS", "CONNS"),
    "SBSTATUS": ("SUBID", *_OF_SUBSCRIBERS, "TOPICSTR"),
    "SUBSCRIBERS": ("SUBID", *_OF_SUBSCRIBERS),
    "PUBLISHERS": ("ACTCONN", "LPUBDATE", "LPUBTIME", "NUMPUBS"),
    "PUBSUB": ("STATUS", "SUBCOUNT", "TPCOUNT"),
}
_NAMELESS: Final = ("QMGR", "QMSTATUS", "PUBSUB")  # of which there is one
_OF_QUEUES: Final = {"QLOCAL": ("QLOCAL",), "QL": ("QLOCAL",), "QALIAS": ("QALIAS",), "QA": ("QALIAS",)}
_TYPES: Final[Mapping[str, tuple[str, Mapping[str, tuple[str, ...]]]]] = {  # what is shown of each TYPE
    "QUEUE": ("ALL, QLOCAL or QALIAS", {"ALL": _QUEUE_KINDS, **_OF_QUEUES}),
    "QSTATUS": ("QUEUE or HANDLE", {"QUEUE": ("QSTATUS",), "HANDLE": ("HANDLE",)}),
    "CONN": ("CONN or HANDLE", {**dict.fromkeys(("CONN", "*", "ALL"), ("CONN",)), "HANDLE": ("HANDLE",)}),
    _TOPICS: ("TOPIC, SUB or PUB", {"TOPIC": (_TOPICS,), "SUB": ("SUBSCRIBERS",), "PUB": ("PUBLISHERS",)}),
}
_CHOICES: Final = {  # what DISPLAY SUB, SBSTATUS and PUBSUB choose by
    **{(what, "DURABLE"): ("ALL", "NO", "YES") for what in ("SUB", "SBSTATUS")},
    **{(what, "SUBTYPE"): ("ADMIN", "ALL", "API", "PROXY", "USER") for what in ("SUB", "SBSTATUS")},
    ("PUBSUB", "TYPE"): ("ALL", "CHILD", "LOCAL", "PARENT"),
}
_OF_USERS: Final = ("ADMIN", "API")  # what USER stands for


@dataclass(slots=True)
class _Wanted:
    """The objects and attributes that a DISPLAY command asks for."""

    kinds: tuple[str, ...]
    every: bool = False
    names: list[str] = field(default_factory=list)
    where: tuple[str, str, str] | None = None
    only: dict[str, tuple[str, ...]] = field(default_factory=dict)  # attributes, and what they may have

    def takes(self, kind: str, one: Mapping[str, Value]) -> bool:
        """Returns True for an object that is asked for."""
        chosen = all(one.get(name) in values for name, values in self.only.items())
        return chosen and (self.where is None or _meets(kind, one, self.where))


def display(objects: Objects, what: str, subject: Parameter, rest: Sequence[Parameter]) -> list[Shown]:
    """Returns the objects that a DISPLAY command asks for, each as the attributes that are to be shown."""
    kinds = _QUEUE_KINDS if what == "QUEUE" else (what,)
    wanted = _Wanted(kinds)
    pattern = "" if what in _NAMELESS else _pattern(subject, what)
    for parameter in sorted(rest, key=lambda one: one.word != "TYPE"):  # whose attributes WHERE names
        _note(wanted, parameter, what)
    state = _STATES.get(wanted.kinds[0])
    if state is not None and (wanted.every or not wanted.names):
        wanted.every, wanted.names = False, list(state)
    elif not wanted.names and not wanted.every:
        wanted.every, wanted.names = what == _TOPICS or not pattern.endswith("*"), list(_OF_MANY)
    if wanted.where is not None:
        wanted.names.append(wanted.where[0])  # what is asked of it is shown
    found: list[Shown] = []
    for kind in wanted.kinds:
        found += [
            _shown(KINDS.get(kind) or STATUS.get(what) or KINDS[what], one, wanted, what)
            for one in _rows(objects, kind, pattern)
            if wanted.takes(kind, one)
        ]
    found.sort(key=lambda shown: str(shown[0][1]))
    if not found and wanted.kinds == ("HANDLE",):
        raise WrongCommandError(f"nobody has {pattern} open", reason=2085)
    if not (found or what in {_TOPICS, "PUBSUB"} or pattern.endswith("*") or wanted.where or wanted.only):
        raise WrongCommandError(f"there is no {what} called {pattern}; DISPLAY {what}(*) shows all", reason=2085)
    return found


def _rows(objects: Objects, kind: str, pattern: str) -> Iterator[Mapping[str, Value]]:
    """Yields the objects of a kind, or the state of each queue."""
    for one in objects.display("QLOCAL" if kind == "QSTATUS" else kind, pattern):
        yield {**one, **_MONITORED} if kind == "QSTATUS" else one


def _pattern(subject: Parameter, what: str) -> str:
    if not subject.values or len(subject.values) > 1:
        raise WrongCommandError(f"{subject.word} is followed by a name, which may end in *: write {subject.word}(*)")
    text = subject.text.strip()
    if "*" in text[:-1] and what != _TOPICS:
        raise WrongCommandError(f"{text} has a * inside; it may stand at the end only")
    return text


def _note(wanted: _Wanted, parameter: Parameter, what: str) -> None:
    """Takes one parameter of DISPLAY into account."""
    match parameter.word:
        case "ALL":
            wanted.every = True
        case "WHERE":
            wanted.where = _condition(wanted.kinds, parameter)
        case "TYPE" | "QTYPE" if what in _TYPES and parameter.values:
            said, kinds = _TYPES[what]
            if parameter.text not in kinds:
                raise WrongCommandError(f"TYPE takes {said}, not {parameter.text:.40}")
            wanted.kinds = kinds[parameter.text]
        case word if parameter.values and (what, word) in _CHOICES:
            _choose(wanted, parameter, _CHOICES[what, word])
        case "TYPE":
            pass  # each object is shown with its type
        case _:
            name = _known(wanted.kinds, parameter.word)
            if parameter.values is not None:
                raise WrongCommandError(f"{parameter.word} takes no value in DISPLAY; select objects with WHERE")
            wanted.names.append(name)


def _choose(wanted: _Wanted, parameter: Parameter, choices: tuple[str, ...]) -> None:
    """Takes only what has one of the choices."""
    if parameter.text not in choices:
        raise WrongCommandError(f"{parameter.word} takes {', '.join(choices)}, not {parameter.text:.40}")
    if parameter.text != "ALL":
        wanted.only[parameter.word] = _OF_USERS if parameter.text == "USER" else (parameter.text,)


def _known(kinds: tuple[str, ...], word: str) -> str:
    """Returns the name of an attribute that one of the kinds has."""
    if word in {"TYPE", "QTYPE"}:
        return "TYPE"
    if (state := _STATES.get(kinds[0])) is not None:
        if word not in state:
            hint = did_you_mean(word, state)
            raise WrongCommandError(
                f"{kinds[0]} has no attribute {word:.40}{hint}; it has {', '.join(state)}", reason=2067
            )
        return word
    for kind in kinds[:-1]:
        if word in ATTRIBUTES[kind]:
            return ATTRIBUTES[kind][word].name
    return find(kinds[-1], word).name


def _condition(kinds: tuple[str, ...], parameter: Parameter) -> tuple[str, str, str]:
    values = parameter.values or ()
    if len(values) != 3 or values[1].text not in {*_COMPARISONS, "LK", "NL"}:
        operators = ", ".join((*_COMPARISONS, "LK", "NL"))
        raise WrongCommandError(f"WHERE takes an attribute, one of {operators}, and a value: WHERE(CURDEPTH GT 0)")
    return _known(kinds, values[0].text), values[1].text, values[2].text


def _meets(kind: str, one: Mapping[str, Value], where: tuple[str, str, str]) -> bool:
    name, sign, text = where
    if name not in one:
        return False
    value = one[name]
    if sign in {"LK", "NL"}:
        fits = re.fullmatch(re.escape(text).replace(r"\*", ".*"), str(value), re.DOTALL)
        return (fits is not None) == (sign == "LK")
    if name in _AS_NUMBERS and _NUMBER.fullmatch(text.strip()):
        if not _NUMBER.fullmatch(str(value)):
            return sign == "NE"
        return _COMPARISONS[sign](float(value), float(text))
    if isinstance(value, bool) or not isinstance(value, int):
        return _COMPARISONS[sign](str(value), text.strip())
    try:
        return _COMPARISONS[sign](value, int(text))
    except ValueError:
        raise WrongCommandError(f"{name} of {kind} is a number; compare it with one, not with {text:.40}") from None


def _shown(kind: Kind, one: Mapping[str, Value], wanted: _Wanted, what: str) -> Shown:
    """Returns an object's name, its type, and the attributes that are wanted, in the order of their names."""
    head: list[tuple[str, Value]] = [(kind.title, one[kind.title])]
    if what == "QSTATUS":
        head.append(("TYPE", one["TYPE"] if one["TYPE"] == "HANDLE" else "QUEUE"))
    elif what in _STATES and "TYPE" in one:
        head.append(("TYPE", one["TYPE"]))
    elif kind.title == "QUEUE":
        head.append(("TYPE", kind.kind))
    elif kind.kind == "TOPIC":
        head.append(("TYPE", "LOCAL"))
    names = sorted(one) if wanted.every else wanted.names
    skipped = {kind.title, "TYPE", *(() if what == "QSTATUS" else ("UNCOM",))}
    return (*head, *((name, one[name]) for name in dict.fromkeys(names) if name in one and name not in skipped))
