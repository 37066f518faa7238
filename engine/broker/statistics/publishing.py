"""Publishing: records of statistics on the topics that IBM's brokers have for them, as XML and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from engine.broker.folder import Folder
from engine.broker.queues import queue_managers
from engine.broker.statistics.records import ROOT, as_xml
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


def publish(folder: Folder, records: Iterable[Mapping[str, Any]]) -> None:
    """Publish records, retained; snapshots are not persistent, archives are."""
    manager = queue_managers().connect(folder.queues)
    try:
        for record in records:
            persistence = PERSISTENT if record[ROOT]["RecordType"] == "Archive" else NON_PERSISTENT
            descriptor = Descriptor(format="MQSTR", persistence=persistence)
            xml, data = topics_of(record)
            manager.publish(xml, descriptor, as_xml(record), retain=True, point="")
            manager.publish(data, descriptor, json.dumps(record).encode(), retain=True, point="")
    finally:
        manager.close()
