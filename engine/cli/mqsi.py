"""Programs under IBM's names, such as mqsilist: each a way to what penstock does, with BIP lines and exit codes."""

from __future__ import annotations

import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NoReturn

UNKNOWN_FLAG: Final = 8001
DUPLICATE_FLAG: Final = 8003
INVALID: Final = 8004
MISSING: Final = 8005
NO_COMPONENT: Final = 8010
NOT_THERE: Final = 8013
FAILED: Final = 8081
LATE: Final = 2080
_LONGEST: Final = 2_145_336_164  # seconds, the most that -w takes


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments of a call: its component, and its flags with their values."""

    component: str = ""
    flags: Mapping[str, str] = field(default_factory=dict)

    def value(self, flag: str) -> str:
        """Returns the value of a flag, or nothing."""
        return self.flags.get(flag, "")

    def has(self, flag: str) -> bool:
        """Returns True where the flag was given."""
        return flag in self.flags

    def needed(self, flag: str) -> str:
        """Returns the value of a flag that must be given."""
        if not self.flags.get(flag):
            raise Misused(MISSING, f"the flag -{flag} is missing, or has no value")
        return self.flags[flag]

    def check_one(self, flag: str, other: str) -> None:
        """Refuse both of two flags, and none of them."""
        if self.has(flag) == self.has(other):
            raise Misused(MISSING, f"one of the flags -{flag} and -{other} must be given")


class Misused(Exception):
    """A program was called with what it does not take; `number` is IBM's."""

    def __init__(self, number: int, text: str) -> None:
        super().__init__(text)
        self.number = number


@dataclass(frozen=True, slots=True)
class Absent:
    """A flag of IBM's for something that brokers here do not have: the number and the text of its refusal."""

    number: int
    text: str


_APPLICATION: Final = Absent(NOT_THERE, "there are no applications here, as flows are deployed by themselves")
_LIBRARY: Final = Absent(NOT_THERE, "there are no libraries here, as flows are deployed with what they use")
_ELSEWHERE: Final = Absent(INVALID, "a broker is reached by its name or its folder alone")
_COMPONENT: Final = Absent(INVALID, "a broker has no components beside its execution groups")
_SERVICE_TRACE: Final = Absent(INVALID, "there is no service trace, and no trace of commands")
_PARTS: Final = {"k": _APPLICATION, "y": _LIBRARY}
_CONNECTION: Final = dict.fromkeys("nipq", _ELSEWHERE)


@dataclass(frozen=True, slots=True)
class Program:
    """A program: the flags that have values, those that have none, those of IBM's that are refused, and what it does.

    `is_timed` says that -w is the number of seconds that it may take; `unused` are flags that it can do without.
    """

    run: Callable[[Given], None]
    valued: str = ""
    bare: str = ""
    absent: Mapping[str, Absent] = field(default_factory=dict)
    is_timed: bool = False
    unused: str = ""
    needs_component: bool = True

    def usage(self, name: str) -> str:
        """Returns how the program is called, and what it does."""
        component = "BROKER" if self.needs_component else "[BROKER]"
        flags = [f"[-{flag} VALUE]" for flag in self._valued if flag not in self.bare]
        flags += [f"[-{flag}]" for flag in self.bare]
        return f"usage: {' '.join((name, component, *flags))}\n\n{self.run.__doc__}"

    @property
    def _valued(self) -> str:
        return self.valued + ("w" if self.is_timed else "")

    def read(self, arguments: list[str]) -> Given:
        """Returns what the arguments say; raises where they say what the program does not know."""
        component, flags = "", dict[str, str]()
        waiting = deque(arguments)
        while waiting:
            word = waiting.popleft()
            if word.startswith("-") and len(word) > 1:
                self._take(word, waiting, flags)
            elif component:
                raise Misused(INVALID, f"{word} is one argument too many")
            else:
                component = word
        if self.needs_component and not component:
            raise Misused(NO_COMPONENT, "name the broker: a name, or a folder")
        return Given(component, flags)

    def _take(self, word: str, waiting: deque[str], flags: dict[str, str]) -> None:
        """Take the flags of a word: those without values may stand together, the last one may have a value."""
        letters = word[1:]
        while letters:
            name, letters = letters[0], letters[1:]
            self._check(name, word, flags)
            if name not in self._valued or (name in self.bare and self._is_flag(f"-{letters}")):
                flags[name] = ""
                continue
            takes = not letters and bool(waiting) and not self._is_flag(waiting[0])
            flags[name], letters = waiting.popleft() if takes else letters, ""
            if not flags[name] and name not in self.bare:
                raise Misused(MISSING, f"the flag -{name} needs a value")

    def _check(self, name: str, word: str, flags: Mapping[str, str]) -> None:
        if absent := self.absent.get(name):
            raise Misused(absent.number, f"the flag -{name} cannot be used: {absent.text}")
        if name not in self._valued + self.bare:
            raise Misused(UNKNOWN_FLAG, f"the flag {word} is unknown")
        if name in flags:
            raise Misused(DUPLICATE_FLAG, f"the flag -{name} is given twice")

    def _is_flag(self, word: str) -> bool:
        return word.startswith("-") and word[1:2] in {*self._valued, *self.bare, *self.absent}

    def carry_out(self, name: str, arguments: list[str]) -> None:
        """Do what the arguments say."""
        given = self.read(arguments)
        if unused := [f"-{flag}" for flag in self.unused if given.has(flag)]:
            text = "a broker here needs no users, passwords, data sources and trusted processes"
            sys.stderr.write(f"{name}: {', '.join(unused)} not used: {text}\n")
        if self.is_timed and given.has("w"):
            with _limited(given.value("w")):
                self.run(given)
        else:
            self.run(given)


