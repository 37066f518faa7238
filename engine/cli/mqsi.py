"""Programs under IBM's names, such as mqsilist: each a way to what penstock does, with BIP lines and exit codes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NoReturn

UNKNOWN_FLAG: Final = 8001
DUPLICATE_FLAG: Final = 8003
INVALID: Final = 8004
MISSING: Final = 8005
NO_COMPONENT: Final = 8010
FAILED: Final = 8081


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


class Misused(Exception):
    """A program was called with what it does not take; `number` is IBM's."""

    def __init__(self, number: int, text: str) -> None:
        super().__init__(text)
        self.number = number


@dataclass(frozen=True, slots=True)
class Program:
    """A program: the flags that have values, those that have none, and what it does."""

    run: Callable[[Given], None]
    valued: str = ""
    bare: str = ""
    needs_component: bool = True

    def usage(self, name: str) -> str:
        """Returns how the program is called, and what it does."""
        component = "BROKER" if self.needs_component else "[BROKER]"
        flags = [f"[-{flag} VALUE]" for flag in self.valued if flag not in self.bare]
        flags += [f"[-{flag}]" for flag in self.bare]
        return f"usage: {' '.join((name, component, *flags))}\n\n{self.run.__doc__}"

    def read(self, arguments: list[str]) -> Given:
        """Returns what the arguments say; raises where they say what the program does not know."""
        component, flags = "", {}
        waiting = list(arguments)
        while waiting:
            word = waiting.pop(0)
            if not word.startswith("-") or len(word) < 2:
                if component:
                    raise Misused(INVALID, f"{word} is one argument too many")
                component = word
                continue
            name, value = word.lstrip("-")[:1], word.lstrip("-")[1:]
            if name not in self.valued + self.bare or (value and name not in self.valued):
                raise Misused(UNKNOWN_FLAG, f"the flag {word} is unknown")
            if name in flags:
                raise Misused(DUPLICATE_FLAG, f"the flag -{name} is given twice")
            takes = not value and name in self.valued and bool(waiting) and not _is_flag(waiting[0], self)
            flags[name] = waiting.pop(0) if takes else value
            if not flags[name] and name in self.valued and name not in self.bare:
                raise Misused(MISSING, f"the flag -{name} needs a value")
        if self.needs_component and not component:
            raise Misused(NO_COMPONENT, "name the broker: a name, or a folder")
        return Given(component, flags)


def _is_flag(word: str, program: Program) -> bool:
    return word.startswith("-") and word.lstrip("-")[:1] in program.valued + program.bare


def main() -> NoReturn:
    """Run the program whose name this process has; it ends with the last two digits of its message's number."""
    from engine.cli.command_failures import end_in_order, give_up_output, visible
    from engine.errors import BrokerError, ConfigurationException

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
    except BrokenPipeError:  # who reads has ended, such as head
        give_up_output()
        sys.exit(FAILED % 100)
    except OSError as error:
        _end(FAILED, visible(f"{error.filename or name}: {error.strerror or error}"))
    sys.exit(0)


def _run(name: str, arguments: list[str]) -> None:
    program = _program(name)
    if {"-h", "--help"}.intersection(arguments):
        told(program.usage(name))
    else:
        program.run(program.read(arguments))
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

    return {
        "mqsicreatebroker": Program(own.create, "qiapnuswvgklPbrt"),
        "mqsideletebroker": Program(own.delete, bare="wqn"),
        "mqsicreateexecutiongroup": Program(own.create_group, "ewv"),
        "mqsideleteexecutiongroup": Program(own.delete_group, "ewv"),
        "mqsistart": Program(own.start),
        "mqsistop": Program(own.stop, bare="iq"),
        "mqsilist": Program(own.list_, "ekydw", "ra", needs_component=False),
        "mqsideploy": Program(own.deploy, "eamdwkynipq", "m"),
        "mqsichangeproperties": Program(own.change_properties, "eonvpkybw", "f"),
        "mqsireportproperties": Program(own.report_properties, "eonkybw", "ar"),
        "mqsichangeflowstats": Program(own.change_statistics, "efckyntbow", "asgjr"),
        "mqsireportflowstats": Program(own.report_statistics, "efkyw", "asgj"),
        "mqsistartmsgflow": Program(own.start_flows, "emkyw", "gj"),
        "mqsistopmsgflow": Program(own.stop_flows, "emkyw", "gj"),
        "mqsichangetrace": Program(own.change_trace, "eflckyw", "utrnb"),
        "mqsireadlog": Program(own.read_log, "efokyw", "ut"),
        "mqsiformatlog": Program(own.format_log, "io", needs_component=False),
    }
