"""Requests for casts: the type, the clauses, and the place in the program."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Final

from engine.descriptor import BIG_ENDIAN, UTF_8
from engine.parser import Codec, codec_catalog
from esql.runtime.invocation import Invocation
from esql.values.errors import CAST_REFUSED, ValueFailure, cast_failure
from esql.values.literals import shown
from esql.values.types import Qualifier, Value, type_of


@dataclass(frozen=True, slots=True)
class Target:
    """The type to cast to: DECIMAL may have a precision and a scale, INTERVAL has units.

    >>> str(Target("DECIMAL", precision=10, scale=2))
    'DECIMAL(10,2)'
    """

    name: str
    precision: int | None = None
    scale: int | None = None
    units: Qualifier | None = None

    def __str__(self) -> str:
        if self.units is not None:
            return f"{self.name} {self.units}"
        if self.precision is None:
            return self.name
        return f"{self.name}({self.precision},{self.scale or 0})"


@dataclass(frozen=True, slots=True)
class Clauses:
    """The clauses of CAST; None where one is not given."""

    ccsid: int | None = None
    encoding: int | None = None
    format: str | None = None


PLAIN: Final = Clauses()


@cache
def _codec() -> Codec:
    return codec_catalog.find("ccsid")


@dataclass(frozen=True, slots=True)
class Job:
    """A cast: to what, how, and in which invocation."""

    target: Target
    clauses: Clauses = PLAIN
    here: Invocation = field(default_factory=Invocation)

    @property
    def converts(self) -> bool:
        """Returns whether bytes are characters here, of the CCSID and encoding said."""
        return self.clauses.ccsid is not None or self.clauses.encoding is not None

    def decoded(self, data: bytes) -> str:
        """The characters that bytes stand for."""
        return _codec().decode(data, *self._code())

    def encoded(self, text: str) -> bytes:
        """The bytes that characters become."""
        return _codec().encode(text, *self._code())

    def _code(self) -> tuple[int, int]:
        ccsid, encoding = self.clauses.ccsid, self.clauses.encoding
        return UTF_8 if ccsid is None else ccsid, BIG_ENDIAN if encoding is None else encoding

    def failure(self, value: Value, why: str, sqlstate: str = CAST_REFUSED) -> ValueFailure:
        """The error that this value cannot be cast."""
        return cast_failure(shown(value), type_of(value), self.target.name, why, sqlstate)
