"""The report of `penstock run`, as text and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from engine.cli.command_failures import visible

if TYPE_CHECKING:
    from engine.runtime.file_run import Passage

MOST_SHOWN = 20


class Report:
    """The results of a run so far; a list that may be endless keeps its first few entries, or all of them for JSON."""

    def __init__(self, flow: str, *, as_json: bool) -> None:
        self._flow = flow
        self._as_json = as_json
        self.messages = 0
        self.unsent = 0
        self.others = 0
        self._wires: Counter[tuple[str, str, str]] = Counter()
        self._queues: Counter[tuple[str, str]] = Counter()
        self._shown: list[dict[str, Any]] = []
        self.failed = 0
        self._failures: list[dict[str, Any]] = []
        self._reasons: list[tuple[str, str]] = []
        from engine.runtime.incidents import Reasons

        self._counted = Reasons()
        self._incidents: list[dict[str, Any]] = []

    def explain(self, name: str, lines: list[str]) -> None:
        """Take what the local error log has said of a message."""
        for line in lines:
            if line and self._keeps(self._reasons):
                self._reasons.append((name, line.splitlines()[0]))
        lines.clear()

    def tells_of(self, words: str) -> bool:
        """Returns True where the text of a failure or of its reason contains these words."""
        texts = [*(text for _, text in self._reasons), *(failure["error"] for failure in self._failures)]
        return any(words in text for text in texts)

    def add(self, passage: Passage, written: list[tuple[str, Path]]) -> None:
        from engine.runtime.incidents import explained

        self.messages += 1
        self._wires.update(passage.wires)
        self._queues.update((queue, str(file.parent)) for queue, file in written)
        self._counted.add(passage.incidents)
        found = [{"message": passage.name} | incident.as_data() for incident in passage.incidents]
        self._incidents += (each for each in found if self._keeps(self._incidents))
        if passage.error is not None:
            self.failed += 1
            if self._keeps(self._failures):
                self._failures.append({"message": passage.name, "error": explained(passage.error)})
        if self.messages <= MOST_SHOWN:
            wires = [f"{label}.{terminal} -> {target}" for label, terminal, target in passage.wires]
            files = [str(file) for _, file in written]
            self._shown.append({"message": passage.name, "wires": wires, "files": files, "incidents": found})

    def _keeps(self, kept: list[Any]) -> bool:
        return self._as_json or len(kept) < MOST_SHOWN

    def show(self, seconds: float) -> None:
        if self._as_json:
            typer.echo(json.dumps(self._data(seconds), indent=2))
            return
        for shown in self._shown if self.messages <= MOST_SHOWN else ():
            say(shown["message"])
            caught = [each for each in shown["incidents"] if each["kind"] == "caught"]
            steps = [*shown["wires"], *map(_caught, caught), *(f"=> {file}" for file in shown["files"])]
            for step in steps:
                say(f"    {step}")
        say(f"{self._flow}: {', '.join(self._sums())}")
        width = max((len(f"{count:,}") for count in (*self._wires.values(), *self._queues.values())), default=0)
        for (label, terminal, target), count in self._wires.items():
            say(f"  {count:>{width},}  {label}.{terminal} -> {target}")
        for (queue, folder), count in sorted(self._queues.items()):
            say(f"  {count:>{width},}  on {queue}, in {folder}")
        for line in self._counted.lines():
            say(f"  {line}")
        self._show_errors()

    def _sums(self) -> list[str]:
        """The numbers of messages, and of the errors that were caught, if there were any."""
        sums = [f"{self.messages:,} in", f"{sum(self._queues.values()):,} out", f"{self.failed:,} failed"]
        caught = self._counted.total("caught")
        return [*sums, f"{caught:,} caught"] if caught else sums

    def _show_errors(self) -> None:
        """Print the first few errors in full on stderr; of few messages, those that were caught stand with these."""
        for name, reason in self._reasons[:MOST_SHOWN]:
            say(f"{name}: {reason}", err=True)
        caught = [each for each in self._incidents if each["kind"] == "caught"]
        for each in caught[:MOST_SHOWN] if self.messages > MOST_SHOWN else ():
            say(f"{each['message']}: {_caught(each)}", err=True)
        for failure in self._failures[:MOST_SHOWN]:
            say(f"{failure['message']}: {failure['error']}", err=True)
        if self.failed > MOST_SHOWN:
            say(f"and {self.failed - MOST_SHOWN} more", err=True)

    def _data(self, seconds: float) -> dict[str, Any]:
        return {
            "flow": self._flow,
            "messages": self.messages,
            "unsent": self.unsent,
            "seconds": round(seconds, 6),
            "wires": {f"{label}.{terminal} -> {target}": n for (label, terminal, target), n in self._wires.items()},
            "queues": {queue: {"messages": n, "directory": folder} for (queue, folder), n in self._queues.items()},
            "others": self.others,
            "failures": self._failures,
            "reasons": [{"message": name, "reason": reason} for name, reason in self._reasons],
            "by_reason": self._counted.as_data(),
            "incidents": self._incidents,
            "first": [{key: shown[key] for key in ("message", "wires", "files")} for shown in self._shown],
        }


def _caught(incident: dict[str, Any]) -> str:
    return f"caught by {incident['by']}: {incident['error']}"


def say(text: str, *, err: bool = False) -> None:
    """Print a line; names of files and queues may hold what a terminal would obey."""
    typer.echo(visible(text), err=err)
