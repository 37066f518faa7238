"""Policies: how messages of a queue are signed and encrypted, for whom, and who may have signed them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final

from engine.errors import ConfigurationException
from engine.mq.attribute_values import Value, checked_name
from engine.mq.refusals import UNKNOWN_OBJECT_NAME, refusal

POLICY: Final = "POLICY"
ERRORS: Final = "SYSTEM.PROTECTION.ERROR.QUEUE"  # for messages that are not protected as they should be
NONE: Final = "NONE"
DIGESTS: Final = ("SHA256", "SHA384", "SHA512")  # each stronger than the one before
CIPHERS: Final = ("AES128", "AES256")
UNLIMITED: Final = -1
_WEAK: Final = ("MD5", "SHA1", "RC2", "DES", "3DES")
_WRONG: Final = 3213
_SEPARATOR: Final = "\n"
_MOST_REUSES: Final = 2**32

Keep = Callable[[str, str, Mapping[str, Value] | None], object]


class UnprotectedError(Exception):
    """A message that is not protected as its policy asks, or not for this reader; the text says why."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The policy of one queue. `reuse` is how many messages may share a key, where a key may be reused at all."""

    name: str
    digest: str = NONE
    cipher: str = NONE
    signers: tuple[str, ...] = ()
    recipients: tuple[str, ...] = ()
    tolerates: bool = False
    reuse: int = 1

    @property
    def signs(self) -> bool:
        """True where messages are signed."""
        return self.digest != NONE

    @property
    def encrypts(self) -> bool:
        """True where messages are encrypted."""
        return self.cipher != NONE


def policy_of(name: str, values: Mapping[str, object]) -> Policy:
    """Returns a policy by the attributes of SET POLICY; one that protects nothing, or cannot be, is refused.

    >>> policy_of("Q", {"ENCALG": "AES256", "RECIP": "CN=ann", "KEYREUSE": "10"}).reuse
    10
    """
    made = Policy(
        checked_name(name),
        _algorithm("SIGNALG", str(values.get("SIGNALG", NONE)), DIGESTS),
        _algorithm("ENCALG", str(values.get("ENCALG", NONE)), CIPHERS),
        _names(values.get("SIGNER", "")),
        _names(values.get("RECIP", "")),
        str(values.get("TOLERATE", "NO")) == "YES",
        _reuse(str(values.get("KEYREUSE", "DISABLED"))),
    )
    problem = ""
    if not (made.signs or made.encrypts):
        problem = "SIGNALG and ENCALG are both NONE, which protects nothing: name one, or DELETE POLICY"
    elif made.encrypts and not made.recipients:
        problem = "ENCALG needs those who may read: name each by RECIP('CN=…')"
    elif made.recipients and not made.encrypts:
        problem = "RECIP is for messages that are encrypted: name an ENCALG"
    elif made.signers and not made.signs:
        problem = "SIGNER is for messages that are signed: name a SIGNALG"
    elif made.reuse != 1 and made.signs:
        problem = "KEYREUSE is for messages that are encrypted and not signed: leave it out, or SIGNALG"
    if problem:
        raise refusal(_WRONG, f"policy {name}: {problem}", name)
    return made


def _algorithm(word: str, text: str, known: tuple[str, ...]) -> str:
    if text not in {NONE, *known}:
        why = "is too weak" if text in _WEAK else "is not known"
        raise refusal(_WRONG, f"{word}({text:.20}) {why}: there are NONE, {', '.join(known)}", text)
    return text


def _names(value: object) -> tuple[str, ...]:
    return tuple(name.strip() for name in str(value).split(_SEPARATOR) if name.strip())


def _reuse(text: str) -> int:
    if text in {"DISABLED", "UNLIMITED"}:
        return 1 if text == "DISABLED" else UNLIMITED
    if not text.isdecimal() or not 1 <= int(text) < _MOST_REUSES:
        raise refusal(_WRONG, f"KEYREUSE takes DISABLED, UNLIMITED or a number of messages, not {text:.20}", text)
    return int(text)


def check_installed() -> None:
    """Refuses to protect messages where the package that does it is not installed."""
    if find_spec("cryptography") is None:
        raise ConfigurationException(
            "message protection needs the package cryptography: install penstock[protection], or delete the policy"
        )


class Policies:
    """The policies of a queue manager by the names of their queues, kept with the other definitions."""

    __slots__ = ("_keep", "named")

    def __init__(self, keep: Keep) -> None:
        self.named: dict[str, Policy] = {}
        self._keep = keep

    def define(self, name: str, attributes: Mapping[str, object]) -> None:
        """Define a policy, in place of one that is there."""
        made = policy_of(name, attributes)
        check_installed()
        self._keep(POLICY, name, shown(made))
        self.named[name] = made

    def restore(self, name: str, values: Mapping[str, Value]) -> None:
        """Add a policy as it was kept."""
        self.named[name] = policy_of(name, values)

    def delete(self, name: str) -> None:
        """Remove a policy; what it has protected stays so."""
        if name not in self.named:
            raise refusal(UNKNOWN_OBJECT_NAME, f"there is no policy {name}; DISPLAY POLICY(*) shows all", name)
        self._keep(POLICY, name, None)
        del self.named[name]

    def display(self) -> Iterator[dict[str, Value]]:
        """Yields the policies by their attributes under MQ's names."""
        named = dict(self.named)
        for name in sorted(named):
            yield {"POLICY": name, **shown(named[name])}


def shown(policy: Policy) -> dict[str, Value]:
    """Returns the attributes of a policy."""
    reuse = {1: "DISABLED", UNLIMITED: "UNLIMITED"}.get(policy.reuse, str(policy.reuse))
    return {
        "SIGNALG": policy.digest,
        "ENCALG": policy.cipher,
        "SIGNER": _SEPARATOR.join(policy.signers),
        "RECIP": _SEPARATOR.join(policy.recipients),
        "TOLERATE": "YES" if policy.tolerates else "NO",
        "KEYREUSE": reuse,
    }


def policies_of(manager: object) -> dict[str, dict[str, tuple[str, dict[str, Value]]]]:
    """Returns the policies of a queue manager as data, by the way that messages go and the names of queues."""
    found: Mapping[str, Mapping[str, Policy]] = getattr(manager, "policies", {"PUT": {}, "GET": {}})
    return {way: {name: (one.name, shown(one)) for name, one in named.items()} for way, named in found.items()}
