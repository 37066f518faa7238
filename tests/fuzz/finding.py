"""Findings as files: the input, and beside it what came of it."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from tests.fuzz.shrinking import shrunk
from tests.fuzz.target import Target
from tests.fuzz.watching import Finding


def keep(folder: Path, target: Target, data: bytes, finding: Finding) -> None:
    """Keep an input with what is wrong with it, the smallest that is found; one for each thing that is wrong."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{target.name}-{sha256(finding.key.encode()).hexdigest()[:12]}"
    if (folder / f"{name}.txt").exists():
        return
    (folder / f"{name}.txt").write_text(f"{finding.key}\n{finding.text}\n", "utf-8")
    (folder / f"{name}.bin").write_bytes(shrunk(target, data, finding.key))
