"""Definitions of data sources: their names and URLs, and where their passwords are to be found."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from engine.catalog import did_you_mean
from engine.errors import ConfigurationException
from engine.files.input_files import read_file

_NAME: Final = re.compile(r"[^\s=@:/]+")
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\+[A-Za-z0-9_]+)?:(//.*)")
_USER: Final = re.compile(r"[^:]*://[^/@:]*:[^@]*@")
_PASSWORD: Final = re.compile(r"[?&;][^=&;]*(password|passwd|pwd)=", re.IGNORECASE)
_PREPARING: Final = frozenset(("postgresql", "postgres", "postgresql+psycopg"))
_KEYS: Final = ("url", "user", "password")

_LARGEST: Final = 1 << 16  # bytes of a file that holds a url or a password


@dataclass(frozen=True, slots=True)
class Secret:
    """A password by reference: the environment variable or the file that holds it."""

    env: str = ""
    file: str = ""

    def read(self, owner: str) -> str:
        """The password; raises where there is none, or where others can read it."""
        if self.env:
            found = os.environ.get(self.env)
            if found is None:
                raise ConfigurationException(f"{owner}: the environment has no {self.env}: set it")
            return found
        return private_text(Path(self.file), owner).rstrip("\r\n")


@dataclass(frozen=True, slots=True)
class Definition:
    """A data source: a SQLAlchemy URL, and a user and a password where these are not part of it."""

    name: str
    url: str = field(repr=False)
    user: str = ""
    password: Secret | None = None

    @property
    def scheme(self) -> str:
        """The dialect and the driver that the URL names, which is all of it that may be shown."""
        return self.url.partition(":")[0]

    @property
    def prepares(self) -> bool:
        """Returns True where the database can prepare units of work, if it is set up for that."""
        return self.scheme in _PREPARING


def definitions_of(options: Iterable[str], further: Iterable[Definition] = ()) -> tuple[Definition, ...]:
    """The data sources that options `NAME=URL` and `NAME=@FILE` define, then further ones of other names.

    The first is the default one.
    """
    found = [_of_option(option) for option in options]
    names = {one.name for one in found}
    return _without_doubles([*found, *(one for one in further if one.name not in names)])


def _of_option(option: str) -> Definition:
    name, equals, url = option.partition("=")
    if not equals or not _NAME.fullmatch(name):
        shown = name if _NAME.fullmatch(name) else "it"  # the rest may be a password
        raise ConfigurationException(f"--data-source is NAME=URL or NAME=@FILE: {shown} is neither")
    if url.startswith("@"):
        url = _in_file(Path(url[1:]), name)
    return _checked(Definition(name, url.strip()))


def _in_file(file: Path, name: str) -> str:
    try:
        text = read_file(file, _LARGEST, "no url has so many").decode("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigurationException(f"data source {name}: {file} cannot be read: {said}; name another") from None
    return private_text(file, f"data source {name}").strip() if has_password(text) else text


def private_text(file: Path, owner: str) -> str:
    """The text of a file that only its user may read; raises where others may."""
    try:
        mode = file.stat().st_mode
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ConfigurationException(f"{owner}: others may read {file}: chmod 600 {file}")
        return read_file(file, _LARGEST, "no url has so many").decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigurationException(f"{owner}: {file} cannot be read: {said}; name another") from None


def has_password(url: str) -> bool:
    """Returns True for a URL with a password in it.

    >>> has_password("postgresql://me:a/b@host/stock"), has_password("postgresql://me@host:5432/stock?user=a@b")
    (True, False)
    >>> has_password("postgresql://me:a?b@host/stock")
    True
    """
    user, at, _ = url.partition("://")[2].partition("?")[0].rpartition("@")
    return (bool(at) and ":" in user) or bool(_USER.match(url) or _PASSWORD.search(url))


def definitions_in(data: object, folder: Path = Path()) -> tuple[Definition, ...]:
    """The data sources of a broker file's `dataSources:`; no secret is read."""
    if not isinstance(data, Mapping):
        raise ConfigurationException("dataSources is a mapping: NAME: {url: …, user: …, password: {env: VAR}}")
    return _without_doubles([_of_entry(str(name), entry, folder) for name, entry in data.items()])


def _of_entry(name: str, entry: object, folder: Path) -> Definition:
    if not _NAME.fullmatch(name):
        raise ConfigurationException(f"dataSources: {name!r} is no name of a data source: write letters and digits")
    given: Mapping[Any, Any] = {"url": entry} if isinstance(entry, str) else entry  # type: ignore[assignment]
    if not isinstance(given, Mapping):
        raise ConfigurationException(f"data source {name} is {{url: …}}, with user and password where it needs them")
    for key in given:
        if key not in _KEYS:
            advice = did_you_mean(str(key), list(_KEYS)) or f"; it has {', '.join(_KEYS)}"
            raise ConfigurationException(f"data source {name} has no {key}{advice}")
    url, user = given.get("url", ""), given.get("user", "")
    if not isinstance(url, str) or not isinstance(user, str):
        raise ConfigurationException(f"data source {name}: url and user are texts")
    if has_password(url):
        text = f"data source {name}: a broker file holds no password: write password: {{env: VAR}} or {{file: PATH}}"
        raise ConfigurationException(text)
    return _checked(Definition(name, url, user, secret_in(f"data source {name}", given.get("password"), folder)))


def secret_in(owner: str, data: object, folder: Path = Path(), what: str = "password") -> Secret | None:
    """Returns the reference to a password, or to `what`, that a broker file gives; anything else is refused."""
    if data is None:
        return None
    if isinstance(data, Mapping) and len(data) == 1:
        ((kind, where),) = data.items()
        if kind == "env" and isinstance(where, str) and where:
            return Secret(env=where)
        if kind == "file" and isinstance(where, str) and where:
            return Secret(file=str(folder / where))
    raise ConfigurationException(f"{owner}: {what} is {{env: VAR}} or {{file: PATH}}, never the {what} itself")


def _checked(definition: Definition) -> Definition:
    if not _URL.fullmatch(definition.url):
        text = f"data source {definition.name} has no URL that begins with a dialect: write sqlite:///PATH or"
        raise ConfigurationException(f"{text} postgresql+psycopg://USER@HOST/DATABASE")
    return definition


def _without_doubles(found: list[Definition]) -> tuple[Definition, ...]:
    names = [one.name for one in found]
    for name in names:
        if names.count(name) > 1:
            raise ConfigurationException(f"there are two data sources called {name}: rename one")
    return tuple(found)
