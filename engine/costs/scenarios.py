"""The scenarios of the WMQI report: the table of their flows, messages and programs by hand; the messages as files."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from engine.costs import hand_written
from engine.costs.hand_written import complex_path_by_hand
from engine.costs.messages import FORMS, HEADER, Sample, on_topic, paths, plain, tagged
from engine.costs.results import Key, published
from engine.files.output_folders import OutputFolder

if TYPE_CHECKING:
    import sqlalchemy as sa


Make: TypeAlias = Callable[[int], Sample]
ByHand: TypeAlias = Callable[[bytes], bytes]

INSTANCES: Final = (1, 2, 4)
SUBSCRIBERS: Final = (1, 10, 30, 50, 70, 100, 1000)
VERY_COMPLEX: Final = "compute_very_complex"
PUBLICATION: Final = "publication"


@dataclass(frozen=True, slots=True)
class Scenario:
    """One line of the report's tables: what a flow is measured on, and what its output must be.

    `flow` names its flow file, where that is not called as the scenario is. What comes out must be what `by_hand` makes
    of the message; where that works with a database, `on_database` makes it for one.
    Of the messages that come of one the drivers read that on COSTS.OUT; `subscribers` says on how many further queues
    others arrive, which are emptied beside.
    """

    name: str
    message: Make
    by_hand: ByHand | None
    flow: str = ""
    copies: int = 1
    groups: int = 1
    subscribers: int = 0
    on_database: Callable[[sa.Engine], ByHand] | None = None

    @property
    def flow_name(self) -> str:
        """Returns what its flow file is called: as the scenario, where nothing else is said."""
        return self.flow or self.name


@cache
def scenarios() -> Mapping[str, Scenario]:
    """Every scenario by its name, in the report's order."""
    declared = {scenario.name: scenario for scenario in _declared()}
    return MappingProxyType({key.scenario: declared[key.scenario] for key in published()})


def keys(scenario: str) -> Iterator[Key]:
    """The rows that the report has of a scenario."""
    return (key for key in published() if key.scenario == scenario)


def _declared() -> Iterator[Scenario]:
    yield Scenario("mq_input_output", plain, hand_written.pass_on)
    yield Scenario("mq_input_output_transactional", plain, hand_written.pass_on)
    yield Scenario("compute_simple", plain, hand_written.change_one_field)
    yield Scenario("compute_complex", paths, complex_path_by_hand)
    yield Scenario("compute_complex_x5_nodes", paths, complex_path_by_hand)
    yield Scenario(VERY_COMPLEX, paths, complex_path_by_hand)
    yield Scenario("filter", tagged, hand_written.pass_on_if_north)
    for entries in (1, 100):
        yield Scenario(f"route_to_label_{entries}", plain, partial(hand_written.pass_on_by_list, entries))
    for given, message in FORMS.items():
        for wanted in FORMS:
            by_hand = partial(hand_written.convert, given, wanted)
            yield Scenario(f"convert_{given}_to_{wanted}", message, by_hand)
    for number in INSTANCES:
        very_complex = partial(Scenario, message=paths, by_hand=complex_path_by_hand)
        yield very_complex(f"additional_instances_{number}")
        yield very_complex(f"flow_copies_{number}", flow=VERY_COMPLEX, copies=number)
        yield very_complex(f"execution_groups_{number}", flow=VERY_COMPLEX, groups=number)
    yield Scenario("database_insert_delete_coordinated", plain, None, on_database=hand_written.insert_and_delete)
    for answer in ("no", "yes"):
        yield Scenario(f"database_update_coordinated_{answer}", plain, None, on_database=hand_written.update)
    for number in SUBSCRIBERS:
        name = f"publication_{number}_subscriber" + ("s" if number > 1 else "")
        yield Scenario(name, on_topic, hand_written.pass_on, flow=PUBLICATION, subscribers=number - 1)


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
