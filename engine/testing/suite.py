"""Test files found, their cases run one after the other, and how each ended."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.errors import BrokerError, ConfigurationException, Problem
from engine.runtime.incidents import Incident
from engine.testing.case import Case
from engine.testing.reading import read_file
from engine.testing.running import Flows, run
from engine.testing.verdict import Failure, judge
from flows.files import ENDINGS, has_cases, is_flow_file

FOLDER: Final = "tests"


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a case: failures, problems of its flow or its file, or neither."""

    case: Case
    seconds: float
    failures: tuple[Failure, ...] = ()
    problems: tuple[Problem, ...] = ()
    incidents: tuple[Incident, ...] = ()

    @property
    def passed(self) -> bool:
        """Returns whether everything was as expected."""
        return not self.failures and not self.problems


def is_test_file(path: Path) -> bool:
    """Returns whether a file is one of cases: a YAML file in a folder called tests that has a table of them."""
    return path.suffix in ENDINGS and path.parent.name == FOLDER and has_cases(path)


def find_files(paths: Iterable[str]) -> list[str]:
    """The test files that paths name: files themselves, the tests beside a flow file, all that folders hold."""
    found: dict[str, None] = {}
    for name in paths:
        path = Path(name)
        if not path.exists():
            raise ConfigurationException(f"{name} does not exist: name a test file, a flow file or a folder")
        files = _in_folder(path) if path.is_dir() else _of_file(path)
        if not files:
            text = f"{name} has no tests: write them in {FOLDER}/NAME.yaml beside the flow; see docs/testing_flows.md"
            raise ConfigurationException(text)
        found |= dict.fromkeys(map(str, files))
    return list(found)


def _in_folder(folder: Path) -> list[Path]:
    every = sorted(path for ending in ENDINGS for path in folder.rglob(f"*{ending}"))
    return [path for path in every if path.parent.resolve().name == FOLDER and not is_flow_file(path)]


def _of_file(path: Path) -> list[Path]:
    """The file itself; of a flow file the tests beside it that are of this flow."""
    if not is_flow_file(path):
        return [path]
    beside = _in_folder(path.parent / FOLDER) if (path.parent / FOLDER).is_dir() else []
    flows = {file: {Path(case.flow).resolve() for case in read_file(str(file)).cases} for file in beside}
    return [file for file, named_there in flows.items() if path.resolve() in named_there]


def named(case: Case, word: str) -> bool:
    """Returns whether `-k` asks for a case: by a part of its name or of its file's, in upper or lower case.

    >>> from engine.testing.case import Expected
    >>> named(Case("A large order", "", (), Expected(), file="tests/orders.yaml"), "LARGE")
    True
    """
    return word.lower() in f"{case.file}::{case.name}".lower()


def run_cases(cases: Iterable[Case], flows: Flows) -> Iterator[Result]:
    """Run cases one after the other."""
    for case in cases:
        start = time.perf_counter()
        failures: list[Failure] = []
        problems: tuple[Problem, ...] = ()
        incidents: tuple[Incident, ...] = ()
        try:
            happened = run(case, flows)
            incidents = tuple(happened.incidents())
            failures = judge(case, happened)
        except ConfigurationException as error:
            problems = error.problems
            failures = [] if problems else [Failure("the case", (str(error),), place=case.place)]
        except BrokerError as error:
            failures = [Failure("the case", (f"cannot be run: {error}",), place=case.place)]
        yield Result(case, time.perf_counter() - start, tuple(failures), problems, incidents)
