"""The messages of all scenarios as files, with an index, so that other programs can be measured on the same bytes."""

from __future__ import annotations

import hashlib
import json
import struct
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from engine.costs.messages import HEADER, Sample
from engine.costs.published import published
from engine.costs.scenarios import scenarios
from engine.files.output_folders import OutputFolder

INDEX: Final = "index.json"
_LENGTH: Final = struct.Struct("<i")


def write_messages(directory: Path) -> tuple[Path, ...]:
    """Write the message of each scenario and size as SCENARIO-SIZE, and what they are into index.json."""
    files, entries = [], []
    with closing(OutputFolder(directory)) as folder:
        for name, size in dict.fromkeys((key.scenario, key.message_bytes) for key in published()):
            sample = scenarios()[name].message(size)
            file = folder.add((f"{name}-{size}.{'bin' if _front(sample) else 'xml'}",), sample.body)
            files.append(file)
            entries.append(_entry(name, size, file.name, sample))
        index = json.dumps({"format": 1, "messages": entries}, indent=1) + "\n"
        folder.add((INDEX,), index.encode())
        folder.publish()
    return tuple(files)


def _front(sample: Sample) -> int:
    """Returns how many bytes at the start are an MQRFH2; what they announce follows them."""
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
