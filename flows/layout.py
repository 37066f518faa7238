"""The layout of a flow in a drawing: layers from left to right, in each the nodes from top to bottom, or its own file.

A wire over several layers bends once in each of them; wires to one terminal are joined as early as they can be.

The file of flow `orders.yaml` is `orders.layout.yaml`, a line for each node that has a place: `Check 1: [240, 60]`.
Positions are those of the upper left corner, in pixels. Nodes without a line are placed as if there were no file.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os.path import dirname, lexists
from pathlib import PurePath
from statistics import mean
from typing import Final, NamedTuple, TypeAlias

from engine.errors import Problem
from engine.flow.lint import UNFIT
from flows.yaml_document import Complaints, Scalar, Tree, content_or_problem, decoded, read_document
from flows.yaml_document import Mapping as Table
from flows.yaml_document import Sequence as Row

SWEEPS: Final = 12
MOST_ATTEMPTS: Final = 100
MOST_LOWERED: Final = 3


class Item(NamedTuple):
    """An item of a layer: a node, or a bend of the wires to a terminal of a node further right."""

    key: str
    layer: int
    bends_to: str = ""

    @property
    def is_bend(self) -> bool:
        """Returns whether this is a bend."""
        return bool(self.bends_to)


class Link(NamedTuple):
    """A wire, or the part of one between neighbouring layers; the terminal of a bend has no name."""

    source: Item
    terminal: str
    target: Item
    target_terminal: str


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Layers in order, what links each to the next, and where the terminals of an item come from top to bottom."""

    layers: tuple[tuple[Item, ...], ...]
    links: tuple[Link, ...]
    outputs: Mapping[Item, tuple[str, ...]]
    inputs: Mapping[Item, tuple[str, ...]]


def arrange(layers: Sequence[Sequence[str]], wires: Iterable[tuple[str, str, str, str]]) -> Arrangement:
    """The arrangement of nodes that are in layers already; wires must lead from a layer to a later one."""
    nodes = {key: Item(key, number) for number, layer in enumerate(layers) for key in layer}
    links = tuple(dict.fromkeys(link for wire in wires for link in _split(nodes, wire)))
    start = [[nodes[key] for key in layer] for layer in layers]
    for item in dict.fromkeys(link.target for link in links if link.target.is_bend):
        start[item.layer].append(item)
    ordered = _untangled(start, links)
    rank = _ranks(ordered)
    outputs, inputs = defaultdict(list), defaultdict(list)
    for link in links:
        outputs[link.source].append((link.terminal, rank[link.target]))
        inputs[link.target].append((link.target_terminal, rank[link.source]))
    return Arrangement(
        tuple(tuple(layer) for layer in ordered),
        links,
        {item: _by_mean(ends) for item, ends in outputs.items()},
        {item: _by_mean(ends) for item, ends in inputs.items()},
    )


def _split(nodes: Mapping[str, Item], wire: tuple[str, str, str, str]) -> Iterable[Link]:
    source, terminal, target, target_terminal = wire
    here, end = nodes[source], nodes[target]
    for layer in range(here.layer + 1, end.layer):
        bend = Item(target, layer, target_terminal)
        yield Link(here, terminal, bend, "")
        here, terminal = bend, ""
    yield Link(here, terminal, end, target_terminal)


