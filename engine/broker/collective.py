"""Collectives: brokers of one repository that share publish/subscribe, and the AMQP broker between them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from engine.catalog import did_you_mean
from engine.databases.definitions import Secret, has_password, secret_in
from engine.errors import ConfigurationException

if TYPE_CHECKING:
    from engine.transports.amqp.address import Address

_KEYS: Final = ("name", "url", "user", "password")
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.%-]{0,99}")
_SCHEMES: Final = ("amqp://", "amqps://")
_EXAMPLE: Final = "{name: NEWS, url: amqp://HOST:5672, user: NAME, password: {env: VAR}}"


@dataclass(frozen=True, slots=True)
class Collective:
    """A collective as a broker file names it; its URL and its password are read when they are needed."""

    name: str
    url: str | Secret
    user: str = ""
    password: Secret | None = None

    def queue(self, member: str) -> str:
        """Returns the queue of the AMQP broker from which a member gets what others publish.

        >>> Collective("NEWS", "amqp://localhost").queue("SHOP")
        'NEWS.SHOP'
        """
        return f"{self.name}.{member}"

    @property
    def where(self) -> str:
        """The URL, or the name of what holds it."""
        if isinstance(self.url, str):
            return self.url.partition("?")[0]
        return self.url.env or self.url.file

    def address(self) -> Address:
        """Returns the address of the AMQP broker with user and password; raises where something is not there."""
        try:
            from engine.transports.amqp.address import read_address  # noqa: PLC0415  # it needs a package of its own
        except ImportError as error:
            text = "a collective needs the package python-qpid-proton: pip install 'penstock[amqp]'"
            raise ConfigurationException(text) from error
        owner = f"collective {self.name}"
        url = self.url if isinstance(self.url, str) else self.url.read(owner).strip()
        found = read_address(url)
        password = found.password if self.password is None else self.password.read(owner)
        return replace(found, user=self.user or found.user, password=password, prefetch=max(found.prefetch, 100))


def collective_of(said: Mapping[str, Any]) -> Collective | None:
    """Returns the collective that a broker file's table says, or None where it is empty; no secret is read.

    >>> collective_of({"name": "NEWS", "url": {"env": "NEWS_URL"}}).where
    'NEWS_URL'
    """
    if not said:
        return None
    for key in said:
        if key not in _KEYS:
            raise ConfigurationException(f"a collective has no {key}{did_you_mean(key, _KEYS)}; write {_EXAMPLE}")
    name, url, user = said.get("name"), said.get("url"), said.get("user", "")
    if not (isinstance(name, str) and _NAME.fullmatch(name)):
        raise ConfigurationException(f"a collective has a name of letters, digits and . _ % -; write {_EXAMPLE}")
    if not isinstance(user, str):
        raise ConfigurationException(f"user of a collective is a text; write {_EXAMPLE}")
    owner = f"collective {name}"
    return Collective(name, _url(owner, url), user, secret_in(owner, said.get("password")))


def _url(owner: str, url: object) -> str | Secret:
    if isinstance(url, str):
        if not url.startswith(_SCHEMES):
            raise ConfigurationException(f"{owner}: url begins with amqp:// or amqps://, not {url:.20}")
        if has_password(url):
            raise ConfigurationException(f"{owner}: a broker file holds no password: write password: {{env: VAR}}")
        return url
    if not isinstance(url, Mapping):
        raise ConfigurationException(f"{owner} has no url; write {_EXAMPLE}")
    found = secret_in(owner, url, what="url")
    assert found is not None  # only nothing stands for none
    return found
