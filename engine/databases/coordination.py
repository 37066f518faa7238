"""Two-phase commit: databases prepare, the queue manager's commit holds the decision, databases commit.

A branch is what a unit of work has done to one data source. It is prepared under a gid of queue manager, connection,
unit and data source. A branch that is prepared and not decided is in doubt; it is left alone while its process lives.
"""

from __future__ import annotations

import hashlib
import itertools
import logging
import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol
from urllib.parse import quote, unquote
from uuid import uuid4

from engine.databases.errors import NOT_NOW, DatabaseException, refusal
from engine.errors import LOCAL_ERROR, BrokerError

if TYPE_CHECKING:
    from engine.databases.link import Link
    from engine.databases.session import Session
    from engine.databases.sources import Source, Sources
    from engine.work import UnitOfWork

_PREFIX: Final = "penstock"
_LEAVING: Final = 5.0  # seconds that a look at databases, which may not answer, is given to end
_EVERY: Final = 30.0  # seconds between two looks at what is in doubt
_AT_ONCE: Final = 256  # decisions that are kept before those carried out are forgotten
_LOG: Final = logging.getLogger(LOCAL_ERROR)


class Decisions(Protocol):
    """The table of decisions of a queue manager, which its commits write to."""

    name: str

    def decisions(self) -> Mapping[bytes, bool]:
        """The branches that are decided: True for those that commit, False for those that were refused."""
        ...

    def forget(self, branch: bytes) -> None:
        """Forget a decision that was carried out."""
        ...

    def refuse(self, branch: bytes) -> bool:
        """Decide that a branch does not commit; False where it is decided already that it does."""
        ...


class Branch(NamedTuple):
    """The parts of a gid: the queue manager, the process and number of the connection, the unit, the data source."""

    manager: str
    connection: str
    unit: int
    source: str

    @property
    def gid(self) -> str:
        """The name under which a database keeps the branch.

        >>> Branch("QM:1f", "7.8.1", 3, "DB").gid
        'penstock:QM%3A1f:7.8.1:3:DB'
        """
        parts = (quote(self.manager, safe=""), self.connection, str(self.unit), quote(self.source, safe=""))
        return ":".join((_PREFIX, *parts))

    @classmethod
    def of(cls, gid: str) -> Branch | None:
        """The branch of a gid; None where it is none of ours."""
        parts = gid.split(":")
        if len(parts) != 5 or parts[0] != _PREFIX or not parts[3].isdecimal():
            return None
        return cls(unquote(parts[1]), parts[2], int(parts[3]), unquote(parts[4]))


class Doubt(NamedTuple):
    """A branch that is prepared, and what is known of it: committed, refused, alive or undecided."""

    branch: Branch
    state: str


