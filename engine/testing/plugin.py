"""The pytest plugin: the cases of tests/*.yaml beside flows as tests, one an item."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from engine.files.allowed_folders import allowed_files
from engine.testing.reading import read_file
from engine.testing.report import result_text
from engine.testing.running import Flows
from engine.testing.suite import Result, is_test_file, run_cases

if TYPE_CHECKING:
    from engine.testing.case import Case

_FLOWS: Final = pytest.StashKey[Flows]()


class NotAsExpected(Exception):
    """A case of a flow failed; the text says how."""


class FlowTests(pytest.File):
    """A file of cases."""

    def collect(self) -> Iterator[FlowCase]:
        """The cases of the file; with anything wrong in it none is run."""
        reading = read_file(_shown(self.path))
        if reading.problems:
            text = "\n".join(problem.render() for problem in reading.problems)
            raise self.CollectError(text)
        for case in reading.cases:
            yield FlowCase.from_parent(self, name=case.name, case=case)


class FlowCase(pytest.Item):
    """One case."""

    def __init__(self, *, case: Case, **given: Any) -> None:
        super().__init__(**given)
        self._case = case

    def runtest(self) -> None:
        """Run the case; flows are compiled once for all cases of a session."""
        stash = self.session.stash
        if _FLOWS not in stash:
            stash[_FLOWS] = Flows(allowed_files(self.config.getoption("--allow-files")))
        flows = stash[_FLOWS]
        result: Result = next(run_cases([self._case], flows))
        if not result.passed:
            raise NotAsExpected(result_text(result))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Returns what differs, without the way through this program."""
        if isinstance(excinfo.value, NotAsExpected):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Returns where the case stands."""
        return self.path, max(0, self._case.place.line - 1), self.name


def pytest_addoption(parser: pytest.Parser) -> None:
    """Takes the folders whose files flows may write, as penstock test does."""
    text = "a folder whose files flows may write; may be given several times"
    parser.addoption("--allow-files", action="append", default=[], metavar="DIR", help=text)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> FlowTests | None:
    """Take YAML files in folders called tests that have a table `cases`."""
    return FlowTests.from_parent(parent, path=file_path) if is_test_file(file_path) else None


def _shown(path: Path) -> str:
    """A file as reports name it: from where pytest was started, if it lies below."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
