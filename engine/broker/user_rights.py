"""Users, their groups, and the rights that a broker gives them.

A right is given for a broker, or for one of its execution groups or flows. A broker without a list of rights lets
everyone do everything who can reach its folder; one with a list binds everybody, also the owner of the folder.
"""

from __future__ import annotations

import grp
import os
import pwd
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from engine.broker.definition import RIGHTS, Grant, Right
from engine.catalog import did_you_mean
from engine.errors import BrokerError, ConfigurationException
from flows.yaml_document import Complaints, Mapping, Scalar, Sequence, Tree, content_of, read_document

NOT_AUTHORIZED: Final = 2035
_KEYS: Final = ("user", "userGroup", "may", "executionGroup", "flow")


def system_user() -> str:
    """Returns the name of the user whose process this is, as the system knows it."""
    return name_of(os.geteuid())


def name_of(uid: int) -> str:
    """Returns the name of a user by number; the number itself where the system knows none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def groups_of(user: str, users: str = "") -> frozenset[str]:
    """Returns the groups of a user: those that a file of users lists, or the system's."""
    if users:
        stamp = os.stat(users).st_mtime_ns if Path(users).is_file() else 0
        return _listed(users, stamp).get(user, frozenset())
    return _system_groups(user)


@lru_cache(maxsize=1024)
def _system_groups(user: str) -> frozenset[str]:
    try:
        ids = os.getgrouplist(user, pwd.getpwnam(user).pw_gid)
    except KeyError:
        return frozenset()
    return frozenset(_group_name(gid) for gid in ids)


def _group_name(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)


@lru_cache(maxsize=4)
def _listed(users: str, stamp: int) -> dict[str, frozenset[str]]:
    """The groups of each user of a file, which is read again when its time `stamp` has changed."""
    text = content_of(Path(users)).decode("utf-8", errors="replace")
    complaints = Complaints(users, text)
    document = read_document(text, users, complaints, kind="users", start="USER: [GROUP]")
    if not isinstance(document, Mapping) or complaints.found:
        raise ConfigurationException(
            f"{users} is no list of users: write `USER: [GROUP, …]` a line", tuple(complaints.found)
        )
    return {
        key.text: frozenset(item.text for item in tree.items if isinstance(item, Scalar))
        for key, tree in document.entries
        if isinstance(tree, Sequence)
    }


@dataclass(frozen=True, slots=True)
class Rights:
    """The rights that a broker gives, and where its users' groups are listed."""

    grants: tuple[Grant, ...]
    broker: str
    users: str = ""

    def demand(self, right: Right, *, group: str = "", flow: str = "", user: str = "") -> None:
        """Raises a BrokerError unless a user, or else the system's, has a right for the broker or a part of it."""
        user = user or system_user()
        if not self.grants or is_granted(self.grants, user, groups_of(user, self.users), right, group, flow):
            return
        part = f", flow {flow}" if flow else f", execution group {group}" if group else ""
        text = f"{user} has no right to {right} on {self.broker}{part}: have `rights:` of the broker give it"
        raise BrokerError(NOT_AUTHORIZED, text)


def is_granted(
    rights: Iterable[Grant], user: str, groups: frozenset[str], right: Right, group: str = "", flow: str = ""
) -> bool:
    """Returns True where one of the grants covers the right, the user, and the part of the broker.

    >>> grants = [Grant("ada", ("read",)), Grant("ada", ("deploy",), group="Orders")]
    >>> is_granted(grants, "ada", frozenset(), "deploy"), is_granted(grants, "ada", frozenset(), "deploy", "Orders")
    (False, True)
    """
    return any(
        right in grant.may
        and (grant.user in groups if grant.is_group else grant.user == user)
        and grant.group in {"", group}
        and grant.flow in {"", flow}
        for grant in rights
    )


def read_rights(tree: Tree, complain: Callable[..., None]) -> Iterator[Grant]:
    """Yields the grants of a `rights:` list; what is wrong with it goes to `complain`."""
    if not isinstance(tree, Sequence):
        complain(tree.place, "rights must be a list: `- {user: NAME, may: [read, deploy, operate]}`")
        return
    for item in tree.items:
        grant = _grant(item, complain) if isinstance(item, Mapping) else None
        if grant is None:
            complain(item.place, "a right is a table: `{user: NAME, may: [read, deploy, operate]}`")
        else:
            yield grant


def _grant(item: Mapping, complain: Callable[..., None]) -> Grant | None:
    for key, _ in item.entries:
        if key.text not in _KEYS:
            complain(key.place, f"a right has no {key.text}{did_you_mean(key.text, _KEYS)}", about=key.text)
    names = {key.text: tree.text for key, tree in item.entries if isinstance(tree, Scalar)}
    user = names.get("user") or names.get("userGroup")
    may = item.get("may")
    if not user or not isinstance(may, Sequence):
        return None
    given = [right.text for right in may.items if isinstance(right, Scalar)]
    for right in set(given).difference(RIGHTS):
        complain(may.place, f"there is no right {right}{did_you_mean(right, RIGHTS)}", about=right)
    known = tuple(right for right in RIGHTS if right in given)
    return Grant(user, known, names.get("executionGroup", ""), names.get("flow", ""), "user" not in names)
