"""Authority records: which user or group has which authorities by which profile, kept with the other definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from engine.errors import MessageException
from engine.message.topics import ADDRESS, levels_of, wildcards
from engine.mq.attribute_values import Value
from engine.mq.refusals import UNKNOWN_OBJECT_NAME, refusal
from engine.mq.security.authorities import QMGR, TOPIC, TYPES, mask, names_of
from engine.mq.security.profiles import Profiles

AUTHREC: Final = "AUTHREC"
PRINCIPAL: Final = "PRINCIPAL"
GROUP: Final = "GROUP"
SELF: Final = "SELF"  # the profile of the queue manager
PUBLIC: Final = "PublicGroup"  # to which every user belongs
_LONGEST: Final = 400  # bytes of a key
_WRONG: Final = 3213

Keep = Callable[[str, str, Mapping[str, Value] | None], object]
Entity = tuple[str, str]  # PRINCIPAL or GROUP, and its name


class Granted(NamedTuple):
    """The authorities that one record grants, and those of a topic that it takes away from what is inherited."""

    allowed: int = 0
    denied: int = 0


class Key(NamedTuple):
    """The identity of a record."""

    kind: str
    entity: Entity
    profile: str

    def __str__(self) -> str:
        return " ".join((self.kind, *self.entity, self.profile))


def read_key(text: str) -> Key:
    """Returns the identity of a record from its text.

    >>> str(read_key("QUEUE GROUP clerks ORDERS.**"))
    'QUEUE GROUP clerks ORDERS.**'
    """
    parts = text.split(" ", 3)
    if len(parts) != 4 or parts[0] not in TYPES or parts[1] not in {PRINCIPAL, GROUP} or not (parts[2] and parts[3]):
        problem = "an authority record has a PROFILE, an OBJTYPE of QUEUE, TOPIC or QMGR, and a PRINCIPAL or a GROUP"
        raise refusal(_WRONG, f"{problem}: give all three", text[:60])
    if len(text.encode()) > _LONGEST:
        raise refusal(_WRONG, f"the names of an authority record have {_LONGEST} bytes at most: shorten them")
    profile = SELF if parts[0] == QMGR else parts[3]
    return Key(parts[0], (parts[1], parts[2]), profile)


class Records:
    """The authority records of a queue manager; `generation` grows with each change."""

    __slots__ = ("_granted", "_keep", "generation")

    def __init__(self, keep: Keep) -> None:
        self.generation = 0
        self._keep = keep
        self._granted: dict[tuple[str, Entity], Profiles[Granted]] = {}

    def define(self, name: str, attributes: Mapping[str, object]) -> None:
        """Add authorities to a record and take others away; one that is not there is made."""
        key = read_key(name)
        if key.kind == TOPIC and wildcards(levels_of(key.profile.removeprefix(f"{ADDRESS}//"))) is not None:
            problem = f"no topic is called {key.profile}: name the topic above, whose rights those below inherit"
            raise refusal(_WRONG, problem, key.profile)
        added = mask(key.kind, str(attributes.get("AUTHADD", "")).split())
        removed = mask(key.kind, str(attributes.get("AUTHRMV", "")).split())
        if added & removed:
            both = ", ".join(names_of(added & removed))
            raise refusal(_WRONG, f"{both} cannot be added and removed at once: leave it out of one of the lists")
        before = self.exactly(key) or Granted()
        denied = (before.denied | removed) & ~added if key.kind == TOPIC else 0
        made = Granted((before.allowed | added) & ~removed, denied)
        profiles = Profiles[Granted]()
        profiles.put(key.profile, made)  # refuses a profile that is none before anything is kept
        self._keep(AUTHREC, str(key), _values(made))
        self._put(key, made)

    def restore(self, name: str, values: Mapping[str, Value]) -> None:
        """Add a record as it was kept."""
        key = read_key(name)
        allowed, denied = (mask(key.kind, str(values[word]).split()) for word in ("AUTHLIST", "DENYLIST"))
        self._put(key, Granted(allowed, denied))

    def _put(self, key: Key, granted: Granted) -> None:
        self._granted.setdefault((key.kind, key.entity), Profiles()).put(key.profile, granted)
        self.generation += 1

    def delete(self, name: str) -> None:
        """Remove a record."""
        key = read_key(name)
        if self.exactly(key) is None:
            text = f"{key.entity[1]} has no authority record of {key.kind} {key.profile}; DISPLAY AUTHREC shows all"
            raise refusal(UNKNOWN_OBJECT_NAME, text, key.profile)
        self._keep(AUTHREC, str(key), None)
        profiles = self._granted[key.kind, key.entity]
        profiles.remove(key.profile)
        if not profiles:
            del self._granted[key.kind, key.entity]
        self.generation += 1

    def forget(self, kind: str, profile: str) -> None:
        """Remove the records of all users and groups for one object, so that another of its name begins without any."""
        for entity in self.entities(kind):
            if self.exactly(key := Key(kind, entity, profile)) is not None:
                self.delete(str(key))

    def __bool__(self) -> bool:
        return bool(self._granted)

    def exactly(self, key: Key) -> Granted | None:
        """Returns what one record grants."""
        profiles = self._granted.get((key.kind, key.entity))
        return None if profiles is None else profiles.exactly(key.profile)

    def find(self, kind: str, entity: Entity, name: str) -> Granted | None:
        """Returns what the most specific record of a user or group for a name grants."""
        profiles = self._granted.get((kind, entity))
        return None if profiles is None else profiles.find(name)

    def entities(self, kind: str) -> list[Entity]:
        """Returns the users and groups that have records of a type."""
        return [entity for own, entity in list(self._granted) if own == kind]

    def display(self) -> Iterator[dict[str, Value]]:
        """Yields all records by their attributes under MQ's names."""
        for (kind, entity), profiles in sorted(self._granted.items()):
            for profile in sorted(profiles):
                granted = profiles.exactly(profile)
                if granted is None:  # it has just been deleted
                    continue
                shown: dict[str, Value] = {"PROFILE": profile, "ENTITY": entity[1], "ENTTYPE": entity[0]}
                shown |= {"OBJTYPE": kind, "AUTHLIST": ",".join(names_of(granted.allowed)) or "NONE"}
                yield shown | ({"DENYLIST": ",".join(names_of(granted.denied))} if granted.denied else {})


def _values(granted: Granted) -> dict[str, Value]:
    return {"AUTHLIST": " ".join(names_of(granted.allowed)), "DENYLIST": " ".join(names_of(granted.denied))}


def authority_error(user: str, wanted: int, kind: str, name: str) -> MessageException:
    """Returns the refusal of what a user may not do."""
    authority = " or ".join(names_of(wanted))
    profile = f"PROFILE('{name}') " if kind != QMGR else ""
    text = (
        f"user {user} has no authority {authority} of {kind.lower()} {name}: the owner of the queue manager grants it"
        f" by SET AUTHREC {profile}OBJTYPE({kind}) PRINCIPAL('{user}') AUTHADD({names_of(wanted)[0]})"
    )
    return refusal(2035, text, user, name)
