"""Processes: the processor time and memory that the operating system says they take, and the machine they run on."""

from __future__ import annotations

import os
import platform
import resource
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import psutil

_MEBIBYTE: Final = 1024 * 1024


def processors() -> int:
    """Returns how many processors this process may run on."""
    own = psutil.Process()
    return len(own.cpu_affinity()) if hasattr(own, "cpu_affinity") else psutil.cpu_count() or 1


def cpu_percent(cpu_seconds: float, seconds: float, count: int) -> float:
    """Returns how busy all processors were, on average.

    >>> cpu_percent(1.0, 1.0, 2)
    50.0
    """
    return 100 * cpu_seconds / (seconds * count)


def cpu_ms(percent: float, count: int, rate: float) -> float:
    """Returns processor milliseconds a message by the report's formula: the busy share of all processors, by the rate.

    >>> round(cpu_ms(79.43, 2, 1175.64), 3)
    1.351
    """
    return percent / 100 * count / rate * 1000


def own_cpu_seconds() -> float:
    """Returns what this process with all its threads has taken, and those of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def cpu_seconds_of(pid: int) -> float:
    """Returns what another process has taken, all its threads together, where possible to the nanosecond."""
    try:
        return time.clock_gettime((~pid << 3) | 2)  # as clock_getcpuclockid(3) names its clock on Linux
    except OSError:
        spent = psutil.Process(pid).cpu_times()
        return float(spent.user + spent.system)


def keep_on_one_processor(pid: int) -> None:
    """Let a process with all its threads run on the first of this process's processors alone, if the system can."""
    if hasattr(os, "sched_setaffinity"):
        first = min(os.sched_getaffinity(0))
        for thread in psutil.Process(pid).threads():
            os.sched_setaffinity(thread.id, {first})


def family() -> list[psutil.Process]:
    """Returns this process and all that come of it."""
    own = psutil.Process()
    return [own, *own.children(recursive=True)]


def family_cpu_seconds() -> float:
    """Returns what this process, all that come of it, and those of them that have ended have taken."""
    total = 0.0
    for process in family():
        with suppress(psutil.Error):  # it has ended meanwhile
            total += sum(process.cpu_times()[:4])  # user and system, its own and its children's
    return total


def family_rss_mib() -> float:
    """Returns how much memory they have in hand; pages that they share count for each."""
    total = 0.0
    for process in family():
        with suppress(psutil.Error):
            total += rss_mib(process.pid)
    return total


def rss_mib(pid: int | None = None) -> float:
    """Returns the memory that a process has in hand, this one without a number, in MiB."""
    return float(psutil.Process(pid).memory_info().rss) / _MEBIBYTE


def machine() -> dict[str, str]:
    """Returns what this runs on: the processor, how many of it, the memory, the system, Python and lxml."""
    from lxml import etree  # noqa: PLC0415  # for its version alone

    numbers = ".".join(map(str, etree.LXML_VERSION[:3]))
    libxml2 = ".".join(map(str, etree.LIBXML_VERSION))
    return {
        "processor": _processor(),
        "processors": str(processors()),
        "memory": f"{psutil.virtual_memory().total / _MEBIBYTE / 1024:.1f} GiB",
        "system": platform.platform(),
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "lxml": f"{numbers} with libxml2 {libxml2}",
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())
