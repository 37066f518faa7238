"""The identities that share a subscription: applications that have joined it, or one that has it alone."""

from __future__ import annotations

import json
from typing import Final

from engine.flow.command_answers import (
    ALREADY_JOINED,
    SUB_IDENTITY_ERROR,
    SUBSCRIPTION_IN_USE,
    SUBSCRIPTION_LOCKED,
    RefusedError,
)

ATTRIBUTE: Final = "IDENTITY"
_LONGEST: Final = 64


def identities(text: str) -> list[str]:
    """Returns the identities of a subscription, as its attribute tells them.

    >>> identities('["ann","bob"]'), identities('"ann"'), identities("")
    (['ann', 'bob'], ['ann'], [])
    """
    known = json.loads(text) if text else []
    return [known] if isinstance(known, str) else list(known)


def is_locked(text: str) -> bool:
    """Returns True where one identity has a subscription alone."""
    return text.startswith('"')


def joined(text: str, identity: str, *, alone: bool) -> str:
    """Returns the attribute with one identity more, which has the subscription alone where it asks for that.

    >>> joined(joined("", "ann", alone=False), "bob", alone=False), joined('["ann"]', "ann", alone=True)
    ('["ann","bob"]', '"ann"')
    """
    check_identity(identity)
    members = identities(text)
    if is_locked(text) and members != [identity]:
        raise RefusedError(SUBSCRIPTION_LOCKED)
    if alone:
        if members not in ([], [identity]):
            raise RefusedError(SUBSCRIPTION_IN_USE)
        return json.dumps(identity)
    if identity in members and not is_locked(text):
        raise RefusedError(ALREADY_JOINED, warns=True)
    return _written(list(dict.fromkeys([*members, identity])))


def left(text: str, identity: str) -> str:
    """Returns the attribute without an identity that has joined.

    >>> left('["ann","bob"]', "ann"), left('"bob"', "bob")
    ('["bob"]', '')
    """
    check_member(text, identity)
    return _written([one for one in identities(text) if one != identity])


def check_alone(text: str, identity: str) -> None:
    """Refuse an identity that has not joined a subscription, or is not the only one that has."""
    check_member(text, identity)
    if identities(text) != [identity]:
        raise RefusedError(SUBSCRIPTION_IN_USE)


def check_member(text: str, identity: str) -> None:
    """Refuse an identity that has not joined a subscription."""
    check_identity(identity)
    if identity not in identities(text):
        raise RefusedError(SUB_IDENTITY_ERROR)


def check_identity(identity: str) -> None:
    """Refuse an identity that is too long."""
    if len(identity) > _LONGEST:
        raise RefusedError(SUB_IDENTITY_ERROR)


def _written(members: list[str]) -> str:
    return json.dumps(members, ensure_ascii=False, separators=(",", ":")) if members else ""
