"""The programs of other packages that tests run."""

from __future__ import annotations

import shutil

import pytest


def installed(program: str, package: str) -> str:
    """Returns the path of a program; where it is not installed, the test fails with the command that installs it."""
    found = shutil.which(program)
    if found is None:
        pytest.fail(f"{program} is not installed: as root, type apt-get install {package}")
    return found
