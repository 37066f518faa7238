"""Named: the children of handles by their names, so that one of many names is found at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Generic, Protocol, TypeVar

_FEW: Final = 16  # as many are looked through faster than they are sorted


class _HasName(Protocol):
    @property
    def name(self) -> str: ...


C = TypeVar("C", bound=_HasName)


class Named(Generic[C]):
    """The children of a source by their names, which are read once and stay as they are.

    >>> from collections import namedtuple
    >>> Field = namedtuple("Field", "name")
    >>> fields = [Field(f"f{number}") for number in range(100)]
    >>> Named().among(None, fields, "f7")
    [Field(name='f7')]
    """

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[object, dict[str, list[C]]] = {}

    def among(self, handle: object, children: Sequence[C], name: str | None) -> Sequence[C]:
        """The children of a handle that may have a name, in order; all of them where they are few."""
        if name is None or len(children) <= _FEW:
            return children
        known = self._known.get(handle)
        if known is None:
            known = {}
            for child in children:
                known.setdefault(child.name, []).append(child)
            self._known[handle] = known  # last: another thread finds it whole
        return known.get(name, ())
