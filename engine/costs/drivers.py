"""Drivers: they put a message, take what comes of it, and put the next, so that the flow is never without work.

Each driver has one message on its way. The report's ran as jobs of their own; here their turn comes on the thread that
has just carried a message, so what they do is processor time of this process, as theirs was of that machine.
"""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from typing import Final

from engine.costs.measuring import BROKEN
from engine.costs.messages import Sample
from engine.costs.processes import own_cpu_seconds
from engine.costs.results import Run
from engine.costs.scenario_setup import IN, OUT, Folders, database, deployed, opened, subscriptions, with_data_sources
from engine.costs.scenarios import Scenario
from engine.descriptor import PERSISTENT
from engine.errors import BrokerError
from engine.runtime.accounting import meter
from engine.runtime.deployment import DeployedFlow
from engine.work import UnitOfWork

_PAUSE: Final = 0.0001  # seconds until an instance looks again for a message that another may have taken


class Stand:
    """A scenario that is ready to run: its flow deployed, its drivers' messages on their way; until it is closed."""

    __slots__ = (
        *("_around", "_deployed", "_drivers", "_expected", "_others", "_queues", "_sample", "_scenario", "_works"),
        "by_hand",
    )

    def __init__(self, scenario: Scenario, sample: Sample, folders: Folders, drivers: int) -> None:
        self._scenario = scenario
        self._sample = sample
        self.by_hand = scenario.by_hand
        self._others = subscriptions(scenario)
        with ExitStack() as around:
            lasts = sample.descriptor.persistence == PERSISTENT
            self._queues = around.enter_context(opened(scenario, persistent=lasts))
            sources = None
            if scenario.on_database is not None:
                made = around.enter_context(database(scenario.on_database))
                sources, self.by_hand = made.sources, made.by_hand
            self._expected = sample.body if self.by_hand is None else self.by_hand(sample.body)
            self._deployed = deployed(scenario, folders, sources)
            new = self._queues.work
            self._works = [with_data_sources(self._queues, new(), sources, flow) for flow in self._deployed]
            self._drivers = max(drivers, len(self._deployed))
            self._begin(sample)
            self._around = around.pop_all()

    def close(self) -> None:
        """Close its queues and its database, and remove what they kept."""
        self._around.close()

    def _begin(self, sample: Sample) -> None:
        """Prove what each flow does, then put the message of each driver."""
        self._prove()
        work = self._queues.work()
        for _ in range(self._drivers):
            work.put(IN, sample.descriptor, sample.body, syncpoint=False)

    def _prove(self) -> None:
        """Send one message through each deployed flow, and look at what comes of it."""
        work = self._queues.work()
        for flow, own in zip(self._deployed, self._works, strict=True):
            work.put(IN, self._sample.descriptor, self._sample.body, syncpoint=False)
            self._carry(flow, own)
            self._check(self._reply(work))

    @property
    def drivers(self) -> int:
        """Returns how many drivers there are: at least one for each instance."""
        return self._drivers

    def run(self, seconds: float) -> Run:
        """Let all instances run for so long."""
        until = time.perf_counter() + seconds
        cpu, started = own_cpu_seconds(), time.perf_counter()
        alone = len(self._deployed) == 1
        messages = self._drive(self._deployed[0], self._works[0], until) if alone else self._drive_all(until)
        return Run(time.perf_counter() - started, own_cpu_seconds() - cpu, messages)

    def nodes(self, seconds: float) -> dict[str, float]:
        """Processor milliseconds a message of each node that one comes to, and of all around them under no label."""
        flow = self._deployed[0]
        before = {label: station.evaluate for label, station in flow.stations.items()}
        measured = meter(flow.stations)
        try:
            messages = self._drive(flow, self._works[0], time.perf_counter() + seconds)
            accounts = measured.settled().items()
            return {label: spent.nanoseconds / 1e6 / messages for label, spent in accounts if spent.nanoseconds}
        finally:
            for label, station in flow.stations.items():
                station.evaluate = before[label]

    def _drive(self, flow: DeployedFlow, work: UnitOfWork, until: float) -> int:
        """Carry messages one after the other, a driver's turn behind each."""
        driver, clock = self._queues.work(), time.perf_counter
        descriptor, body = self._sample
        messages, reply = 0, self._expected
        while clock() < until or not messages:
            if self._carry(flow, work):
                reply = self._reply(driver)
                driver.put(IN, descriptor, body, syncpoint=False)
                messages += 1
            elif clock() > until + 60:
                raise self._wrong("no message comes back to the drivers")
            else:
                time.sleep(_PAUSE)
        self._check(reply)
        return messages

    def _drive_all(self, until: float) -> int:
        """The same on a thread for each instance."""
        counts: list[int] = []
        failures: list[BaseException] = []

        def drive(flow: DeployedFlow, work: UnitOfWork) -> None:
            try:
                counts.append(self._drive(flow, work, until))
            except BaseException as error:  # whatever it is, it is raised where the threads end
                failures.append(error)

        threads = [threading.Thread(target=drive, args=pair) for pair in zip(self._deployed, self._works, strict=True)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        return sum(counts)

    def _carry(self, flow: DeployedFlow, work: UnitOfWork) -> bool:
        """Have the flow carry a message; whether there was one."""
        outcome = flow.process(flow.entrances[0], work, patient=False)
        if outcome is not None and outcome.error is not None:
            raise self._wrong(f"its flow fails: {outcome.error}") from outcome.error
        return outcome is not None

    def _reply(self, work: UnitOfWork) -> bytes:
        """The message that a driver reads; those of the other subscribers are taken off their queues."""
        arrival = work.get(OUT, syncpoint=False)
        if arrival is None:
            raise self._wrong(f"its flow puts nothing on {OUT}")
        for other in self._others:
            if work.get(other) is None:
                raise self._wrong(f"its flow puts nothing on {other}")
        if self._others:
            work.commit()
        return arrival.body

    def _check(self, reply: bytes) -> None:
        if reply != self._expected:
            raise self._wrong("its flow does not write what the program by hand does, so what it costs says nothing")

    def _wrong(self, what: str) -> BrokerError:
        return BrokerError(BROKEN, f"{self._scenario.name}, {len(self._sample.body)} bytes: {what}")
