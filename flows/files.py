"""Flow files and the subflow files they use, read together; files with nodes of one's own; and flows as data.

A file with nodes is a program: it may do whatever Python can. So nothing is ever looked for beside flows or on a path;
who runs a flow lists the files, and a flow that needs a node of another file is refused.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from os.path import isfile
from pathlib import Path, PurePosixPath
from posixpath import dirname, isabs, join, normpath
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from engine.catalog import Catalog
from engine.errors import ConfigurationException, Problem, reason
from engine.files.input_files import read_file as read_input
from engine.flow.definition import Flow, expand, file_of
from engine.flow.label_routes import NO_NAMES, Labels
from engine.flow.lint import lint
from engine.node import NodeType, node_catalog
from flows.flow_yaml import Reading, read_flow, write_flow
from flows.programs import files_of
from flows.yaml_document import content_or_problem

ENDINGS: Final = (".yaml", ".yml")
MOST_FILES: Final = 1000
_HEAD: Final = 1 << 20
_FLOW_FILE: Final = re.compile(rb"^(?:nodes|wires|subflow)\s*:", re.MULTILINE)
_TEST_FILE: Final = re.compile(rb"^cases\s*:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Loaded:
    """Flows with the subflows they use, which are known by name and by file, and what is wrong with their files.

    `unread` says of each file what of its wires could not be read.
    """

    flows: tuple[Flow, ...]
    subflows: Mapping[str, Flow]
    problems: tuple[Problem, ...]
    unread: Mapping[str, tuple[str, ...]]

    def lint(
        self, catalog: Catalog[NodeType] = node_catalog, *, labels: Labels = lambda _: NO_NAMES
    ) -> tuple[Problem, ...]:
        """Everything that is wrong with the files and with what they say; `labels`: see engine.flow.lint."""
        every = {id(flow): flow for flow in (*self.flows, *self.subflows.values())}
        found = lint(*every.values(), subflows=self.subflows, catalog=catalog, labels=labels, unread=self.unread)
        return tuple(sorted({*self.problems, *found}))


def load(*files: str) -> Loaded:
    """The flows of these files; subflows are looked for where a node's `subflow` says, or as <type>.yaml beside it.

    Subflows among the files themselves are known by their names to all of them.
    """
    given = [normpath(file) for file in files]  # one name for each file, so that it is read once
    readings: dict[str, Reading] = {}
    waiting = [(file, file) for file in given]
    for file, user in waiting:
        if file in readings or len(readings) == MOST_FILES:
            continue
        reading = read_file(file, None if file in given else dirname(user))
        flow = reading.flow
        if flow is None or not flow.name or flow.is_subflow or file in given:
            readings[file] = reading
            waiting.extend((other, file) for other in (_used(flow) if flow else ()))
    found = [reading.flow for reading in readings.values() if reading.flow]
    subflows = {flow.name: flow for flow in reversed(found) if flow.is_subflow and flow.name}
    subflows |= {flow.file: flow for flow in found if flow.is_subflow}
    problems = tuple(problem for reading in readings.values() for problem in reading.problems)
    unread = {file: reading.unread for file, reading in readings.items()}
    return Loaded(tuple(flow for flow in found if not flow.is_subflow), subflows, problems, unread)


def load_flow(file: str, *, catalog: Catalog[NodeType] = node_catalog) -> Flow:
    """The flow of a file, ready to deploy: examined, and with its subflows expanded; raises with all problems."""
    return expand(*sound_flow(file, catalog=catalog))


def sound_flow(
    file: str, *, catalog: Catalog[NodeType] = node_catalog, advice: str = "name a flow that uses it"
) -> tuple[Flow, Mapping[str, Flow]]:
    """The flow of a file, examined, and the subflows that it may use; `advice` is for a file that holds a subflow."""
    loaded = load(file)
    problems = loaded.lint(catalog)
    if problems:
        raise ConfigurationException(f"{file} cannot be deployed: {problems[0].text}", problems)
    main = next((flow for flow in loaded.flows if flow.file == normpath(file)), None)
    if main is None:
        raise ConfigurationException(f"{file} holds a subflow; {advice}")
    return main, loaded.subflows


def is_flow_file(path: Path) -> bool:
    """Returns whether a YAML file is one of a flow or subflow, not of tests or a message set, by its beginning."""
    head = _head(path)
    return _FLOW_FILE.search(head) is not None and _TEST_FILE.search(head) is None


def has_cases(path: Path) -> bool:
    """Returns whether a YAML file is one of tests, by its beginning."""
    return _TEST_FILE.search(_head(path)) is not None


def _head(path: Path) -> bytes:
    with path.open("rb") as opened:
        return opened.read(_HEAD)


def flow_files_in(folder: Path) -> list[str]:
    """The flow files of a folder and of those below it, but for hidden ones, in order.

    >>> flow_files_in(Path("flows/samples/content_filter"))
    ['flows/samples/content_filter/content_filter.yaml']
    """
    every = (path for ending in ENDINGS for path in folder.rglob(f"*{ending}") if path.is_file())
    seen = (path for path in every if not any(part.startswith(".") for part in path.relative_to(folder).parts))
    return [str(path) for path in sorted(seen) if is_flow_file(path)]


def read_file(file: str, base: str | None = None) -> Reading:
    """The flow of one file by itself; one that files in `base` use is not read through a link that leads elsewhere."""
    content = content_or_problem(file, base)
    return Reading(None, (content,)) if isinstance(content, Problem) else read_flow(content, file)


def _used(flow: Flow) -> Iterator[str]:
    for use in flow.nodes:
        if use.subflow:
            if not isabs(use.subflow) and use.subflow.endswith(ENDINGS) and isfile(file_of(flow, use)):
                yield file_of(flow, use)
        elif use.type and "/" not in use.type and "\\" not in use.type:
            beside = join(dirname(flow.file), f"{use.type}.yaml")
            if isfile(beside):
                yield beside


class OwnNodes(NamedTuple):
    """A file that defines nodes, and their types."""

    name: str
    text: bytes
    types: tuple[str, ...]


def own_nodes(files: Iterable[str]) -> tuple[OwnNodes, ...]:
    """Load files that define nodes, so that flows can use them here, and where they are shipped to."""
    found = []
    for file in files:
        types = load_nodes([file])
        if types:  # and has not been loaded before
            found.append(OwnNodes(file, Path(file).read_bytes(), types))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Shipped:
    """An expanded flow as its YAML, with the ESQL and the message sets that it needs."""

    name: str
    file: str
    text: str
    files: tuple[tuple[str, bytes], ...]
    given: tuple[tuple[str, str], ...] = ()  # what programs may ask of the broker around them
    own_nodes: tuple[OwnNodes, ...] = ()

    @property
    def content_hash(self) -> str:
        """Returns the SHA-256 of all that the flow is made of, which tells it from any other flow."""
        parts = [self.name.encode(), self.text.encode()]
        for name, data in (*self.files, *((own.name, own.text) for own in self.own_nodes)):
            parts += [PurePosixPath(name).name.encode(), data]
        for named, value in self.given:
            parts += [named.encode(), value.encode()]
        return sha256(b"".join(b"%d:%s" % (len(part), part) for part in parts)).hexdigest()

    def told(self, given: Mapping[str, str]) -> Shipped:
        """The same flow in a broker that tells its programs these properties."""
        return replace(self, given=tuple(sorted(given.items())))

    def flow(self) -> Flow:
        """The flow itself, once the nodes that its own files define are there."""
        _load(self.own_nodes)
        reading = read_flow(self.text, self.file)
        if reading.flow is None or reading.problems:
            raise ConfigurationException(f"{self.name} cannot be deployed here", reading.problems)
        return reading.flow

    def as_data(self) -> dict[str, Any]:
        """The flow as JSON has it; `of_data` reads it back."""
        return {
            "name": self.name,
            "file": self.file,
            "text": self.text,
            "files": [[name, b64encode(data).decode()] for name, data in self.files],
            "ownNodes": [[own.name, b64encode(own.text).decode(), list(own.types)] for own in self.own_nodes],
        }

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Shipped:
        """The flow that `as_data` has made data of."""
        files = tuple((name, b64decode(text)) for name, text in data["files"])
        own = tuple(OwnNodes(name, b64decode(text), tuple(types)) for name, text, types in data["ownNodes"])
        return cls(data["name"], data["file"], data["text"], files, (), own)


def ship(flow: Flow, given: Mapping[str, str] | None = None, own_nodes: Iterable[OwnNodes] = ()) -> Shipped:
    """A flow that was loaded and expanded, as data."""
    files = tuple((name, bytes(data)) for name, data in files_of(flow))
    told = tuple(sorted((given or {}).items()))
    return Shipped(flow.qualified_name, flow.file, write_flow(flow), files, told, tuple(own_nodes))


def _load(files: Iterable[OwnNodes]) -> None:
    """Have the nodes that files define, where this process does not: the driver has them from the files themselves."""
    with TemporaryDirectory(prefix="penstock-nodes-") as folder:
        for file in files:
            if all(name in node_catalog for name in file.types):
                continue
            place = Path(folder) / Path(file.name).name
            place.write_bytes(file.text)
            load_nodes([str(place)])


_LARGEST_NODES: Final = 16 * 1024 * 1024
_PREFIX: Final = "own_nodes_"


def load_nodes(files: Iterable[str]) -> tuple[str, ...]:
    """Run these files, each once in a process; the answer is the names of the node types that they define."""
    own: list[str] = []
    for file in files:
        before = set(node_catalog)
        if _is_new(Path(file)):
            types = sorted(set(node_catalog) - before)
            if not types:
                raise _complaint(file, "defines no node: put @node on a dataclass in it")
            own += types
    return tuple(own)


def _is_new(path: Path) -> bool:
    """Run a file, unless it has been; whether it was run now."""
    try:
        text = read_input(path, _LARGEST_NODES, "no such program has so many")
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


def _complaint(file: str, text: str) -> ConfigurationException:
    return ConfigurationException(f"{file}, which is to define nodes, {text}")
