"""The pages of a store's file, walked one by one: what no cursor passes on its way, and whether it all fits together.

LMDB trusts the pages that it reads. This walk trusts none: each page says its own number and kind, its keys lie between
those that lead to it, and every page of the file is in one tree, or in the list of free pages, and in no other.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

_PAGE: Final = struct.Struct("<QHHHH")  # number, unused, kind, lower and upper end of what is free in it
_META: Final = struct.Struct("<IIQQ")  # magic, version, address, size of the map
_TREE: Final = struct.Struct("<IHHQQQQQ")  # page size, flags, depth, pages by kind, entries, root
_LAST: Final = struct.Struct("<QQ")  # last page, transaction
_NODE: Final = struct.Struct("<HHHH")  # size or page below in two parts, flags, size of the key
_NUMBER: Final = struct.Struct("<Q")
_BRANCH, _LEAF, _OVERFLOW, _IS_META = 1, 2, 4, 8
_LONG, _TABLE = 1, 2  # flags of a leaf's node: its value is on pages of its own, or is a tree
_INTEGER_KEYS: Final = 8
_MAGIC: Final = 0xBEEFC0DE
_VERSION: Final = 1
_NONE: Final = (1 << 64) - 1
_FREE: Final = b"\0free"  # the name here of the list of free pages
Key = Callable[[bytes], Any]


class BrokenError(Exception):
    """A page that is not what it should be; nothing below it can be walked."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree as its root is told: where it begins, how deep it is, and what it has."""

    flags: int
    depth: int
    branches: int
    leaves: int
    overflows: int
    entries: int
    root: int


@dataclass(frozen=True, slots=True)
class Meta:
    """One of the two pages by which a file begins."""

    page_size: int
    free: Tree
    main: Tree
    last: int
    transaction: int


@dataclass(slots=True)
class Seen:
    """The pages and entries of a tree that were met."""

    branches: int = 0
    leaves: int = 0
    overflows: int = 0
    entries: int = 0


@dataclass(slots=True)
class Walk:
    """A walk through the pages of a file: what it has found, and which pages it knows."""

    file: int
    size: int
    last: int
    wrong: list[str] = field(default_factory=list)
    owners: dict[int, str] = field(default_factory=dict)

    def tree(self, name: bytes, tree: Tree, key: Key) -> Iterator[tuple[bytes, bytes, int]]:
        """Yields the entries of a tree, each with its flags, as far as its pages can be read."""
        called = "free pages" if name == _FREE else f"table {name.decode(errors='replace')}"
        seen = Seen()
        if tree.root != _NONE:
            yield from self._page(called, tree.root, tree.depth, (None, None), (key, seen))
        found = (seen.branches, seen.leaves, seen.overflows, seen.entries)
        if found != (tree.branches, tree.leaves, tree.overflows, tree.entries):
            self.wrong.append(f"{called}: its root counts other pages and entries than are there")

    def _page(
        self, name: str, number: int, depth: int, between: tuple[Any, Any], counting: tuple[Key, Seen]
    ) -> Iterator[tuple[bytes, bytes, int]]:
        """Yields what is on a page and below it."""
        key, seen = counting
        try:
            page, kind = self._read(name, number, _LEAF if depth == 1 else _BRANCH)
            nodes = list(_nodes(page, key, between, kind))
        except BrokenError as error:
            self.wrong.append(f"{name}, page {number}: {error}")
            return
        if kind == _LEAF:
            seen.leaves += 1
            for flags, own, at in nodes:
                seen.entries += 1
                try:
                    yield own, self._value(name, page, at, flags, seen), flags
                except BrokenError as error:
                    self.wrong.append(f"{name}, page {number}: {error}")
            return
        seen.branches += 1
        bounds = [between[0], *(key(own) for _, own, _ in nodes[1:]), between[1]]
        for (_, _, at), low, high in zip(nodes, bounds, bounds[1:], strict=False):
            yield from self._page(name, _below(page, at), depth - 1, (low, high), counting)

    def _read(self, name: str, number: int, kind: int) -> tuple[bytes, int]:
        self.own(name, number)
        page = os.pread(self.file, self.size, number * self.size)
        if len(page) < self.size:
            raise BrokenError("the file ends before it")
        known, _, flags, lower, upper = _PAGE.unpack_from(page)
        if known != number or flags != kind:
            raise BrokenError(f"it says that it is page {known} of kind {flags}, and not of kind {kind}")
        if kind != _OVERFLOW and not _PAGE.size <= lower <= upper <= self.size:
            raise BrokenError("it says that more than all of it is free")
        return page, flags

    def own(self, name: str, number: int) -> None:
        """Note to whom a page belongs; no other may have it."""
        if not 1 < number <= self.last:
            raise BrokenError("there is no such page")
        if number in self.owners:
            raise BrokenError(f"it belongs to {self.owners[number]} as well")
        self.owners[number] = name

    def _value(self, name: str, page: bytes, at: int, flags: int, seen: Seen) -> bytes:
        """Returns the value of a leaf's node, read from its own pages where it is long."""
        low, high, _, length = _NODE.unpack_from(page, at)
        size, begin = low | high << 16, at + _NODE.size + length
        if not flags & _LONG:
            return page[begin : begin + size]
        (first,) = _NUMBER.unpack_from(page, begin)
        head, _ = self._read(name, first, _OVERFLOW)
        count = (_PAGE.size + size - 1) // self.size + 1
        if int.from_bytes(head[12:16], "little") != count:
            raise BrokenError(f"the value on page {first} has another length than its entry says")
        for number in range(first + 1, first + count):
            self.own(name, number)
        seen.overflows += count
        return os.pread(self.file, size, first * self.size + _PAGE.size)


