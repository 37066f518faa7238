"""Collectives: brokers of one repository that share publish/subscribe, and the AMQP broker between them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from engine.broker.amqp_broker import AmqpBroker, amqp_broker_of
from engine.errors import ConfigurationException

if TYPE_CHECKING:
    from engine.transports.amqp.address import Address

_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.%-]{0,99}")
_EXAMPLE: Final = "{name: NEWS, url: amqp://HOST:5672, user: NAME, password: {env: VAR}}"


@dataclass(frozen=True, slots=True)
class Collective:
    """A collective as a broker file names it; the URL and the password of its AMQP broker are read when needed."""

    name: str
    broker: AmqpBroker

    def queue(self, member: str) -> str:
        """Returns the queue of the AMQP broker from which a member gets what others publish.

        >>> collective_of({"name": "NEWS", "url": "amqp://localhost"}).queue("SHOP")
        'NEWS.SHOP'
        """
        return f"{self.name}.{member}"

    @property
    def where(self) -> str:
        """The URL, or the name of what holds it."""
        return self.broker.where

    def address(self) -> Address:
        """Returns the address of the AMQP broker with user and password; raises where something is not there."""
        found = self.broker.address()
        return replace(found, prefetch=max(found.prefetch, 100))


def collective_of(said: Mapping[str, Any]) -> Collective | None:
    """Returns the collective that a broker file's table says, or None where it is empty; no secret is read.

    >>> collective_of({"name": "NEWS", "url": {"env": "NEWS_URL"}}).where
    'NEWS_URL'
    """
    if not said:
        return None
    name = said.get("name")
    if not (isinstance(name, str) and _NAME.fullmatch(name)):
        raise ConfigurationException(f"a collective has a name of letters, digits and . _ % -; write {_EXAMPLE}")
    rest = {key: value for key, value in said.items() if key != "name"}
    return Collective(name, amqp_broker_of(f"collective {name}", rest, _EXAMPLE))