@contextmanager
def _limited(seconds: str) -> Iterator[None]:
    """Give up where what is done inside takes longer than a number of seconds."""
    if not (seconds.isascii() and seconds.isdigit() and 1 <= int(seconds) <= _LONGEST):
        raise Misused(INVALID, f"-w {seconds:.40} is no number of seconds from 1 to {_LONGEST}")

    def late(*_: object) -> NoReturn:
        text = "what was asked may count all the same: mqsilist says what runs"
        raise Misused(LATE, f"the broker has not answered within {seconds} seconds; {text}")

    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, int(seconds))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main() -> NoReturn:
    """Run the program whose name this process has; it ends with the last two digits of its message's number."""
    from engine.cli.command_failures import (
        INTERRUPTED,
        STANDARD_OUTPUT,
        end_in_order,
        give_up_output,
        prepare_streams,
        visible,
    )
    from engine.errors import BrokerError, ConfigurationException

    prepare_streams()
    end_in_order()
    name = Path(sys.argv[0]).name
    try:
        _run(name, sys.argv[1:])
    except Misused as error:
        _end(error.number, visible(str(error)))
    except BrokerError as error:
        for problem in error.problems if isinstance(error, ConfigurationException) else ():
            sys.stderr.write(f"{visible(problem.render().splitlines()[0])}\n")
        _end(error.number or FAILED, visible(str(error).partition(": ")[2] or str(error)))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # who reads has ended, such as head
        give_up_output()
        sys.exit(FAILED % 100)
    except OSError as error:
        if error.filename == STANDARD_OUTPUT:
            give_up_output()
        _end(FAILED, visible(f"{error.filename or name}: {error.strerror or error}"))
    sys.exit(0)


def _run(name: str, arguments: list[str]) -> None:
    program = _program(name)
    if {"-h", "--help"}.intersection(arguments):
        told(program.usage(name))
    else:
        program.carry_out(name, arguments)
        if name != "mqsistart":
            told("BIP8071I: Successful command completion.")
    sys.stdout.flush()


def _program(name: str) -> Program:
    if name not in programs():
        raise Misused(8009, f"{name} is no program of a broker's")
    return programs()[name]


def _end(number: int, text: str) -> NoReturn:
    sys.stderr.write(f"BIP{number:04d}E: {text}\n")
    sys.exit(number % 100 or 1)


def told(line: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{line}\n")


def programs() -> dict[str, Program]:
    """Returns the programs by name."""
    from engine.cli import mqsi_programs as own

    created = {
        "w": Absent(INVALID, "a broker's files are in its folder: name that folder instead of the broker"),
        "s": Absent(INVALID, "there is no User Name Server, and security is what `rights` of broker.yaml says"),
        **dict.fromkeys("gk", Absent(INVALID, "a deployment has a minute in any case")),
        "l": Absent(INVALID, "nodes of your own are deployed with the flows that use them: penstock deploy --nodes"),
        "P": Absent(INVALID, "there is no HTTP listener"),
        **dict.fromkeys("br", Absent(INVALID, "there is no global cache")),
    }
    traced = {**_PARTS, "t": _SERVICE_TRACE, "b": _COMPONENT}
    trace_size = Absent(INVALID, "a full trace is kept beside the new one, and its size is fixed")
    trace_nodes = Absent(INVALID, "Trace nodes are always on")
    return {
        "mqsicreatebroker": Program(own.create, "qvianup", "t", created, unused="ianupt"),
        "mqsideletebroker": Program(own.delete, bare="wq"),
        "mqsicreateexecutiongroup": Program(own.create_group, "e", "", {"v": _SERVICE_TRACE}, is_timed=True),
        "mqsideleteexecutiongroup": Program(own.delete_group, "e", "", {"v": _SERVICE_TRACE}, is_timed=True),
        "mqsistart": Program(own.start),
        "mqsistop": Program(own.stop, bare="iq"),
        "mqsilist": Program(own.list_, "ed", "ra", _PARTS, is_timed=True, needs_component=False),
        "mqsideploy": Program(own.deploy, "eamd", "m", _PARTS | _CONNECTION, is_timed=True),
        "mqsichangeproperties": Program(own.change_properties, "eonvp", "", _PARTS | {"b": _COMPONENT}, is_timed=True),
        "mqsireportproperties": Program(own.report_properties, "eon", "ar", _PARTS | {"b": _COMPONENT}, is_timed=True),
        "mqsichangeflowstats": Program(own.change_statistics, "efcntbo", "asgjr", _PARTS, is_timed=True),
        "mqsireportflowstats": Program(own.report_statistics, "ef", "asgj", _PARTS, is_timed=True),
        "mqsistartmsgflow": Program(own.start_flows, "em", "gj", _PARTS, is_timed=True),
        "mqsistopmsgflow": Program(own.stop_flows, "em", "gj", _PARTS, is_timed=True),
        "mqsichangetrace": Program(
            own.change_trace, "efl", "ur", {**traced, "c": trace_size, "n": trace_nodes}, is_timed=True
        ),
        "mqsireadlog": Program(own.read_log, "efo", "uf", traced, is_timed=True),
        "mqsiformatlog": Program(own.format_log, "io", needs_component=False),
    }