def problems(file: int, transaction: int) -> list[str] | None:
    """Returns what is wrong with the pages of a file as a transaction sees it; None where that has been overwritten."""
    heads = [_meta(os.pread(file, 4096, number * 4096), number) for number in (0, 1)]
    if any(isinstance(head, str) for head in heads):
        return [head for head in heads if isinstance(head, str)]
    metas = [head for head in heads if isinstance(head, Meta)]
    chosen = next((meta for meta in metas if meta.transaction == transaction), None)
    numbers = sorted(meta.transaction for meta in metas)
    if numbers[1] - numbers[0] > 1:
        return [f"the file begins with transactions {numbers[0]} and {numbers[1]}, which do not follow each other"]
    return None if chosen is None else _walked(file, chosen)


def _meta(page: bytes, number: int) -> Meta | str:
    """Returns what a file begins with, or what is wrong with it."""
    wrong = f"page {number}, by which the file begins, is not what was written"
    if len(page) < 4096:
        return wrong
    known, _, flags, _, _ = _PAGE.unpack_from(page)
    magic, version, _, _ = _META.unpack_from(page, _PAGE.size)
    at = _PAGE.size + _META.size
    trees = [_TREE.unpack_from(page, at + index * _TREE.size) for index in (0, 1)]
    last, transaction = _LAST.unpack_from(page, at + 2 * _TREE.size)
    said = (known, flags, magic, version, trees[0][1], trees[1][1])
    if said != (number, _IS_META, _MAGIC, _VERSION, _INTEGER_KEYS, 0) or transaction & 1 != number * (transaction > 0):
        return wrong
    if trees[0][0] != 4096:
        return f"{wrong}: it says that pages have {trees[0][0]} bytes"
    return Meta(trees[0][0], Tree(*trees[0][1:]), Tree(*trees[1][1:]), last, transaction)


def _walked(file: int, meta: Meta) -> list[str]:
    walk = Walk(file, meta.page_size, meta.last)
    tables: list[tuple[bytes, Tree]] = []
    for name, value, flags in walk.tree(b"main", meta.main, bytes):
        if flags != _TABLE or len(value) != _TREE.size:
            walk.wrong.append(f"table {name.decode(errors='replace')} is none")
        else:
            tables.append((name, Tree(*_TREE.unpack(value)[1:])))
    for name, tree in tables:
        for _ in walk.tree(name, tree, bytes):
            pass
    for _, value, _ in walk.tree(_FREE, meta.free, lambda key: int.from_bytes(key, "little")):
        _note_free(walk, value)
    missing = meta.last - 1 - len(walk.owners)
    if missing and not walk.wrong:
        walk.wrong.append(f"{missing} pages are neither used nor free")
    return walk.wrong


def _note_free(walk: Walk, value: bytes) -> None:
    """Note the pages that an entry of the list of free ones names."""
    count, *pages = [number for (number,) in _NUMBER.iter_unpack(value[: len(value) // 8 * 8])]
    if count > len(pages):
        walk.wrong.append("the list of free pages is longer than its entry")
        return
    for number in pages[:count]:
        try:
            walk.own("the list of free pages", number)
        except BrokenError as error:
            walk.wrong.append(f"free page {number}: {error}")


def _nodes(page: bytes, key: Key, between: tuple[Any, Any], kind: int) -> Iterator[tuple[int, bytes, int]]:
    """Yields the nodes of a page: flags, key, and where it stands; their keys must ascend, and lie between two."""
    _, _, _, lower, upper = _PAGE.unpack_from(page)
    before, high = between
    for index in range((lower - _PAGE.size) // 2):
        (at,) = struct.unpack_from("<H", page, _PAGE.size + 2 * index)
        if not upper <= at <= len(page) - _NODE.size:
            raise BrokenError("an entry stands outside it")
        low, rest, flags, length = _NODE.unpack_from(page, at)
        end = at + _NODE.size + length
        if kind == _LEAF:
            end += _NUMBER.size if flags & _LONG else low | rest << 16
            if flags & ~(_LONG | _TABLE):
                raise BrokenError("an entry has flags that are never used")
        if end > len(page):
            raise BrokenError("an entry ends outside it")
        own = page[at + _NODE.size : at + _NODE.size + length]
        if kind == _BRANCH and index == 0:  # the first stands for all that is before the second
            yield flags, own, at
            continue
        found = key(own)
        is_first = index == (kind == _BRANCH)
        if before is not None and (found < before or (found == before and not is_first)):
            raise BrokenError("its keys are not in order")
        if high is not None and found >= high:
            raise BrokenError("it has keys of another page")
        before = found
        yield flags, own, at


def _below(page: bytes, at: int) -> int:
    low, high, top, _ = _NODE.unpack_from(page, at)
    return int(low | high << 16 | top << 32)
