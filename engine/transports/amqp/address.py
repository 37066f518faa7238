"""The URL of an AMQP broker, read into the connection that it describes."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from engine.errors import ConfigurationException
from engine.files.input_files import read_file

_PORTS: Final = {"amqp": 5672, "amqps": 5671}
_MOST_PREFETCHED: Final = 10_000
_LARGEST: Final = 1 << 16  # bytes of a file with a password


@dataclass(frozen=True, slots=True)
class Address:
    """An AMQP broker and how to reach it; the password is in no text of it.

    >>> address = read_address("amqp://ada:secret@broker:5680?prefetch=1")
    >>> address.url, address.user, address.prefetch
    ('amqp://broker:5680', 'ada', 1)
    >>> "secret" in repr(address)
    False
    """

    url: str
    user: str = ""
    password: str = field(default="", repr=False)
    prefetch: int = 10
    dead_letter_queue: str = "SYSTEM.DEAD.LETTER.QUEUE"
    backout_threshold: int = 3
    backout_queue: str = ""
    timeout: float = 10.0
    authorities: str = ""  # the file of the certificates that vouch for the broker; those of the machine where empty


def read_address(text: str) -> Address:
    """Reads a URL: `amqp://[USER[:PASSWORD]@]HOST[:PORT][?OPTION=VALUE&...]`.

    Options: `prefetch`, `deadq`, `bothresh`, `boqname`, `timeout`, `ca-file` of amqps, and `password-env=VARIABLE` or
    `password-file=PATH`, which keep the password out of the list of processes.
    """
    try:
        parts = urlsplit(text)
        port = parts.port or _PORTS[parts.scheme]
        options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    except (ValueError, KeyError) as error:
        raise ConfigurationException(f"the URL of an AMQP broker is amqp://HOST:PORT: {_without(text)}") from error
    if parts.path.strip("/"):
        raise ConfigurationException(f"the URL of an AMQP broker has no path: leave {parts.path} away")
    host = parts.hostname or "127.0.0.1"
    made = Address(
        f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port}",
        unquote(parts.username or ""),
        _password(unquote(parts.password or ""), options),
        _number(options, "prefetch", 10, _MOST_PREFETCHED),
        options.pop("deadq", "SYSTEM.DEAD.LETTER.QUEUE"),
        _number(options, "bothresh", 3, 1_000_000),
        options.pop("boqname", ""),
        float(_number(options, "timeout", 10, 3600)),
        _authorities(options, parts.scheme),
    )
    if options:
        raise ConfigurationException(
            f"the URL of an AMQP broker has no option {', '.join(sorted(options))}: there are prefetch, deadq,"
            " bothresh, boqname, timeout, ca-file, password-env and password-file"
        )
    return made


def _number(options: dict[str, str], name: str, default: int, most: int) -> int:
    text = options.pop(name, str(default))
    if not text.isascii() or not text.isdigit() or not 0 < int(text) <= most:
        raise ConfigurationException(f"{name} of an AMQP URL is a number from 1 to {most:,}, not {text[:20]!r}")
    return int(text)


def _authorities(options: dict[str, str], scheme: str) -> str:
    """Returns the file of the certificates that vouch for the broker, which must be there."""
    file = options.pop("ca-file", "")
    if file and scheme != "amqps":
        raise ConfigurationException("ca-file is for amqps://, which is TLS: amqp:// sends everything in plain text")
    if file and not Path(file).is_file():
        raise ConfigurationException(f"ca-file {file} of the AMQP URL is not there")
    return file


def _password(given: str, options: dict[str, str]) -> str:
    variable, file = options.pop("password-env", ""), options.pop("password-file", "")
    if variable:
        if variable not in os.environ:
            raise ConfigurationException(f"the environment variable {variable} for the AMQP password is not set")
        return os.environ[variable]
    if not file:
        return given
    try:
        if Path(file).stat().st_mode & 0o077:
            raise ConfigurationException(f"{file} holds a password and others may read it: chmod 600 {file}")
        return read_file(Path(file), _LARGEST, "no password has so many").decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        raise ConfigurationException(f"the AMQP password cannot be read from {file}: it is not UTF-8") from None
    except OSError as error:
        raise ConfigurationException(f"the AMQP password cannot be read from {file}: {error.strerror}") from error


def _without(text: str) -> str:
    """The URL without what stands in front of the host."""
    scheme, _, rest = text.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"
