"""Files that run a broker under systemd and in containers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from engine.broker.folder import Folder
from engine.broker.user_rights import system_user

_UNIT: Final = """\
[Unit]
Description=Penstock broker {name}
After=network.target
StartLimitIntervalSec=0

[Service]
Type=simple
User={user}
ExecStart={command} broker start {folder}
ExecReload={command} deploy {folder} {file}
KillMode=mixed
TimeoutStopSec={stop}
Restart=always
RestartSec=1
LimitNOFILE=65536
NoNewPrivileges=true
ProtectSystem=full
PrivateTmp=true

[Install]
WantedBy=multi-user.target
"""
_CONTAINER: Final = """\
FROM python:3.12-slim
RUN useradd --create-home penstock && mkdir /broker && chown penstock /broker
COPY . /opt/penstock
RUN pip install --no-cache-dir '/opt/penstock[postgres,telemetry]'
USER penstock
VOLUME /broker
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=20s CMD ["penstock", "broker", "doctor", "/broker"]
CMD ["sh", "-c", "[ -e /broker/identity.json ] || penstock broker create /broker; exec penstock broker start /broker"]
"""
_COMPOSE: Final = """\
services:
  {name}:
    build:
      context: .
      dockerfile: Containerfile
    init: false
    restart: unless-stopped
    stop_grace_period: {stop}s
    volumes:
      - broker:/broker
volumes:
  broker: {{}}
"""


def files_for(folder: Folder, stop: int = 60) -> dict[str, str]:
    """Returns the text of each file, by its name."""
    name = folder.read()["name"].lower()
    command, place = _quoted(Path(sys.executable).parent / "penstock"), _quoted(folder.path)
    file = _quoted(folder.path / "broker.yaml")
    unit = _UNIT.format(name=name, user=system_user(), command=command, folder=place, file=file, stop=stop)
    return {
        f"penstock-{name}.service": unit,
        "Containerfile": _CONTAINER,
        "compose.yaml": _COMPOSE.format(name=name, stop=stop),
    }


def _quoted(path: Path) -> str:
    """Returns a path as a unit file has it; `%` and `$` stand for themselves.

    >>> _quoted(Path("/srv/a broker")), _quoted(Path("/srv/100%"))
    ('"/srv/a broker"', '/srv/100%%')
    """
    text = str(path).replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{text}"' if any(mark in text for mark in " \t'\"\\;") else text