class Coordinator:
    """The queue manager as the coordinator of units of work over its queues and databases."""

    def __init__(self, decisions: Decisions, identity: str = "") -> None:
        """`identity` tells queue managers of one name apart, by the folders that they are in."""
        self._decisions = decisions
        self._manager = f"{decisions.name}:{identity}" if identity else decisions.name
        self._process = process_name()
        self._own = f"{self._process}.{uuid4().hex[:8]}"
        self._connections = itertools.count(1)
        self._units = itertools.count(1)
        self._lock = threading.Lock()
        self._in_hand: set[str] = set()
        self._done: list[bytes] = []
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def connection(self) -> str:
        """The name of a new connection: of this process, and a number."""
        return f"{self._own}.{next(self._connections)}"

    # a unit of work

    def commit(self, session: Session, work: UnitOfWork, connection: str) -> None:
        """Commit a unit of work over databases and queues, all of it or nothing."""
        links = session.written
        preparing = [link for link in links if link.source.driver.prepares]
        others = [link for link in links if not link.source.driver.prepares]
        if len(others) > 1:
            raise _too_many(others)
        if not preparing:
            session.commit()
            work.commit()
            return
        unit = next(self._units)
        branches = {Branch(self._manager, connection, unit, link.source.name).gid: link for link in preparing}
        with self._lock:
            self._in_hand.update(branches)
        try:
            self._prepare(branches)
            for link in others:  # the last resource: it cannot prepare, and is committed before the decision
                link.commit()
        except BaseException:
            self._end(branches, commits=False)
            raise
        self._decide(branches, work)
        self._end(branches, commits=True)
        session.commit()  # what was only read from

    def _prepare(self, branches: Mapping[str, Link]) -> None:
        for gid, link in branches.items():
            link.prepare(gid)

    def _decide(self, branches: Mapping[str, Link], work: UnitOfWork) -> None:
        """Commit the queues with the decision; when that fails, ask whether it was kept."""
        gids = tuple(gid.encode() for gid in branches)
        decided: Any = work  # that of a queue manager, which keeps decisions
        try:
            decided.commit(gids)
        except BrokerError:
            if self._is_refused(gids, branches):
                self._end(branches, commits=False)
                raise
        except BaseException:
            self._let_go(branches)  # it is in doubt, until someone asks the queue manager
            raise

    def _is_refused(self, gids: tuple[bytes, ...], branches: Mapping[str, Link]) -> bool:
        """Returns True where a commit that failed has not been kept, and never will be."""
        try:
            refused = [self._decisions.refuse(gid) for gid in gids]
        except BaseException:
            self._let_go(branches)
            raise
        return any(refused)

    def _let_go(self, branches: Mapping[str, Link]) -> None:
        with self._lock:
            self._in_hand.difference_update(branches)

    def _end(self, branches: Mapping[str, Link], *, commits: bool) -> None:
        """Carry the decision out; what cannot be reached now is resolved later."""
        try:
            for gid, link in branches.items():
                with suppress(DatabaseException):
                    link.end_prepared(gid, commits=commits)
                    self._done.append(gid.encode())
        finally:
            self._let_go(branches)
        if len(self._done) > _AT_ONCE:
            self.forget_done()

    def forget_done(self) -> None:
        """Forget the decisions that were carried out."""
        done, self._done = self._done, []
        for gid in done:
            self._decisions.forget(gid)

    # what is in doubt

    def in_doubt(self, sources: Sources) -> list[Doubt]:
        """The branches of this queue manager that are prepared in data sources."""
        found = self._prepared(sources)
        decided = self._decisions.decisions() if found else {}
        return [Doubt(branch, self._state(branch, decided)) for branch, _ in found]

    def _prepared(self, sources: Sources) -> list[tuple[Branch, Source]]:
        found: list[tuple[Branch, Source]] = []
        prefix = f"{_PREFIX}:{quote(self._manager, safe='')}:"
        for definition in sources.definitions:
            source = sources.find(definition.name)
            for gid in source.prepared(prefix):
                branch = Branch.of(gid)
                if branch is not None and branch.source == source.name:
                    found.append((branch, source))
        return found

    def _state(self, branch: Branch, decided: Mapping[bytes, bool]) -> str:
        known = decided.get(branch.gid.encode())
        if known is not None:
            return "committed" if known else "refused"
        return "alive" if self._lives(branch) else "undecided"

    def _lives(self, branch: Branch) -> bool:
        if branch.connection.startswith(f"{self._own}."):
            with self._lock:
                return branch.gid in self._in_hand
        return is_alive(".".join(branch.connection.split(".")[:2]))

    def resolve(self, sources: Sources) -> list[Doubt]:
        """End what is in doubt: commit what was decided, roll back what was not and whose process is gone.

        The refusal is recorded before anything is rolled back, so that a commit which comes late is refused.
        """
        ended: list[Doubt] = []
        prepared = self._prepared(sources)
        decided = dict(self._decisions.decisions())
        for branch, source in prepared:
            gid = branch.gid
            state = self._state(branch, decided)
            if state == "alive":
                continue
            commits = state == "committed" or (state == "undecided" and not self._decisions.refuse(gid.encode()))
            source.end_prepared(gid, commits=commits)
            ended.append(Doubt(branch, "committed" if commits else "rolled back"))
            decided[gid.encode()] = commits
        self._forget_what_is_over(sources, decided)
        return ended

    def _forget_what_is_over(self, sources: Sources, decided: Mapping[bytes, bool]) -> None:
        """Forget the decisions of branches that no data source has prepared any more.

        A refusal stays while the process that could still commit the branch lives.
        """
        left = {branch.gid for branch, _ in self._prepared(sources)}
        names = {definition.name for definition in sources.definitions}
        for gid, commits in decided.items():
            branch = Branch.of(gid.decode("utf-8", "replace"))
            is_ours = branch is not None and branch.manager == self._manager and branch.source in names
            if branch is None or not is_ours or branch.gid in left or self._lives(branch):
                continue
            if commits or not is_alive(".".join(branch.connection.split(".")[:2])):
                self._decisions.forget(gid)

    def watch(self, sources: Sources) -> None:
        """Resolve now, and every 30 seconds until `close`."""
        if self._thread is not None:
            return
        self._resolve_quietly(sources)
        self._thread = threading.Thread(target=self._watch, args=(sources,), name="in doubt", daemon=True)
        self._thread.start()

    def _watch(self, sources: Sources) -> None:
        while not self._stopping.wait(_EVERY):
            self._resolve_quietly(sources)

    def _resolve_quietly(self, sources: Sources) -> None:
        try:
            self.forget_done()
            for doubt in self.resolve(sources):
                _LOG.warning("%s was in doubt: it is %s", doubt.branch.gid, doubt.state)
        except BrokerError as error:
            _LOG.warning("what is in doubt cannot be resolved now: %s; it is tried again", error)

    def close(self) -> None:
        """Stop looking; decisions that were carried out are forgotten."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(_LEAVING)
        with suppress(BrokerError):
            self.forget_done()


def _too_many(links: Sequence[Link]) -> DatabaseException:
    """The error of a unit whose parts could be kept in one database and lost in another."""
    names = " and ".join(link.source.name for link in links)
    text = f"{names} cannot prepare a unit of work, and a coordinated one may have written to one of such only:"
    source = links[-1].source
    return refusal(source.name, source.driver.name, NOT_NOW, 0, f"{text} give a node transaction commit")


def identity_of(folder: Path) -> str:
    """Returns a hash of a queue manager's folder, which tells it from others of its name."""
    return hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:8]


def process_name() -> str:
    """The name of this process that no other has on this machine: its number and the moment at which it began."""
    return f"{os.getpid()}.{_began(os.getpid())}"


def is_alive(process: str) -> bool:
    """Returns True while the process of that name runs."""
    number, _, began = process.partition(".")
    return number.isdecimal() and _began(int(number)) == began


def _began(process: int) -> str:
    try:
        text = Path(f"/proc/{process}/stat").read_text("utf-8", errors="replace")
    except OSError:
        return ""
    state, *rest = text.rpartition(")")[2].split()
    return "" if state in {"Z", "X"} else rest[18]
