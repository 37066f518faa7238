"""FORMAT patterns of numbers: written as `#,##0.00;(#,##0.00):groupsep=,:decsep=.`, in the manner of ICU."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import lru_cache
from typing import Final

from esql.values.errors import NUMERIC_ARGUMENT, OVERFLOW, ValueFailure
from esql.values.literal_contents import UnreadableError

_PARAMETER: Final = re.compile(r":(groupsep|decsep)=", re.IGNORECASE)
_NUMBER: Final = re.compile(
    r"(?P<whole>[#0,]*)(?:(?P<point>\.)(?P<fraction>[0#]*))?(?:(?P<e>[eE])(?P<exponent>\+?0+))?"
)
_QUOTED: Final = re.compile(r"(?:[^']|'')*+")
_SCALES: Final = {"%": 2, "‰": 3}
_LONGEST_KEPT: Final = 1000  # characters of a pattern that is kept for the next use
_LONGEST: Final = 300  # digits that a pattern may ask for in front of the point


def _context(digits: int) -> Context:
    return Context(prec=digits, rounding=ROUND_HALF_EVEN, Emin=-999_999_999, Emax=999_999_999, traps=[])


_WIDE: Final = _context(400)


@dataclass(frozen=True, slots=True)
class Affix:
    """The text in front of a number or behind it, and where padding goes: outside, inside or nowhere."""

    text: str = ""
    pad_outside: bool = False
    pad_inside: bool = False


@dataclass(frozen=True, slots=True)
class Digits:
    """The digits of a number: how many there are, and how they are grouped."""

    least_whole: int
    most_whole: int
    least_fraction: int
    most_fraction: int
    primary: int = 0
    secondary: int = 0
    shows_point: bool = False
    exponent: str = ""
    least_exponent: int = 0
    signs_exponent: bool = False


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern, ready for writing and reading numbers."""

    digits: Digits
    prefix: Affix
    suffix: Affix
    negative: tuple[str, str]
    group: str
    point: str
    scale: int = 0
    pad: str = ""
    width: int = 0

    def write(self, value: Decimal) -> str:
        """A number as text.

        >>> number_pattern("#,##0.00;(#,##0.00)").write(Decimal("-54231.122"))
        '(54,231.12)'
        """
        negative = value.is_signed()
        if value.is_finite():
            body = self._body(_WIDE.scaleb(value.copy_abs(), self.scale))
        else:
            body = "NAN" if value.is_nan() else "INF"
        prefix, suffix = self.negative if negative and not value.is_nan() else (self.prefix.text, self.suffix.text)
        return self._padded(prefix, body, suffix)

    def _padded(self, prefix: str, body: str, suffix: str) -> str:
        padding = self.pad * (self.width - len(prefix) - len(body) - len(suffix))
        before, behind = self.prefix, self.suffix
        parts = (before.pad_outside, prefix, before.pad_inside, body, behind.pad_inside, suffix, behind.pad_outside)
        return "".join(part if isinstance(part, str) else padding if part else "" for part in parts)

    def _body(self, value: Decimal) -> str:
        if self.digits.exponent:
            return self._scientific(value)
        return self._plain(value, self.digits.least_whole, self.digits.least_fraction, self.digits.most_fraction)

    def _plain(self, value: Decimal, least_whole: int, least_fraction: int, most_fraction: int) -> str:
        rounded = _WIDE.quantize(value, Decimal((0, (1,), -most_fraction)))
        if rounded.is_nan():
            raise UnreadableError("it has too many digits for a FORMAT without an exponent", OVERFLOW)
        text = format(rounded, "f")
        whole, _, fraction = text.partition(".")
        whole = whole.lstrip("0").rjust(least_whole, "0")
        kept = fraction.rstrip("0").ljust(least_fraction, "0")
        if not whole and not kept:
            whole = "0"
        return self._grouped(whole) + (self.point + kept if kept or self.digits.shows_point else "")

    def _grouped(self, whole: str) -> str:
        size = self.digits.primary
        if not size or len(whole) <= size:
            return whole
        groups = [whole[-size:]]
        rest, size = whole[:-size], self.digits.secondary or size
        while rest:
            groups.append(rest[-size:])
            rest = rest[:-size]
        return self.group.join(reversed(groups))

    def _scientific(self, value: Decimal) -> str:
        digits = self.digits
        engineering = digits.most_whole > digits.least_whole and digits.most_whole > 1
        least = 1 if engineering else digits.least_whole
        significant = digits.least_whole + digits.most_fraction
        step = digits.most_whole if engineering else 1
        exponent = 0
        if value:
            if significant > 0:
                value = _context(significant).plus(value)
            exponent = value.adjusted() + 1 - (0 if engineering else least)
            exponent = (value.adjusted() // step) * step if engineering else exponent
        most = max(digits.most_fraction, significant - 1) if engineering else digits.most_fraction
        mantissa = self._plain(_WIDE.scaleb(value, -exponent), least, digits.least_fraction, most)
        sign = "-" if exponent < 0 else "+" if digits.signs_exponent else ""
        return f"{mantissa}{digits.exponent}{sign}{abs(exponent):0{digits.least_exponent}d}"

    def read(self, text: str) -> Decimal:
        """A number from text; separators of groups are passed over wherever they stand.

        >>> number_pattern("#,##0.00;(#,##0.00)").read("(54,231.12)")
        Decimal('-54231.12')
        """
        if self.pad:
            text = self._unpadded(text)
        for sign, (prefix, suffix) in (("", (self.prefix.text, self.suffix.text)), ("-", self.negative)):
            if len(text) >= len(prefix) + len(suffix) and text.startswith(prefix) and text.endswith(suffix):
                found = self._number(text[len(prefix) : len(text) - len(suffix)])
                if found is not None:
                    return Decimal(f"{sign}{found}").scaleb(-self.scale, _WIDE)
        raise UnreadableError("it does not have the form that FORMAT asks for")

    def _unpadded(self, text: str) -> str:
        if self.prefix.pad_outside:
            text = text.lstrip(self.pad)
        if self.suffix.pad_outside:
            text = text.rstrip(self.pad)
        for prefix, suffix in ((self.prefix.text, self.suffix.text), self.negative):
            if not (text.startswith(prefix) and text.endswith(suffix)):
                continue
            body = text[len(prefix) : len(text) - len(suffix)]
            body = body.lstrip(self.pad) if self.prefix.pad_inside else body
            body = body.rstrip(self.pad) if self.suffix.pad_inside else body
            text = prefix + (body or self.pad) + suffix
        return text

    def _number(self, body: str) -> str | None:
        """The digits of a number as Python reads them."""
        if body in {"INF", "NAN"}:
            return {"INF": "Infinity", "NAN": "NaN"}[body]
        match = _readable(self.group if self.digits.primary else "", self.point, self.digits.exponent).fullmatch(body)
        if match is None or not (match["whole"] or match["fraction"]):
            return None
        whole = re.sub(r"\D", "", match["whole"], flags=re.ASCII)
        exponent = match["exponent"] if self.digits.exponent else None
        fraction = f".{match['fraction']}" if match["fraction"] else ""
        return f"{whole or 0}{fraction}E{exponent or 0}"


@lru_cache(maxsize=256)
def _readable(group: str, point: str, exponent: str) -> re.Pattern[str]:
    inside = f"{re.escape(group)}|" if group else ""
    power = f"(?:{exponent}(?P<exponent>[+-]?[0-9]{{1,9}}))?" if exponent else ""
    # possessive: a separator that is written in digits is read one way only
    return re.compile(rf"(?P<whole>(?:{inside}[0-9])*+)(?:{re.escape(point)}(?P<fraction>[0-9]*))?{power}")


def _refused(pattern: str, why: str) -> ValueFailure:
    return ValueFailure(
        2597, NUMERIC_ARGUMENT, f"{pattern!r} is no FORMAT of a number: {why}, as in '#,##0.00'", pattern
    )


def _split_parameters(pattern: str) -> tuple[str, str, str]:
    """The pattern itself, the separator of groups and the decimal separator."""
    found = {"groupsep": ",", "decsep": "."}
    places: list[re.Match[str]] = []
    quotes, seen = 0, 0
    for match in _PARAMETER.finditer(pattern):
        # Only the pattern has quotes; as a separator a quote is itself.
        quotes, seen = quotes + pattern.count("'", seen, match.start()), match.start()
        if places or quotes % 2 == 0:
            places.append(match)
    ends = [match.start() for match in places[1:]] + [len(pattern)]
    for match, end in zip(places, ends, strict=False):
        found[match[1].lower()] = pattern[match.end() : end]
    return pattern[: places[0].start()] if places else pattern, found["groupsep"], found["decsep"]


def _affix(text: str, at: int, *, stops: str) -> tuple[Affix, str, int, int]:
    """An affix from `at` on: itself, its padding character, its scale, and where it ends."""
    out: list[str] = []
    pad, scale, outside, inside = "", 0, False, False
    while at < len(text) and text[at] not in stops:
        letter = text[at]
        if letter == "'":
            quoted, at = _quoted(text, at)
            out.append(quoted)
            continue
        if letter == "*" and at + 1 < len(text):
            pad, at = text[at + 1], at + 2
            outside, inside = (True, False) if not out else (False, True)
            continue
        scale = _SCALES.get(letter, scale)
        out.append(letter)
        at += 1
    return Affix("".join(out), outside, inside), pad, scale, at


def _quoted(text: str, at: int) -> tuple[str, int]:
    """The text in quotes from `at` on, and where it ends; two quotes are one."""
    if text.startswith("''", at):
        return "'", at + 2
    match = _QUOTED.match(text, at + 1)
    assert match is not None
    return match[0].replace("''", "'"), match.end() + 1


def _digits(pattern: str, match: re.Match[str]) -> Digits:
    whole, fraction, exponent = match["whole"], match["fraction"] or "", match["exponent"] or ""
    bare = whole.replace(",", "")
    if not bare and not fraction:
        raise _refused(pattern, "it has no place for digits")
    if "0#" in bare or "#0" in fraction or len(bare) + len(fraction) > _LONGEST:
        raise _refused(pattern, "# stands further from the point than 0")
    if whole.endswith(","):
        raise _refused(pattern, "there is no digit behind its last comma")
    groups = whole.split(",")
    return Digits(
        least_whole=bare.count("0"),
        most_whole=len(bare),
        least_fraction=fraction.count("0"),
        most_fraction=len(fraction),
        primary=len(groups[-1]) if len(groups) > 1 else 0,
        secondary=len(groups[-2]) if len(groups) > 2 else 0,
        shows_point=match["point"] is not None and not fraction,
        exponent=match["e"] or "",
        least_exponent=exponent.count("0"),
        signs_exponent=exponent.startswith("+"),
    )


def number_pattern(pattern: str) -> Pattern:
    """The pattern that a FORMAT stands for.

    >>> number_pattern("0,000.00").write(Decimal(10))
    '0,010.00'
    """
    return (_read_pattern if len(pattern) <= _LONGEST_KEPT else _read_pattern.__wrapped__)(pattern)


@lru_cache(maxsize=512)
def _read_pattern(pattern: str) -> Pattern:
    text, group, point = _split_parameters(pattern)
    prefix, pad, scale, at = _affix(text, 0, stops="#0,.;")
    match = _NUMBER.match(text, at)
    assert match is not None
    digits = _digits(pattern, match)
    suffix, pad_behind, scale_behind, end = _affix(text, match.end(), stops="#0;")
    if pad_behind:
        suffix = Affix(suffix.text, *_behind(text, match.end()))
    width = len(prefix.text) + len(match[0]) + len(suffix.text)
    negative = _negative(pattern, text, end, (prefix.text, suffix.text))
    return Pattern(digits, prefix, suffix, negative, group, point, scale or scale_behind, pad or pad_behind, width)


def _behind(text: str, at: int) -> tuple[bool, bool]:
    """Returns whether padding stands behind the suffix, or between it and the number."""
    inside = text.startswith("*", at)
    return not inside, inside


def _negative(pattern: str, text: str, end: int, positive: tuple[str, str]) -> tuple[str, str]:
    """Returns what stands around negative numbers: of the second pattern only this counts."""
    prefix, suffix = positive
    if end < len(text):
        if text[end] != ";":
            raise _refused(pattern, f"{text[end]!r} stands behind its digits")
        before, _, _, at = _affix(text, end + 1, stops="#0,.;")
        match = _NUMBER.match(text, at)
        assert match is not None
        behind, _, _, rest = _affix(text, match.end(), stops="#0;")
        if rest < len(text):
            raise _refused(pattern, "it has more than two parts")
        if (before.text, behind.text) != positive:
            return before.text, behind.text
    return (prefix.replace("+", "-", 1), suffix) if "+" in prefix else ("-" + prefix, suffix)
