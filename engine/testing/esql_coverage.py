"""Coverage of ESQL: coverage.py, told which lines of .esql files are statements."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from io import StringIO
from os.path import abspath, relpath
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any, Final

from engine.errors import ConfigurationException
from engine.testing.running import Flows
from esql import syntax
from esql.compile import read_program

if TYPE_CHECKING:
    import coverage

ENDING: Final = ".esql"
_WITHOUT_CODE: Final = (syntax.Module, syntax.Routine, syntax.Compound)
MISSING: Final = "--coverage needs coverage.py, which is not installed: pip install 'penstock[coverage]'"


@dataclass(slots=True)
class Table:
    """The coverage of each file once all cases have run."""

    files: dict[str, tuple[list[int], list[int]]] = field(default_factory=dict)
    shown: str = ""

    def text(self) -> str:
        """The table that coverage.py makes, or nothing."""
        return self.shown

    def data(self) -> dict[str, Any] | None:
        """For each file its statements' lines and those of them that did not run."""
        return {file: {"lines": lines, "missing": missing} for file, (lines, missing) in self.files.items()} or None


@contextmanager
def covered(flows: Flows, *, wanted: bool) -> Iterator[Table]:
    """Watch ESQL run, if that is wanted; the table is filled at the end."""
    table = Table()
    if not wanted:
        yield table
        return
    try:
        import coverage  # noqa: PLC0415  # an extra, for those who ask for it
    except ImportError as error:
        raise ConfigurationException(MISSING) from error
    lines: dict[str, set[int]] = {}
    plugin = _plugin(coverage, lines)
    measured = coverage.Coverage(
        data_file=None,
        config_file=False,
        include=[f"*{ENDING}"],
        plugins=[lambda registry: registry.add_file_tracer(plugin)],
    )
    measured.start()
    try:
        yield table
    finally:
        measured.stop()
    lines.update(statements(flows))
    # Files of which nothing ran are named by the plugin that can read them, under the name that it was given.
    _fill(table, measured, lines, plugin._coverage_plugin_name)


def _fill(table: Table, measured: coverage.Coverage, lines: dict[str, set[int]], plugin_name: str) -> None:
    if not lines:
        table.shown = f"no flow here has {ENDING} files\n"
        return
    known = measured.get_data()
    known.touch_files(list(lines), plugin_name=plugin_name)
    for file, every in sorted(lines.items()):
        ran = set(known.lines(file) or ())
        table.files[relpath(file)] = (sorted(every), sorted(every - ran))
    text = StringIO()
    measured.report(file=text, show_missing=True)
    table.shown = text.getvalue()


def statements(flows: Flows) -> Iterator[tuple[str, set[int]]]:
    """The files of the programs of flows, each with the lines on which a statement begins that can run."""
    found: dict[str, set[int]] = {}
    for binder in flows.binders():
        for routine in binder.routines.values():
            for thing in routine.program.namespace.values():
                code = getattr(thing, "__code__", None)
                if isinstance(code, CodeType) and code.co_filename.endswith(ENDING):
                    found.setdefault(code.co_filename, set()).update(_lines(code))
    for file, lines in found.items():
        yield abspath(file), lines & _beginnings(file)


def _lines(code: CodeType) -> Iterator[int]:
    """The lines of a function's code and of the functions within it."""
    yield from (line for *_, line in code.co_lines() if line is not None)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _lines(inner)


def _beginnings(file: str) -> set[int]:
    """The lines on which statements begin."""
    found: set[int] = set()
    pending: list[object] = [read_program(Path(file).read_bytes(), file)]
    while pending:
        at = pending.pop()
        if isinstance(at, tuple):
            pending += at
        elif is_dataclass(at):
            if isinstance(at, syntax.Statement) and not isinstance(at, _WITHOUT_CODE):
                found.add(at.position.line)
            pending += (getattr(at, each.name) for each in fields(at))
    return found


def _plugin(package: Any, lines: dict[str, set[int]]) -> Any:
    """Returns what tells coverage.py of ESQL; `lines` may be filled until it is asked for a report."""

    class Reporter(package.FileReporter):  # type: ignore[misc]  # a class of a package that may not be installed
        """The lines of one file."""

        def lines(self) -> set[int]:
            return lines.get(self.filename, set())

    class Tracer(package.FileTracer):  # type: ignore[misc]
        """A file that is its own source."""

        def __init__(self, file: str) -> None:
            self._file = file

        def source_filename(self) -> str:
            return self._file

    class Esql(package.CoveragePlugin):  # type: ignore[misc]
        """Takes files of ESQL."""

        def file_tracer(self, filename: str) -> Any:
            return Tracer(filename) if filename.endswith(ENDING) else None

        def file_reporter(self, filename: str) -> Any:
            return Reporter(filename)

    return Esql()
