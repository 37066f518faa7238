"""A conversation in ESQL: each entry sees the trees that the ones before it left."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.errors import BrokerError
from engine.tree.dump import dump
from esql.compile import compile_expression, compile_text
from esql.names.reserved_words import STATEMENTS
from esql.runtime.activation import Surroundings
from esql.runtime.program import Compiled
from esql.runtime.single_run import message_of, told, told_value
from esql.text.source import SyntaxProblems


class Session:
    """The trees of a conversation; variables last for one entry."""

    def __init__(self, body: bytes | None, domain: str, around: Surroundings | None = None) -> None:
        self._pending: list[str] = []
        self._here = compile_text(";", "COMPUTE").activation(message_of(body, domain), around)

    def answer(self, line: str) -> Iterator[str]:
        """What there is to say to a line; a statement goes on until a line ends it with its semicolon, or is empty."""
        self._pending.append(line)
        entry = "\n".join(self._pending)
        if not entry.strip():
            self._pending = []
            return
        if entry.strip().upper() in {"OUTPUTROOT", "ENVIRONMENT"}:
            self._pending = []
            tree = self._here.output_root if entry.strip().upper() == "OUTPUTROOT" else self._here.environment
            yield dump(tree)
            return
        is_last = not line.strip()
        if _goes_on(entry) and not is_last:
            return
        compiled = self._compiled(entry.rstrip(), is_last=is_last)
        if compiled is None:
            return
        self._pending = []
        if isinstance(compiled, SyntaxProblems):
            yield str(compiled)
            return
        yield from self._run(compiled, entry)

    def _compiled(self, entry: str, *, is_last: bool) -> Compiled | SyntaxProblems | None:
        try:
            if ";" not in entry and not _goes_on(entry):
                return compile_expression(entry, "entry")
            return compile_text(entry, "COMPUTE", "entry")
        except SyntaxProblems as problems:
            is_whole = ";" not in entry or (entry.endswith(";") and not _lacks_its_end(entry, problems))
            return problems if is_last or is_whole else None

    def _run(self, compiled: Compiled, entry: str) -> Iterator[str]:
        here = self._here
        here.variables = [None] * compiled.places
        here.shared = [None] * compiled.places
        results = compiled.results(compiled.entrance(), here)
        here.renew()
        try:
            while True:
                terminal, _ = next(results)
                yield f"-> {terminal}"
        except StopIteration as stop:
            if ";" not in entry:
                yield told_value(stop.value)
        except BrokerError as error:
            yield told(compiled.placed(error))


def _lacks_its_end(entry: str, problems: SyntaxProblems) -> bool:
    """Returns whether all that is wrong with an entry is that it ends too early."""
    lines = entry.split("\n")
    end = len(lines), len(lines[-1]) + 1
    return all((one.line, one.column) >= end for one in problems.problems)


def _goes_on(entry: str) -> bool:
    """Returns whether an entry is a statement without its end."""
    first = re.match(r"\s*([A-Za-z]+)", entry)
    return first is not None and first[1].upper() in STATEMENTS - {"EVAL"} and not entry.rstrip().endswith(";")
