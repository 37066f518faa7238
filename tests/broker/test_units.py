"""Files for systemd and containers: each parses, and names what is there."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import pytest
import yaml

from engine.broker.folder import Folder
from engine.broker.service_files import files_for
from engine.broker.user_rights import system_user

KEYS = {
    "Unit": {"Description", "After", "StartLimitIntervalSec"},
    "Service": {
        "Type",
        "User",
        "ExecStart",
        "ExecReload",
        "KillMode",
        "TimeoutStopSec",
        "Restart",
        "RestartSec",
        "LimitNOFILE",
        "NoNewPrivileges",
        "ProtectSystem",
        "PrivateTmp",
    },
    "Install": {"WantedBy"},
}
PROGRAM = str(Path(sys.executable).parent / "penstock")
INSTRUCTIONS = {"FROM", "RUN", "COPY", "USER", "VOLUME", "STOPSIGNAL", "HEALTHCHECK", "CMD"}


@pytest.fixture
def written(tmp_path: Path) -> dict[str, str]:
    """The files for a broker SHOP."""
    folder = Folder(tmp_path)
    folder.write("SHOP", "sqlite://")
    return files_for(folder, stop=45)


def test_systemd_unit(written: dict[str, str], tmp_path: Path) -> None:
    """The unit has keys that systemd knows, runs the broker in its folder, and gives it time to stop."""
    unit = written["penstock-shop.service"]
    parser = ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(unit)
    assert KEYS == {name: set(parser[name]) for name in parser.sections()}
    service = parser["Service"]
    assert [PROGRAM, "broker", "start", str(tmp_path)] == shlex.split(service["ExecStart"])
    assert (system_user(), "45", "mixed") == (service["User"], service["TimeoutStopSec"], service["KillMode"])
    assert [] == complaints(unit, tmp_path)


def complaints(unit: str, folder: Path) -> list[str]:
    """What systemd itself says of a unit, where it is installed."""
    program = shutil.which("systemd-analyze")
    if program is None:
        return []
    file = folder / "penstock-shop.service"
    file.write_text(unit.replace(PROGRAM, sys.executable), encoding="utf-8")  # it may not be installed
    done = subprocess.run(
        [program, "verify", "--man=no", str(file)], capture_output=True, text=True, timeout=60, check=False
    )
    return [line for line in done.stderr.splitlines() if file.name in line]


def test_containerfile(written: dict[str, str]) -> None:
    """The Containerfile has instructions that builders know; the broker is process 1 and gets SIGTERM."""
    lines = [line.partition(" ") for line in written["Containerfile"].splitlines()]
    assert "FROM" == lines[0][0]
    assert INSTRUCTIONS == {instruction for instruction, _, _ in lines}
    said = {instruction: text for instruction, _, text in lines}
    assert "SIGTERM" == said["STOPSIGNAL"]
    assert ["penstock", "broker", "doctor", "/broker"] == json.loads(said["HEALTHCHECK"].partition(" CMD ")[2])
    shell, option, script = json.loads(said["CMD"])
    assert ("sh", "-c") == (shell, option)
    assert script.endswith("; exec penstock broker start /broker")
    assert 0 == subprocess.run(["/bin/sh", "-n", "-c", script], timeout=120, check=False).returncode


def test_compose_file(written: dict[str, str]) -> None:
    """The compose file builds the Containerfile, and keeps the broker's folder in a volume."""
    said = yaml.safe_load(written["compose.yaml"])
    service = said["services"]["shop"]
    assert service["build"]["dockerfile"] in written
    assert ["broker:/broker"] == service["volumes"]
    assert {"broker": {}} == said["volumes"]
    assert "45s" == service["stop_grace_period"]
