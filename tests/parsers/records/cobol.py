"""Programs in COBOL that write records: made from a table of items and values, compiled and run."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.installed import installed


@dataclass(frozen=True, slots=True)
class Written:
    """An item, the literal that a program moves to it, and what the program then knows of it."""

    clauses: str
    literal: str
    value: Any


def copybook(items: Sequence[Written]) -> str:
    lines = ["       01  REC."]
    lines += [f"           05  F{number:02}  {item.clauses}." for number, item in enumerate(items)]
    return "\n".join(lines) + "\n"


def expected(items: Sequence[Written]) -> dict[str, Any]:
    return {f"F{number:02}": item.value for number, item in enumerate(items)}


HEAD = """       IDENTIFICATION DIVISION.
       PROGRAM-ID. WRITER.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT OUT-FILE ASSIGN TO "out.bin"
           ORGANIZATION IS SEQUENTIAL.
       DATA DIVISION.
       FILE SECTION.
       FD  OUT-FILE"""


def program(items: Sequence[Written]) -> str:
    moves = "\n".join(f"           MOVE {item.literal} TO F{number:02}." for number, item in enumerate(items))
    sizes = "\n".join(f"           DISPLAY LENGTH OF F{number:02}." for number in range(len(items)))
    return f"""{HEAD}.
           COPY "rec.cpy".
       PROCEDURE DIVISION.
           OPEN OUTPUT OUT-FILE.
           INITIALIZE REC.
{moves}
           WRITE REC.
           CLOSE OUT-FILE.
{sizes}
           STOP RUN.
"""


def run_program(folder: Path, text: str, options: Sequence[str] = ()) -> str:
    """Compile and run a program in a folder; answers with what it displays."""
    (folder / "writer.cob").write_text(text, "ascii")
    compiled = subprocess.run(
        [installed("cobc", "gnucobol3"), "-x", *options, "-o", "writer", "writer.cob"],
        cwd=folder, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert compiled.returncode == 0, compiled.stderr
    ran = subprocess.run([str(folder / "writer")], cwd=folder, capture_output=True, text=True, check=True, timeout=60)
    return ran.stdout


def number(text: str) -> Decimal:
    """A number with its places."""
    return Decimal(text)
