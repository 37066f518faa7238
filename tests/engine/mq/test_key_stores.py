"""Key stores: files in them that are no keys."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.errors import ConfigurationException
from engine.mq.protection.keys import KeyStore


@pytest.mark.parametrize("name", ["a.crt", "a.key"])
@pytest.mark.parametrize("kind", ["device", "pipe", "large"])
def test_what_is_no_key(name: str, kind: str, tmp_path: Path) -> None:
    """A device, a pipe and a file without end in a key store are refused before they are read or waited for."""
    if kind == "device":
        (tmp_path / name).symlink_to("/dev/zero")
    elif kind == "pipe":
        os.mkfifo(tmp_path / name, 0o600)
    else:
        (tmp_path / name).touch(0o600)
        os.truncate(tmp_path / name, 1 << 40)
    with pytest.raises(ConfigurationException, match=r"a\.(crt|key)"):
        KeyStore(tmp_path)
