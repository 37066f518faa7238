"""The order in which a drawing shows a graph: layers from left to right, in each the nodes from top to bottom.

A wire over several layers bends once in each of them; wires to one terminal are joined as early as they can be.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Final, NamedTuple

SWEEPS: Final = 12
MOST_ATTEMPTS: Final = 100


class Item(NamedTuple):
    """What has a place in a layer: a node, or a bend of the wires to a terminal of a node further right."""

    key: str
    layer: int
    bends_to: str = ""

    @property
    def is_bend(self) -> bool:
        """Whether this is a bend."""
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
    """How a drawing measures items: how high each is, and how far below its top its terminals are."""

    height: Callable[[Item], int]
    output: Callable[[Item, str], int]
    input: Callable[[Item, str], int]
    gap: int


class Net(NamedTuple):
    """Wires, between two neighbouring layers, that end at the same terminal and so may join on their way."""

    target: Item
    terminal: str


class Placed(NamedTuple):
    """Where items begin, and for each gap between layers the tracks, from the left, on which wires change rows."""

    tops: Mapping[Item, int]
    tracks: tuple[Mapping[Net, int], ...]

    def width(self, gap: int) -> int:
        """How many tracks a gap has."""
        return max(self.tracks[gap].values(), default=-1) + 1


def place(made: Arrangement, rows: Rows) -> Placed:
    """Places and tracks such that no wire lies on another that it does not join."""
    lowered: dict[Item, int] = defaultdict(int)
    for _ in range(MOST_ATTEMPTS):
        found = _tops(made, rows, lowered)
        assigned = [_tracks(made, rows, found, number) for number in range(len(made.layers))]
        stuck = [net for _, blocked in assigned for net in blocked]
        if not stuck:
            break
        lowered[stuck[0].target] += 1
    return Placed(found, tuple(tracks for tracks, _ in assigned))


def _tracks(made: Arrangement, rows: Rows, found: Mapping[Item, int], number: int) -> tuple[dict[Net, int], list[Net]]:
    """The track of each net between a layer and the next, and the nets that cannot but lie on one another."""
    starts: dict[Net, set[int]] = defaultdict(set)
    ends: dict[Net, int] = {}
    for link in made.links:
        if link.source.layer == number:
            net = Net(link.target, link.target_terminal)
            starts[net].add(found[link.source] + rows.output(link.source, link.terminal))
            ends[net] = found[link.target] + rows.input(link.target, link.target_terminal)
    span = {net: (min(ends[net], *starts[net]), max(ends[net], *starts[net])) for net in starts}
    waiting = [net for net in starts if starts[net] != {ends[net]}]
    waiting.sort(key=lambda net: _preference(min(starts[net]), ends[net]))
    before = {
        net: {m for m in waiting if m != net and ends[net] in starts[m] and ends[net] not in starts[net]}
        for net in waiting
    }
    assigned: dict[Net, int] = {}
    while waiting:
        free = next((net for net in waiting if before[net] <= assigned.keys()), None)
        if free is None:
            return assigned, waiting
        waiting.remove(free)
        start, end = span[free]
        beside = [track for net, track in assigned.items() if span[net][0] <= end and start <= span[net][1]]
        assigned[free] = max(beside, default=-1) + 1
    return assigned, []


def _preference(start: int, end: int) -> tuple[bool, int]:
    """Wires that rise go first, the highest leftmost; of wires that fall the lowest is leftmost."""
    return (False, start) if end < start else (True, -start)


def _tops(made: Arrangement, rows: Rows, lowered: Mapping[Item, int]) -> dict[Item, int]:
    """Where each item begins, so that most wires run straight; `lowered` items begin that much further down."""
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
