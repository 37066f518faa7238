"""Spark without a Java that will do: the message names the one command that installs it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark.flows import order, written

ROOT = Path(__file__).resolve().parent.parent.parent
ADVICE = "; as root: apt-get install openjdk-17-jre-headless\n"
SAYS = "#!/bin/sh\necho '{}' >&2\n"
WHERE = "{folder}/bin/java"

CASES = [
    ("none", "", {}, "there is none"),
    ("a home without one", "", {"JAVA_HOME": "/no/where"}, "there is none in JAVA_HOME, /no/where"),
    ("11", SAYS.format('openjdk version "11.0.2" 2019-01-15'), {}, f"{WHERE} is Java 11"),
    ("8", SAYS.format('java version "1.8.0_292"'), {}, f"{WHERE} is Java 8"),
    ("11 in a home", SAYS.format('openjdk version "11"'), {"JAVA_HOME": "{folder}"}, f"{WHERE} is Java 11"),
    ("no version", SAYS.format("Unrecognized option"), {}, f"{WHERE} is of no version that can be told"),
    ("no program", "\0", {}, f"{WHERE} is of no version that can be told"),
]


@pytest.mark.parametrize("command", ["run", "demo"])
@pytest.mark.parametrize(("java", "home", "why"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_no_java_that_will_do(tmp_path: Path, command: str, java: str, home: dict[str, str], why: str) -> None:
    """Where Java is missing or too old, the command says so in one line, and what installs it, and writes nothing."""
    (tmp_path / "bin").mkdir()
    if java:
        (tmp_path / "bin" / "java").write_text(java, encoding="utf-8")
        (tmp_path / "bin" / "java").chmod(0o755)
    (tmp_path / "message.xml").write_bytes(order(1))
    given = ["--output", str(tmp_path / "out")]
    if command == "run":
        given += [str(written(tmp_path)), "--messages", str(tmp_path / "message.xml"), "--queue", "IN"]
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    environment |= {"PATH": str(tmp_path / "bin"), "PYTHONPATH": str(ROOT)}
    environment |= {name: value.format(folder=tmp_path) for name, value in home.items()}
    told = subprocess.run(
        [sys.executable, "-c", "from engine.cli import main; main()", "spark", command, *given],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert told.stderr.endswith(f"Spark needs Java 17 or later, and {why.format(folder=tmp_path)}{ADVICE}")
    assert (told.returncode, told.stderr.count("\n"), told.stdout) == (1, 1, "")
    assert not (tmp_path / "out").exists()
