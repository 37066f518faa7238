"""The modules of the project as text and as syntax, which the rules about their shape read."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("engine", "nodes", "esql", "parsers", "flows", "spark_exec")


@dataclass(frozen=True, slots=True)
class Source:
    """A module as it stands on disk, or as a self-test makes it up."""

    module: str
    path: str
    text: str
    tree: ast.Module

    @property
    def package(self) -> str:
        """The package that relative imports start from."""
        return self.module if self.path.endswith("__init__.py") else self.module.rpartition(".")[0]

    def at(self, node: ast.AST, problem: str) -> str:
        """The problem with its file and line in front."""
        return f"{self.path}:{getattr(node, 'lineno', 1)}: {problem}"


def source(path: str, text: str) -> Source:
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return Source(module, path, text, ast.parse(text))


@cache
def sources() -> tuple[Source, ...]:
    paths = sorted(path for folder in (*PACKAGES, "tests") for path in (ROOT / folder).rglob("*.py"))
    inside = [path.relative_to(ROOT) for path in paths]
    return tuple(source(p.as_posix(), (ROOT / p).read_text("utf-8")) for p in inside if "generated" not in p.parts)


def within(module: str, row: str) -> bool:
    return module == row or module.startswith(row + ".")


def imports(src: Source) -> Iterator[tuple[ast.stmt, str]]:
    """Every import, absolute: `from engine import mq` and `from . import mq` are both engine.mq."""
    for node in ast.walk(src.tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = src.package.split(".")[: len(src.package.split(".")) - node.level + 1] if node.level else []
            origin = ".".join([*above, *([node.module] if node.module else [])])
            yield from ((node, f"{origin}.{alias.name}") for alias in node.names)
