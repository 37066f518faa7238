"""One attribute of an object: the values that it takes, by its kind, and the form in which they are kept."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from engine.errors import MessageException

Value: TypeAlias = str | int | bool
Kind: TypeAlias = Literal["integer", "text", "name", "choice", "flag", "limit", "custom", "interval"]

ATTRIBUTE_VALUE: Final = 4005  # MQRCCF_ATTR_VALUE_ERROR
ATTRIBUTE_FIXED: Final = 3213  # MQRCCF_ATTR_VALUE_FIXED
OBJECT_NAME: Final = 2152  # MQRC_OBJECT_NAME_ERROR
Q_MGR_NAME: Final = 2058  # MQRC_Q_MGR_NAME_ERROR

_NAME: Final = re.compile(r"[A-Za-z0-9._/%]{1,48}")
_Q_MGR_NAME: Final = re.compile(r"[!-)+-~]{1,48}")
MOST: Final = 999_999_999


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of a kind of object.

    `fixed` is the reason why no value but the default can be set, and the words with which others are refused. One that
    is `shown` only cannot be set at all.
    """

    name: str
    kind: Kind
    default: Value
    low: int = 0
    high: int = 0
    choices: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()
    shown: bool = False
    fixed: str = ""

    def value(self, given: object) -> Value:
        """Returns a value in the form it is kept in: int, str or bool; one that the attribute cannot have is refused.

        >>> Attribute("MAXDEPTH", "integer", 0, high=999_999_999).value(" 5000 ")
        5000
        """
        if self.shown:
            raise self.refusal(f"{self.name} cannot be set, it is shown only; leave it out", ATTRIBUTE_FIXED)
        value = _CONVERSIONS[self.kind](self, given)
        if self.fixed and value != self.default:
            shown = f"{self.name}({self.default})" if self.default else f"{self.name}(' ')"
            if isinstance(self.default, bool):
                shown = self.name if self.default else f"NO{self.name}"
            raise self.refusal(f"{self.fixed}; leave {self.name} out, or write {shown}", ATTRIBUTE_FIXED)
        return value

    def refusal(self, problem: str, reason: int = ATTRIBUTE_VALUE) -> MessageException:
        """Returns the error for a value that the attribute cannot have."""
        return MessageException(reason, f"{problem} ({reason})", self.name, reason=reason)


def _as_integer(attribute: Attribute, given: object) -> Value:
    text = str(given).strip()
    if isinstance(given, bool) or not re.fullmatch(r"[+-]?[0-9]{1,10}", text, re.ASCII):
        raise attribute.refusal(f"{attribute.name} takes a whole number, not {text!r:.40}")
    number = int(text)
    if not attribute.low <= number <= attribute.high:
        raise attribute.refusal(f"{attribute.name} takes {attribute.low} to {attribute.high}, not {number}")
    return number


def _as_text(attribute: Attribute, given: object) -> Value:
    text = str(given).rstrip(" ")
    if attribute.high and len(text) > attribute.high:
        raise attribute.refusal(f"{attribute.name} takes at most {attribute.high} characters, not {len(text)}")
    return text


def _as_name(attribute: Attribute, given: object) -> Value:
    text = str(given).strip(" ")
    return checked_name(text) if text else text


def _as_choice(attribute: Attribute, given: object) -> Value:
    word = str(given).strip().upper()
    if word not in attribute.choices:
        allowed = ", ".join(attribute.choices)
        raise attribute.refusal(f"{attribute.name} takes one of {allowed}, not {given!r:.40}")
    return word


def _as_flag(attribute: Attribute, given: object) -> Value:
    if isinstance(given, bool):
        return given
    raise attribute.refusal(f"{attribute.name} takes no value; write {attribute.name} or NO{attribute.name}")


def _as_limit(attribute: Attribute, given: object) -> Value:
    text = str(given).strip().upper()
    if text in attribute.choices:
        return text
    if not re.fullmatch(r"[0-9]{1,9}", text, re.ASCII) or not int(text):
        words = ", or ".join((f"1 to {MOST}", *attribute.choices))
        problem = f"{attribute.name} takes tenths of a second, {words}, not {text!r:.40}"
        raise attribute.refusal(problem)
    return str(int(text))


def _as_custom(attribute: Attribute, given: object) -> Value:
    text = " ".join(str(given).upper().split())
    if not text:
        return ""
    limit = custom_limit(text)
    if not limit:
        raise attribute.refusal(f"{attribute.name} takes 'CAPEXPRY(12000)' or nothing, not {text!r:.40}")
    return f"CAPEXPRY({_as_limit(attribute, limit)})"


def custom_limit(text: str) -> str:
    """Returns the limit of expiry that the value of CUSTOM has, or an empty text.

    >>> custom_limit("CAPEXPRY(12000)")
    '12000'
    """
    found = re.fullmatch(r" *CAPEXPRY *\( *([^ ()]+) *\) *", text)
    return found.group(1) if found else ""


def _as_interval(attribute: Attribute, given: object) -> Value:
    """Checks minutes, or minutes and seconds with two digits: 1.00 is a minute, and 0.05 five seconds."""
    text = str(given).strip()
    if text in attribute.choices or text == "0":
        return text
    found = re.fullmatch(r"([0-9]{1,4})(?:\.([0-5][0-9]))?", text, re.ASCII)
    seconds = 60 * int(found.group(1)) + int(found.group(2) or 0) if found else 0
    if not 1 <= seconds <= 60 * attribute.high:
        problem = f"{attribute.name} takes minutes up to {attribute.high}, or minutes and seconds as MMMM.SS"
        raise attribute.refusal(f"{problem}: 1.00 is a minute and 0.05 five seconds; {text!r:.40} is neither")
    return text


_CONVERSIONS: Final = {
    "integer": _as_integer,
    "text": _as_text,
    "name": _as_name,
    "choice": _as_choice,
    "flag": _as_flag,
    "limit": _as_limit,
    "custom": _as_custom,
    "interval": _as_interval,
}


def checked_name(name: str) -> str:
    """Returns the name of an object, or refuses one that MQ does not allow.

    >>> checked_name("APP.ORDERS")
    'APP.ORDERS'
    """
    if _NAME.fullmatch(name) is None:
        problem = f"{name!r:.60} is no name of an object: write 1 to 48 of A-Z a-z 0-9 . / _ % ({OBJECT_NAME})"
        raise MessageException(OBJECT_NAME, problem, name, reason=OBJECT_NAME)
    return name


def checked_queue_manager_name(name: str) -> str:
    """Returns the name of a queue manager, or refuses one that flows could not name either."""
    if _Q_MGR_NAME.fullmatch(name) is None:
        problem = f"{name!r:.60} is no name of a queue manager: write 1 to 48 ASCII characters, without blanks and '*'"
        raise MessageException(Q_MGR_NAME, problem, name, reason=Q_MGR_NAME)
    return name
