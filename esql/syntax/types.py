"""Data types, as they are written in declarations and CAST."""

from __future__ import annotations

from dataclasses import dataclass

from esql.syntax.position import Node


@dataclass(frozen=True, slots=True)
class Qualifier(Node):
    """`DAY` or `DAY TO SECOND`: the fields of an interval."""

    largest: str
    smallest: str | None = None


@dataclass(frozen=True, slots=True)
class DataType(Node):
    """A type by its long name (INTEGER, not INT); REFERENCE, ROW, NAMESPACE and NAME are types here too."""

    name: str
    precision: int | None = None
    scale: int | None = None
    qualifier: Qualifier | None = None

    @property
    def is_scalar(self) -> bool:
        """Returns whether a variable of it holds one value that can be changed."""
        return self.name not in ("REFERENCE", "ROW", "LIST", "NAMESPACE", "NAME")
