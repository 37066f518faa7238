"""Guided: the worker process that feeds targets with what atheris makes of inputs that reached code which none had."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from tests.fuzz.mutating import CURRENT, kept_inputs

_PACKAGES = ("parsers", "engine.moments", "engine.tree", "engine.sharing", "flows", "esql")


def is_there() -> bool:
    """Whether atheris is installed."""
    return find_spec("atheris") is not None


def guide(names: Sequence[str], seed: int, seconds: int, folder: Path, corpus: Path) -> None:
    """Feed the targets of these names for so long; atheris ends the process."""
    import atheris  # noqa: PLC0415  # an extra

    with atheris.instrument_imports(include=list(_PACKAGES), enable_loader_override=False):
        from tests.fuzz.target import all_targets  # noqa: PLC0415

        known = all_targets()  # what is imported here is instrumented
    from tests.fuzz.finding import keep  # noqa: PLC0415
    from tests.fuzz.watching import wrong_with  # noqa: PLC0415

    targets = [target for name, target in known.items() if name in names]
    current, seeds = folder / CURRENT, folder / "seeds"
    seeds.mkdir(parents=True, exist_ok=True)
    for number, target in enumerate(targets):
        for place, data in enumerate([*target.seeds(), *kept_inputs(corpus, target)]):
            (seeds / f"{target.name}-{place}").write_bytes(bytes([number]) + data)

    def attempt(data: bytes) -> None:
        target = targets[data[0] % len(targets)] if data else targets[0]
        current.write_bytes(target.name.encode() + b"\n" + data[1:])
        finding = wrong_with(target, data[1:])
        if finding is not None:
            keep(folder, target, data[1:], finding)

    options = [
        f"-max_total_time={seconds}",
        f"-seed={seed or 1}",
        "-rss_limit_mb=1500",
        "-max_len=8192",
        "-verbosity=0",
    ]
    atheris.Setup([sys.argv[0], *options, f"-artifact_prefix={folder}/", str(seeds)], attempt)
    atheris.Fuzz()
