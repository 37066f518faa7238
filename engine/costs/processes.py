"""Processes: the processor time and memory that the operating system says they take, and the machine they run on."""

from __future__ import annotations

import os
import platform
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_MEBIBYTE: Final = 1024 * 1024
_PROC: Final = Path("/proc")


def processors() -> int:
    """Returns how many processors this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cpu_percent(cpu_seconds: float, seconds: float, count: int) -> float:
    """Returns how busy all processors were, on average.

    >>> cpu_percent(1.0, 1.0, 2)
    50.0
    """
    return 100 * cpu_seconds / (seconds * count)


def cpu_ms(percent: float, count: int, rate: float) -> float:
    """Processor milliseconds a message by the report's formula: the busy share of all processors, over the rate.

    >>> round(cpu_ms(79.43, 2, 1175.64), 3)
    1.351
    """
    return percent / 100 * count / rate * 1000


def own_cpu_seconds() -> float:
    """Returns what this process with all its threads has taken, and those of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def own_rss_mib() -> float:
    """Returns how much memory this process has in hand; where the system does not say, the most that it ever had."""
    try:
        return rss_mib(os.getpid())
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most / (_MEBIBYTE if sys.platform == "darwin" else 1024)


def family() -> dict[int, int]:
    """The process that asks and all that come of it, each with its parent; empty where the system does not say."""
    parents = dict(_parents())
    found = {pid: parents[pid] for pid in (os.getpid(),) if pid in parents}
    while added := {pid: parent for pid, parent in parents.items() if parent in found and pid not in found}:
        found |= added
    return found


def family_cpu_seconds() -> float:
    """Returns what this process, all that come of it, and those of them that have ended have taken."""
    tick = os.sysconf("SC_CLK_TCK")
    return sum(sum(map(int, fields[11:15])) for pid in family() if (fields := _stat(pid))) / tick


def family_rss_mib() -> float:
    """Returns how much memory they have in hand; pages that they share count for each."""
    total = 0.0
    for pid in family():
        try:
            total += rss_mib(pid)
        except OSError:  # it has ended meanwhile
            continue
    return total


def _parents() -> Iterator[tuple[int, int]]:
    for entry in _PROC.iterdir() if _PROC.is_dir() else ():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            yield int(entry.name), int(fields[1])


def _stat(pid: int) -> list[str]:
    """The fields of a process behind its name, which may hold anything; none where it has ended."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def rss_mib(pid: int) -> float:
    """Returns the memory of a process, in MiB."""
    pages = (_PROC / str(pid) / "statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / _MEBIBYTE


def machine() -> dict[str, str]:
    """Returns what this runs on: the processor, how many of it, the memory, the system, Python and lxml."""
    from lxml import etree  # noqa: PLC0415  # for its version alone

    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / _MEBIBYTE / 1024
    numbers = ".".join(map(str, etree.LXML_VERSION[:3]))
    libxml2 = ".".join(map(str, etree.LIBXML_VERSION))
    return {
        "processor": _processor(),
        "processors": str(processors()),
        "memory": f"{memory:.1f} GiB",
        "system": platform.platform(),
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "lxml": f"{numbers} with libxml2 {libxml2}",
    }


def _processor() -> str:
    try:
        lines = (_PROC / "cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())
