"""The names that message properties may have: MQ keeps some for JMS, for selectors, and for its own folders."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from engine.mq.property_types import PROPERTY_NAME, refused
from engine.mq.selectors.lexer import KEYWORDS

_LONGEST: Final = 4095  # characters
_NAME_LENGTH: Final = 2513
_OF_JMS: Final = frozenset({"JMSCorrelationID", "JMSReplyTo", "JMSType", "JMSXGroupID", "JMSXGroupSeq"})  # may be set
_CONTENTS: Final = ("Body", "Root")  # which paths into a message begin with
_OF_USERS: Final = "mq_usr"


def check_names(names: Iterable[str]) -> None:
    """Refuse the names of properties that MQ does not let a program set: they are Java's identifiers, and dots between.

    >>> check_names(["colour", "JMSType", "shop.town", "usr.colour", "notes", "größe"])
    """
    for name in names:
        if problem := problem_of(name):
            raise refused(name, problem, _NAME_LENGTH if len(name) > _LONGEST else PROPERTY_NAME)


@lru_cache(maxsize=1024)
def problem_of(name: str) -> str:
    """Returns what is wrong with the name of a property, or nothing.

    >>> problem_of("Like")
    "'Like' is no name of a property: it is a word of selectors; give it another"
    """
    why = _reserved(name, name.removeprefix("usr."))
    return f"{name!r:.60} is no name of a property: {why}; give it another" if why else ""


def _reserved(name: str, plain: str) -> str:
    if len(name) > _LONGEST:
        return f"it has more than {_LONGEST} characters"
    if plain.upper() in KEYWORDS:
        return "it is a word of selectors"
    if plain.startswith("JMS") and name not in _OF_JMS:
        return f"those that begin with JMS are its own, and {', '.join(sorted(_OF_JMS))} alone can be set"
    if plain.partition(".")[0] in _CONTENTS:
        return "paths into a message begin so"
    if name[:2].lower() == "mq" and name[: len(_OF_USERS)].lower() != _OF_USERS and name.count(".") > 1:
        return "one that begins with mq has one dot at most"
    if name and max(name) > "\uffff":
        return "it has characters beyond U+FFFF"
    if not all(part.isidentifier() for part in name.split(".")):
        return "it takes letters, digits and _, and dots between them, and begins with a letter or _, also behind a dot"
    return ""
