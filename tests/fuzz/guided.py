"""Guided: the worker process that feeds targets with what atheris makes of inputs that reached code which none had."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from shutil import rmtree
from time import monotonic
from typing import TYPE_CHECKING

from tests.fuzz.mutating import CURRENT, kept_inputs

if TYPE_CHECKING:
    from tests.fuzz.target import Target

_PACKAGES = ("parsers", "engine.dates", "engine.tree", "flows", "esql")
_TOLD = 100


def is_there() -> bool:
    """Whether atheris is installed."""
    return find_spec("atheris") is not None


def guide(names: Sequence[str], seed: int, seconds: float, folder: Path, corpus: Path) -> None:
    """Feed the targets of these names for so long, imports included; atheris ends the process."""
    until = monotonic() + seconds
    import atheris  # noqa: PLC0415  # an extra

    with atheris.instrument_imports(include=list(_PACKAGES), enable_loader_override=False):
        from tests.fuzz.target import all_targets  # noqa: PLC0415

        known = all_targets()  # what is imported here is instrumented
    from tests.fuzz.finding import keep  # noqa: PLC0415
    from tests.fuzz.watching import wrong_with  # noqa: PLC0415

    targets = [target for name, target in known.items() if name in names]
    current, seeds = folder / CURRENT, _written_seeds(targets, folder / "seeds", corpus)

    count = 0

    def attempt(data: bytes) -> None:
        nonlocal count
        target = targets[data[0] % len(targets)] if data else targets[0]
        current.write_bytes(target.name.encode() + b"\n" + data[1:])
        finding = wrong_with(target, data[1:])
        count += 1
        if not count % _TOLD:
            print(f"{count:,} inputs guided", flush=True)  # libFuzzer ends the process without a word to Python
        if finding is not None:
            keep(folder, target, data[1:], finding)

    options = [
        f"-max_total_time={max(1, round(until - monotonic()))}",
        f"-seed={seed or 1}",
        f"-seed_inputs=@{seeds}",
        "-rss_limit_mb=1500",
        "-max_len=8192",
        "-verbosity=0",
    ]
    atheris.Setup([sys.argv[0], *options, f"-artifact_prefix={folder}/"], attempt)
    atheris.Fuzz()


def _written_seeds(targets: Sequence[Target], folder: Path, corpus: Path) -> Path:
    """The file that lists the inputs to begin with, in their order.

    A folder of them would be read in the order of the file system, and read again every second while it grows.
    """
    rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    paths = []
    for number, target in enumerate(targets):
        for place, data in enumerate([*target.seeds(), *kept_inputs(corpus, target)]):
            paths.append(folder / f"{target.name}-{place}")
            paths[-1].write_bytes(bytes([number]) + data)
    listed = folder / "listed"
    listed.write_text(",".join(map(str, paths)))
    return listed
