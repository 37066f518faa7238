"""Mutating: the worker process that feeds targets with mutated and generated inputs, each in turn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from time import monotonic
from typing import Final

from tests.fuzz.finding import keep
from tests.fuzz.mutations import mutated
from tests.fuzz.target import Target
from tests.fuzz.watching import wrong_with

CURRENT: Final = "current.bin"  # what is being tried, for whoever finds the process dead
_IN_A_ROW: Final = 50


def mutate(targets: Sequence[Target], seed: int, seconds: float, folder: Path, corpus: Path) -> int:
    """Feed the targets for so long; the number of inputs."""
    random, until, count = Random(seed), monotonic() + seconds, 0  # noqa: S311  # it is to be the same again
    inputs = {target.name: [*target.seeds(), *kept_inputs(corpus, target)] for target in targets}
    order = list(targets)
    current = folder / CURRENT
    while monotonic() < until:
        random.shuffle(order)
        for target in order:
            for _ in range(_IN_A_ROW):
                data = _next(target, inputs[target.name], random)
                current.write_bytes(target.name.encode() + b"\n" + data)
                finding = wrong_with(target, data)
                if finding is not None:
                    keep(folder, target, data, finding)
                count += 1
            if monotonic() >= until:
                break
    current.unlink(missing_ok=True)
    return count


def _next(target: Target, inputs: Sequence[bytes], random: Random) -> bytes:
    if target.generate is not None and (not inputs or random.random() < 0.5):
        return target.generate(random)
    if not inputs or random.random() < 0.1:
        return random.randbytes(random.choice((8, 32, 128)))
    return mutated(inputs, random, target.words)


def kept_inputs(corpus: Path, target: Target) -> list[bytes]:
    """The inputs of a target that were findings once."""
    return [path.read_bytes() for path in sorted((corpus / target.name).glob("*"))]
