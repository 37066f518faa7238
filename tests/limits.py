"""What tests of hostile input hold a piece of work to: so much time, and so much more memory than before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from resource import RUSAGE_SELF, getrusage
from time import process_time


@contextmanager
def bounded(seconds: float = 5.0, megabytes: int = 700) -> Iterator[None]:
    """Fail where what is done takes more processor time, or raises the process's peak of memory by more."""
    before, begun = getrusage(RUSAGE_SELF).ru_maxrss, process_time()
    yield
    took, grown = process_time() - begun, (getrusage(RUSAGE_SELF).ru_maxrss - before) >> 10
    assert took < seconds, f"it took {took:.1f} s"
    assert grown < megabytes, f"it took {grown} MB"
