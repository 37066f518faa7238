"""Publishing: records of statistics, and events, on the topics that IBM's brokers have for them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from engine.broker.folder import Folder
from engine.broker.queues import queue_managers
from engine.broker.statistics.records import ROOT, as_xml
from engine.broker.supervisor_plan import Plan
from engine.broker.workload import Event
from engine.descriptor import NON_PERSISTENT, PERSISTENT, Descriptor


def topics_of(record: Mapping[str, Any]) -> tuple[str, str]:
    """Returns the topics of a record: as XML, and as JSON.

    >>> flow = {"BrokerLabel": "B", "ExecutionGroupName": "G", "MessageFlowName": "F"}
    >>> topics_of({ROOT: {"RecordType": "SnapShot", "MessageFlow": flow}})[0]
    '$SYS/Broker/B/StatisticsAccounting/SnapShot/G/F'
    """
    content = record[ROOT]
    flow = content["MessageFlow"]
    start = f"$SYS/Broker/{flow['BrokerLabel']}"
    end = f"{content['RecordType']}/{flow['ExecutionGroupName']}/{flow['MessageFlowName']}"
    return f"{start}/StatisticsAccounting/{end}", f"{start}/Statistics/JSON/{end}"


def publications_of(records: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Descriptor, bytes]]:
    """Yields the publications of records; snapshots are not persistent, archives are."""
    for record in records:
        persistence = PERSISTENT if record[ROOT]["RecordType"] == "Archive" else NON_PERSISTENT
        descriptor = Descriptor(format="MQSTR", persistence=persistence)
        xml, data = topics_of(record)
        yield xml, descriptor, as_xml(record)
        yield data, descriptor, json.dumps(record).encode()


def events_of(plan: Plan, events: Iterable[Event]) -> Iterator[tuple[str, Descriptor, bytes]]:
    """Yields the publications of events, which are not persistent."""
    for event in events:
        group_uuid = str(plan.groups.get(event.group, {}).get("uuid", ""))
        yield event.topic(plan.broker), Descriptor(format="MQSTR"), event.as_xml(plan.broker, plan.uuid, group_uuid)


def publish(folder: Folder, publications: Iterable[tuple[str, Descriptor, bytes]]) -> None:
    """Publish what has a topic, a descriptor and a body, retained."""
    manager = queue_managers().connect(folder.queues)
    try:
        for topic, descriptor, body in publications:
            manager.publish(topic, descriptor, body, retain=True, point="")
    finally:
        manager.close()
