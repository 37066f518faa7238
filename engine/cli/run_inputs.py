"""The messages that `penstock run` reads, and the descriptors that it gives them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli.command_failures import existing
from engine.errors import ConfigurationException

if TYPE_CHECKING:
    from engine.descriptor import Descriptor
    from engine.files.input_files import Place
    from engine.runtime.file_run import Letter


def check_descriptor(ccsid: int, encoding: int, format_: str) -> None:
    """Refuse what no message descriptor could say of a message."""
    from engine.descriptor import is_encoding
    from parsers.charsets.ccsid import codec

    codec(ccsid)
    if not is_encoding(encoding):
        raise ConfigurationException(f"--encoding {encoding} is no MQ encoding: 546 is little endian, 273 big endian")
    if len(format_) > 8 or not format_.isascii():
        raise ConfigurationException(f"--format {format_} is no MQ format: it has at most 8 ASCII characters")


def check_queue_manager(name: str) -> None:
    """Refuse what is no name of a queue manager."""
    import re

    from engine.flow.queue_options import QUEUE_MANAGER

    if not re.fullmatch(QUEUE_MANAGER.regex, name):
        raise ConfigurationException(f"--queue-manager-name is {QUEUE_MANAGER.words}, not {name!r:.60}")


def inputs_of(sources: list[str]) -> list[Place]:
    """Returns the files and folders that messages come from, standard input by its descriptor."""
    return [0 if source == "-" else Path(source) for source in sources]


def letters_of(sources: list[str], descriptor: Descriptor, most: int) -> tuple[Iterator[Letter], int]:
    """Returns the messages of all sources, one after the other, and how many there are."""
    from engine.runtime.file_run import files_of, letters_from

    letters: list[Iterable[Letter]] = []
    count = 0
    for source in sources:
        if source != "-":
            files = files_of(existing(source, "a file, a directory, or - for standard input"))
            letters.append(letters_from(files, descriptor, most))
            count += len(files)
        elif sys.stdin is None:
            raise ConfigurationException("standard input is closed: pipe a message into it, or name a file")
        else:
            letters.append(_of_standard_input(descriptor, most))
            count += 1
    return chain.from_iterable(letters), count


def _of_standard_input(descriptor: Descriptor, most: int) -> Iterator[Letter]:
    from engine.files.input_files import read_stream
    from engine.runtime.file_run import letter_of

    yield letter_of("stdin", descriptor, partial(read_stream, sys.stdin.buffer, "stdin", most))
