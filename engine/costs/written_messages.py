"""The messages of all scenarios as files, with an index, so that other programs can be measured on the same bytes."""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path
from typing import Any, Final

from engine.costs.messages import HEADER, Sample
from engine.costs.published import published
from engine.costs.scenarios import scenarios
from engine.errors import ConfigurationException

INDEX: Final = "index.json"
_LENGTH: Final = struct.Struct("<i")


def write_messages(directory: Path) -> tuple[Path, ...]:
    """Write the message of each scenario and size as SCENARIO-SIZE, and what they are into index.json."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise ConfigurationException(f"{directory} cannot hold messages: name a directory, not a file") from error
    files, entries = [], []
    for name, size in dict.fromkeys((key.scenario, key.message_bytes) for key in published()):
        sample = scenarios()[name].message(size)
        file = directory / f"{name}-{size}.{'bin' if _front(sample) else 'xml'}"
        file.write_bytes(sample.body)
        files.append(file)
        entries.append(_entry(name, size, file.name, sample))
    (directory / INDEX).write_text(json.dumps({"format": 1, "messages": entries}, indent=1) + "\n", encoding="utf-8")
    return tuple(files)


def _front(sample: Sample) -> int:
    """How many bytes at the start are an MQRFH2; what they announce follows them."""
    return int(_LENGTH.unpack_from(sample.body, 8)[0]) if sample.descriptor.format == HEADER else 0


def _entry(scenario: str, size: int, file: str, sample: Sample) -> dict[str, Any]:
    return {
        "scenario": scenario,
        "message_bytes": size,
        "file": file,
        "mqrfh2_bytes": _front(sample),
        "format": sample.descriptor.format,
        "encoding": sample.descriptor.encoding,
        "ccsid": sample.descriptor.coded_char_set_id,
        "sha256": hashlib.sha256(sample.body).hexdigest(),
    }