def _by_mean(ends: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    ranks = defaultdict(list)
    for terminal, rank in ends:
        ranks[terminal].append(rank)
    return tuple(sorted(ranks, key=lambda terminal: mean(ranks[terminal])))


def _ranks(layers: Iterable[Iterable[Item]]) -> dict[Item, int]:
    return {item: number for layer in layers for number, item in enumerate(layer)}


def _untangled(layers: list[list[Item]], links: Sequence[Link]) -> list[list[Item]]:
    """The layers in an order with few crossings: each item near the mean of its neighbours, left and right in turn."""
    left, right = defaultdict(list), defaultdict(list)
    for link in links:
        left[link.target].append(link.source)
        right[link.source].append(link.target)
    best, fewest = layers, _crossings(layers, links)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        neighbours, path = (left, layers) if sweep % 2 == 0 else (right, layers[::-1])
        rank = _ranks(layers)
        for layer in path:
            means = {
                item: mean(rank[n] for n in neighbours[item]) if neighbours[item] else rank[item] for item in layer
            }
            layer.sort(key=means.__getitem__)
            rank.update(_ranks([layer]))
        layers = [list(layer) for layer in layers]
        crossings = _crossings(layers, links)
        if crossings < fewest:
            best, fewest = layers, crossings
    return best


def _crossings(layers: Iterable[Iterable[Item]], links: Sequence[Link]) -> int:
    rank = _ranks(layers)
    found = 0
    by_layer = defaultdict(list)
    for link in links:
        by_layer[link.source.layer].append((rank[link.source], rank[link.target]))
    for ends in by_layer.values():
        ends.sort()
        found += sum(a < c and b > d for number, (a, b) in enumerate(ends) for c, d in ends[number + 1 :])
    return found


class Rows(NamedTuple):
    """The rows of items in a drawing: how high each is, and how far below its top its terminals are."""

    height: Callable[[Item], int]
    output: Callable[[Item, str], int]
    input: Callable[[Item, str], int]
    gap: int


class Net(NamedTuple):
    """Wires, between two neighbouring layers, that end at the same terminal and so may join on their way."""

    target: Item
    terminal: str


class Placed(NamedTuple):
    """Items with their places, and for each gap between layers the tracks, from the left, where wires change rows."""

    tops: Mapping[Item, int]
    tracks: tuple[Mapping[Net, int], ...]

    def width(self, gap: int) -> int:
        """Returns how many tracks a gap has."""
        return max(self.tracks[gap].values(), default=-1) + 1


def place(made: Arrangement, rows: Rows) -> Placed:
    """Places and tracks such that no wire lies on another, and that it is clear which wire leads where."""
    lowered: dict[Item, int] = defaultdict(int)
    for _ in range(MOST_ATTEMPTS):  # each moves what is wrong a row down, first in each gap
        found = _tops(made, rows, lowered)
        gaps = [_Gap(made, rows, found, number) for number in range(len(made.layers))]
        wrong = [[*gap.stuck, *(n for n in gap.unclear if lowered[n.target] < MOST_LOWERED)] for gap in gaps]
        if not any(wrong):
            break
        for nets in wrong:
            for net in nets[:1]:
                lowered[net.target] += 1
    return Placed(found, tuple(gap.tracks for gap in gaps))


class _Gap:
    """The wires between a layer and the next: the rows where each net starts and ends, and the track that it takes.

    `stuck` are nets that cannot but lie on one another. `unclear` are nets that run straight on from a row where
    another net, which other wires join, leaves it: these wires would seem to run on as well.
    """

    def __init__(self, made: Arrangement, rows: Rows, found: Mapping[Item, int], number: int) -> None:
        self._starts: dict[Net, set[int]] = defaultdict(set)
        self._ends: dict[Net, int] = {}
        for link in made.links:
            if link.source.layer == number:
                net = Net(link.target, link.target_terminal)
                self._starts[net].add(found[link.source] + rows.output(link.source, link.terminal))
                self._ends[net] = found[link.target] + rows.input(link.target, link.target_terminal)
        turning = [net for net in self._starts if self._starts[net] != {self._ends[net]}]
        turning.sort(key=lambda net: _preference(min(self._starts[net]), self._ends[net]))
        self.tracks: dict[Net, int] = {}
        self.stuck = self._assign(list(turning))
        self.unclear = [net for net in self._starts if any(self._blurs(net, other) for other in turning)]

    def _assign(self, waiting: list[Net]) -> list[Net]:
        """Give each net a track; what is left over cannot be given one."""
        before = {net: {other for other in waiting if self._must_precede(other, net)} for net in waiting}
        better = {net: {other for other in waiting if self._should_precede(other, net)} for net in waiting}
        while waiting:
            possible = [net for net in waiting if before[net] <= self.tracks.keys()]
            if not possible:
                break
            chosen = next((net for net in possible if better[net] <= self.tracks.keys()), possible[0])
            waiting.remove(chosen)
            top, bottom = self._span(chosen)
            spans = ((track, self._span(net)) for net, track in self.tracks.items())
            beside = [track for track, (start, end) in spans if start <= bottom and top <= end]
            self.tracks[chosen] = max(beside, default=-1) + 1
        return waiting

    def _span(self, net: Net) -> tuple[int, int]:
        rows = (self._ends[net], *self._starts[net])
        return min(rows), max(rows)

    def _must_precede(self, one: Net, other: Net) -> bool:
        """Returns whether one leaves a row on which the other arrives."""
        end = self._ends[other]
        return one != other and end in self._starts[one] and end not in self._starts[other]

    def _should_precede(self, one: Net, other: Net) -> bool:
        """Returns whether one leaves a row that the other leaves too, to be joined by further wires."""
        return one != other and len(self._starts[other]) > 1 and not self._starts[one].isdisjoint(self._starts[other])

    def _blurs(self, straight: Net, joined: Net) -> bool:
        end = self._ends[straight]
        shared = end in self._starts[straight] and end in self._starts[joined] and end != self._ends[joined]
        return straight != joined and shared and len(self._starts[joined]) > 1


def _preference(start: int, end: int) -> tuple[bool, int]:
    """Wires that rise go first, the highest leftmost; of wires that fall the lowest is leftmost."""
    return (False, start) if end < start else (True, -start)


def _tops(made: Arrangement, rows: Rows, lowered: Mapping[Item, int]) -> dict[Item, int]:
    """Returns where each item begins, so that most wires run straight; `lowered` items begin that much further down."""
    wanted: dict[Item, list[int]] = {}
    found = _stacked(made, rows, lowered, wanted)
    fed = {link.target for link in made.links}
    for link in made.links:
        if link.source not in fed:
            row = found[link.target] + rows.input(link.target, link.target_terminal)
            wanted.setdefault(link.source, []).append(row - rows.output(link.source, link.terminal))
    return _stacked(made, rows, lowered, {item: [min(ends)] for item, ends in wanted.items()})


def _stacked(
    made: Arrangement, rows: Rows, lowered: Mapping[Item, int], wanted: Mapping[Item, list[int]]
) -> dict[Item, int]:
    """Layers from left to right, in each the items one below the other, the first where it wants to be."""
    found: dict[Item, int] = {}
    sources = defaultdict(list)
    for link in made.links:
        sources[link.target].append(link)
    for layer in made.layers:
        free: int | None = None
        for item in layer:
            levels = [
                found[link.source] + rows.output(link.source, link.terminal) - rows.input(item, link.target_terminal)
                for link in sources[item]
            ]
            levels = sorted(levels) or wanted.get(item, [0])
            level = levels[(len(levels) - 1) // 2]
            found[item] = (level if free is None else max(free, level)) + lowered.get(item, 0)
            free = found[item] + rows.height(item) + rows.gap
    highest = min(found.values(), default=0)
    return {item: level - highest for item, level in found.items()}


Layout: TypeAlias = Mapping[str, tuple[int, int]]

FARTHEST: Final = 100_000
NUMBER: Final = re.compile(r"-?[0-9]{1,6}")
NO_LAYOUT: Final[Layout] = {}


def layout_file(flow_file: str) -> str:
    """The name of the file with the positions of a flow's nodes.

    >>> layout_file("flows/orders.yaml")
    'flows/orders.layout.yaml'
    """
    return str(PurePath(flow_file).with_suffix(".layout.yaml"))


def layout_of(flow_file: str) -> tuple[Layout, tuple[Problem, ...]]:
    """The positions in the file beside a flow's, none where there is no such file, and what is wrong with it."""
    file = layout_file(flow_file)
    if not lexists(file):
        return NO_LAYOUT, ()
    content = content_or_problem(file, dirname(flow_file))
    text = content if isinstance(content, Problem) else decoded(content, file)
    return (NO_LAYOUT, (text,)) if isinstance(text, Problem) else read_layout(text, file)


def read_layout(text: str, file: str) -> tuple[Layout, tuple[Problem, ...]]:
    """The positions that a text gives, and what is wrong with it."""
    complaints = Complaints(file, text)
    found = {}
    document = read_document(text, file, complaints) if text.strip() else Table((), complaints.start)
    if isinstance(document, Table):
        for label, tree in document.entries:
            position = _position(tree)
            if position:
                found[label.text] = position
            else:
                complaints.add(label.place, f"{label.text} must have a position, [x, y]", about=label.text)
    elif document is not None:
        complaints.add(document.place, "a layout must be a table, `Label: [x, y]`", number=UNFIT)
    return found, tuple(sorted(complaints.found))


def _position(tree: Tree) -> tuple[int, int] | None:
    if not isinstance(tree, Row) or len(tree.items) != 2:
        return None
    texts = [item.text for item in tree.items if isinstance(item, Scalar) and NUMBER.fullmatch(item.text)]
    numbers = [int(text) for text in texts if abs(int(text)) <= FARTHEST]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else None
