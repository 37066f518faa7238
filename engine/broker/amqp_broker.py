"""AMQP brokers that broker files name: for collectives, and for execution groups whose queues are there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from engine.catalog import did_you_mean
from engine.databases.definitions import Secret, has_password, secret_in
from engine.errors import ConfigurationException

if TYPE_CHECKING:
    from engine.transports.amqp import AmqpQueues
    from engine.transports.amqp.address import Address

KEYS: Final = ("url", "user", "password")
_SCHEMES: Final = ("amqp://", "amqps://")


@dataclass(frozen=True, slots=True)
class AmqpBroker:
    """An AMQP broker as a broker file names it; its URL and its password are read when they are needed."""

    owner: str  # as errors name it
    url: str | Secret
    user: str = ""
    password: Secret | None = None

    @property
    def where(self) -> str:
        """The URL, or the name of what holds it."""
        if isinstance(self.url, str):
            return self.url.partition("?")[0]
        return self.url.env or self.url.file

    def address(self) -> Address:
        """Returns the broker's address with user and password; raises where something is not there."""
        try:
            from engine.transports.amqp.address import read_address  # noqa: PLC0415  # it needs a package of its own
        except ImportError as error:
            text = f"{self.owner} needs the package python-qpid-proton: pip install 'penstock[amqp]'"
            raise ConfigurationException(text) from error
        url = self.url if isinstance(self.url, str) else self.url.read(self.owner).strip()
        found = read_address(url)
        password = found.password if self.password is None else self.password.read(self.owner)
        return replace(found, user=self.user or found.user, password=password)

    def queues(self, name: str) -> AmqpQueues:
        """Returns the broker's queues, in the place of those of a queue manager of this name."""
        address = self.address()
        from engine.transports.amqp import AmqpQueues  # noqa: PLC0415  # as well

        return AmqpQueues(address, name)


def amqp_broker_of(owner: str, said: Mapping[str, Any], example: str) -> AmqpBroker:
    """Returns the AMQP broker that a table says; no secret is read.

    >>> amqp_broker_of("group A", {"url": {"env": "NEWS_URL"}}, "{url: ...}").where
    'NEWS_URL'
    """
    for key in said:
        if key not in KEYS:
            raise ConfigurationException(f"{owner} has no {key}{did_you_mean(key, KEYS)}; write {example}")
    user = said.get("user", "")
    if not isinstance(user, str):
        raise ConfigurationException(f"user of {owner} is a text; write {example}")
    return AmqpBroker(owner, _url(owner, said.get("url"), example), user, secret_in(owner, said.get("password")))


def _url(owner: str, url: object, example: str) -> str | Secret:
    if isinstance(url, str):
        if not url.startswith(_SCHEMES):
            raise ConfigurationException(f"{owner}: url begins with amqp:// or amqps://, not {url:.20}")
        if has_password(url):
            raise ConfigurationException(f"{owner}: a broker file holds no password: write password: {{env: VAR}}")
        return url
    if not isinstance(url, Mapping):
        raise ConfigurationException(f"{owner} has no url; write {example}")
    found = secret_in(owner, url, what="url")
    assert found is not None  # only nothing stands for none
    return found


def of_group(group: str, said: Mapping[str, Mapping[str, Any]]) -> AmqpBroker | None:
    """Returns the AMQP broker whose queues the flows of an execution group read and write, or None.

    >>> of_group("B", {"A": {"url": "amqp://localhost"}}) is None
    True
    """
    if group not in said:
        return None
    return amqp_broker_of(f"amqp of execution group {group}", said[group], "{url: amqp://HOST:5672, user: NAME}")
