"""Nodes of one's own: Python files that define nodes as this project's do, loaded only where someone has named them.

Such a file is a program: it may do whatever Python can. So nothing is ever looked for beside flows or on a path; who
runs a flow lists the files, and a flow that needs a node of another file is refused.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Final

from engine.errors import ConfigurationException, reason
from engine.files.input_files import read_file
from engine.node import node_catalog

LARGEST: Final = 16 * 1024 * 1024
_PREFIX: Final = "own_nodes_"


def load_nodes(files: Iterable[str]) -> tuple[str, ...]:
    """Run these files, each once in a process; the answer is the names of the node types that they define."""
    own: list[str] = []
    for file in files:
        before = set(node_catalog)
        if _is_new(Path(file)):
            own += sorted(set(node_catalog) - before) or _refuse(
                file, "defines no node: put @node on a dataclass in it"
            )
    return tuple(own)


def _is_new(path: Path) -> bool:
    """Run a file, unless it has been; whether it was run now."""
    try:
        text = read_file(path, LARGEST, "no such program has so many")
    except OSError as error:
        raise _complaint(str(path), f"cannot be read: {reason(error)}") from error
    name = f"{_PREFIX}{sha256(str(path.resolve()).encode() + text).hexdigest()[:16]}"
    if name in sys.modules:
        return False
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or path.suffix != ".py":
        raise _complaint(str(path), "is no Python file: its name ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # a file of someone else's may raise anything, and which file it was must be told
        del sys.modules[name]
        text_of = error.text if isinstance(error, ConfigurationException) else f"{error.__class__.__name__}: {error}"
        raise _complaint(str(path), f"cannot be loaded: {text_of}") from error
    return True


def _refuse(file: str, text: str) -> list[str]:
    raise _complaint(file, text)


def _complaint(file: str, text: str) -> ConfigurationException:
    return ConfigurationException(f"{file}, which is to define nodes, {text}")
