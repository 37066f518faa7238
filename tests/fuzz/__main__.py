"""The command: python -m tests.fuzz --seconds 120 feeds all targets; what it finds is under --found, exit code 1.

    python -m tests.fuzz --seconds 600 --seed 7 --target tds --target cwf

Half of the time inputs are mutated and generated, half of it atheris makes them, guided by coverage. A finding that is
mended goes with its input into tests/fuzz/corpus/TARGET/, where a test replays it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from time import monotonic
from typing import Final

from tests.fuzz import guided
from tests.fuzz.finding import keep
from tests.fuzz.mutating import CURRENT, mutate
from tests.fuzz.target import all_targets
from tests.fuzz.watching import Finding, limit_memory

CORPUS: Final = Path(__file__).parent / "corpus"
_SPARE: Final = 120  # seconds that a worker may take longer: its start, and what it shrinks


def main() -> int:
    """Run the workers one after another; 1 where there are findings."""
    said = _arguments()
    said.found.mkdir(parents=True, exist_ok=True)
    if said.worker == "mutating":
        limit_memory()
        targets = [target for name, target in all_targets().items() if name in said.target]
        print(f"{mutate(targets, said.seed, said.seconds, said.found, CORPUS):,} inputs mutated or generated")
        return 0
    if said.worker == "guided":
        guided.guide(said.target, said.seed, said.seconds, said.found, CORPUS)
    for left in said.found.glob("*.*"):
        left.unlink()
    known = all_targets()
    names = said.target or list(known)
    if strange := [name for name in names if name not in known]:
        print(f"no target is called {strange[0]}: {', '.join(known)}", file=sys.stderr)
        return 2
    if not said.unguided and not guided.is_there():
        print("atheris is not installed: pip install '.[fuzz]', or say --unguided", file=sys.stderr)
        return 2
    led = [] if said.unguided else [name for name in names if known[name].guided]
    share = said.seconds / (2 if led else 1)
    _work("mutating", names, said.seed, share, said.found)
    if led:
        _work("guided", led, said.seed, share, said.found)
    return _report(said.found, said.seed)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", action="append", default=[], help="feed this one only")
    parser.add_argument("--found", type=Path, default=Path("out/fuzz"), help="where findings go")
    parser.add_argument("--unguided", action="store_true", help="do without atheris")
    parser.add_argument("--worker", choices=("mutating", "guided"), help=argparse.SUPPRESS)
    return parser.parse_args()


def _work(worker: str, names: list[str], seed: int, seconds: float, found: Path) -> None:
    """Run a worker for so long; one that dies, or answers to nothing, is a finding, and another goes on."""
    until = monotonic() + seconds
    while (left := until - monotonic()) > 1:
        chosen = [word for name in names for word in ("--target", name)]
        command = [sys.executable, "-m", "tests.fuzz", "--worker", worker, "--seconds", str(max(left, 1)), *chosen]
        try:
            with (found / f"{worker}.log").open("wb") as log:
                done = subprocess.run(
                    [*command, "--seed", str(seed), "--found", str(found)],
                    timeout=left + _SPARE,
                    check=False,
                    stdout=log,
                    stderr=log,
                    env={**os.environ, "PYTHONHASHSEED": "0"},  # a seed makes the same inputs again, in one order
                ).returncode
        except subprocess.TimeoutExpired:
            done = -9
        if done == 0:
            print(f"{worker}: {_last_line(found / f'{worker}.log')}")
            return
        _keep_current(found, f"the process ended with {done}, or did not end")
        seed += 1000


def _last_line(log: Path) -> str:
    """What a worker says at its end: how many inputs there were."""
    lines = log.read_text("utf-8", "replace").splitlines()
    return next((line for line in reversed(lines) if line.startswith("Done ") or " inputs " in line), "done")


def _keep_current(found: Path, text: str) -> None:
    current = found / CURRENT
    if not current.exists():
        raise SystemExit(f"fuzz: {text}, before it tried anything")
    name, _, data = current.read_bytes().partition(b"\n")
    if not name:
        raise SystemExit(f"fuzz: {text}, between two inputs")
    target = all_targets()[name.decode()]
    key = f"{target.name} Hang or death of the process"
    keep(found, target, data, Finding(key, text))
    current.unlink()


def _report(found: Path, seed: int) -> int:
    findings = sorted(found.glob("*-*.txt"))
    for path in findings:
        print(f"{path.with_suffix('.bin')}: {path.read_text('utf-8').partition(chr(10))[0]}", file=sys.stderr)
    print(f"seed {seed}: {len(findings)} findings" + (f" in {found}" if findings else ""))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
