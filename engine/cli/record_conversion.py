"""penstock decode and encode: records of a file as JSON, one object a line, and the other way."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from io import BufferedReader, FileIO, RawIOBase
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, BinaryIO, Self

import typer

from engine.cli import app
from engine.cli.command_failures import OR_STANDARD_INPUT, existing, standard_input
from engine.cli.record_options import FailureOptions, MaxRecords, RecordOptions, one_of
from engine.cli.shared_options import with_groups
from engine.errors import BrokerError, ConfigurationException, ParserException
from engine.files.input_files import MOST, Place, refuse_inputs, size_of
from engine.files.output_files import written

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from engine.cli.record_options import Kind
    from parsers.records.framing import Cut


@app.command()
@with_groups
def decode(
    file: Annotated[str, typer.Argument(help="The file of records, or - for standard input.")],
    records: RecordOptions,
    trim: Annotated[str, typer.Option(help="Which blanks texts lose: right, left, both or none.")] = "right",
    file_header: Annotated[int, typer.Option(help="Bytes to skip at the beginning of the file.")] = 0,
    file_footer: Annotated[int, typer.Option(help="Bytes to leave at the end of the file.")] = 0,
    output: Annotated[Path | None, typer.Option(help="Write the JSON to this file.")] = None,
    max_input: MaxRecords = "",
) -> None:
    """Print the records of a file as JSON, one object a line.

    Groups are objects, tables are arrays, numbers keep all their digits. Of items that share their storage, each is
    there under its name; one that cannot be read is null if another can.

    Example: penstock decode flows/samples/cobol_records/records/order.bin --copybook
    flows/samples/cobol_records/order.cpy --ccsid 37
    """
    from parsers.records.json_fields import TRIMS, to_json

    coding = replace(records.coding.coding(), trim=one_of("--trim", trim, TRIMS))
    kind, read = records.kind(records.framing.framing(file_header, file_footer), coding)
    with _streams(file, output, records.failure, read, max_input) as (source, out, failures):
        for cut in _progress(kind.cut(source), source):
            try:
                line = to_json(kind.decode(cut))
            except BrokerError as error:
                out.flush()
                failures.add(error, cut.raw)
                continue
            out.write(line.encode("utf-8", "replace") + b"\n")
            failures.done += 1


def _progress(cuts: Iterator[Cut], source: BinaryIO) -> Iterator[Cut]:
    """The records, with a bar on stderr if a person is looking at it and not at the records themselves."""
    if not sys.stderr.isatty() or sys.stdout.isatty():
        yield from cuts
        return
    from rich.console import Console
    from rich.progress import Progress

    size = os.fstat(source.fileno()).st_size or None
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("bytes", total=size)
        for cut in cuts:
            progress.update(task, completed=cut.offset + len(cut.raw))
            yield cut


@app.command()
@with_groups
def encode(
    file: Annotated[str, typer.Argument(help="The file of JSON, one object a line, or - for standard input.")],
    records: RecordOptions,
    output: Annotated[Path | None, typer.Option(help="Write the records to this file.")] = None,
    max_input: MaxRecords = "",
) -> None:
    """Write JSON objects, one a line, as the records of a file: what decode prints makes the same records again.

    A field that is not given has its VALUE, or zeros or blanks by its type; a count that is not given is that of its
    table. Of items that share their storage, the first that is given counts where they overlap.

    Example: penstock encode docs/copybooks/orders.json --copybook docs/copybooks/order.cpy --output orders.bin
    """
    framing = records.framing
    if framing.record_format.upper() == "L" and not records.choice.length_field:
        framing = replace(framing, record_format="F")  # the field that says how long a record is has its value in JSON
    kind, read = records.kind(framing.framing(), records.coding.coding())
    with _streams(file, output, records.failure, read, max_input) as (lines, out, failures):
        _write(kind, lines, out, failures)


@contextmanager
def _streams(
    file: str, output: Path | None, failure: FailureOptions, read: Iterable[Path], max_input: str
) -> Iterator[tuple[BinaryIO, BinaryIO, _Failures]]:
    """Opens an input and an output, which may be no file that is read, and what takes the records that fail."""
    failures = _Failures(failure.on_error, failure.quarantine)
    source_place: Place = 0 if file == "-" else Path(file)
    places: list[Place] = [1 if output is None else output]  # standard output may be a file as well
    refuse_inputs([*places, *filter(None, (failure.quarantine,))], (source_place, *read))
    with (
        _opened(file, max_input) as source,
        _standard_output() if output is None else written(output) as out,
        failures,
    ):
        yield source, out, failures


def _write(kind: Kind, source: BinaryIO, out: BinaryIO, failures: _Failures) -> None:
    from parsers.records.framing import framed
    from parsers.records.json_fields import from_json

    for number, line in _lines(source):
        try:
            record = kind.encode(from_json(line.decode("utf-8"), number), number)
            for data in framed(iter((record,)), kind.framing, kind.coding.blank, None):
                out.write(data)
        except UnicodeDecodeError as error:
            failures.add(ParserException(5705, f"line {number} is not in UTF-8: {error}"), line)
        except BrokerError as error:
            failures.add(error, line)
        else:
            failures.done += 1


def _lines(source: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers."""
    from parsers.records.json_fields import LONGEST_LINE

    number = 0
    while line := source.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE:
            raise ParserException(5705, f"line {number} has more than {LONGEST_LINE:,} bytes")
        if line.strip():
            yield number, line


class _BoundedInput(RawIOBase):
    """A stream of which so many bytes are read and no more: one that has more is refused when they have been read."""

    def __init__(self, raw: FileIO, name: str, most: int) -> None:
        self._raw, self._name, self._most = raw, name, most
        self._left = most

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._raw.fileno()

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        count = self._raw.readinto(buffer)
        self._left -= count or 0
        if self._left < 0:
            text = f"{self._name} has more than {self._most:,} bytes: raise the limit by --max-input"
            raise ConfigurationException(text)
        return count


@contextmanager
def _opened(file: str, max_input: str) -> Iterator[BinaryIO]:
    """Yields a file, or standard input, with a limit: the one that is said, or 100M for a device, which may not end."""
    if file == "-":
        standard_input("something")
    name = "standard input" if file == "-" else file
    with open(0 if file == "-" else existing(file, OR_STANDARD_INPUT), "rb", buffering=0, closefd=file != "-") as raw:
        is_device = stat.S_ISCHR(os.fstat(raw.fileno()).st_mode) and not raw.isatty()
        most = size_of(max_input) if max_input else MOST if is_device else None
        yield BufferedReader(raw if most is None else _BoundedInput(raw, name, most))


@contextmanager
def _standard_output() -> Iterator[BinaryIO]:
    """Yields standard output for bytes, which has all of them when the block ends, however it ends."""
    out = sys.stdout.buffer
    try:
        yield out
    finally:
        out.flush()


_MOST_SHOWN = 20


class _Failures:
    """The records that have failed so far; those that are put aside take their file when all records are done."""

    def __init__(self, on_error: str, quarantine: Path | None) -> None:
        self._on_error = one_of("--on-error", on_error, ("stop", "skip", "quarantine"))
        if quarantine is not None and self._on_error == "stop":
            self._on_error = "quarantine"
        if (self._on_error == "quarantine") != (quarantine is not None):
            raise ConfigurationException("--on-error quarantine and --quarantine FILE go together")
        self._path = quarantine
        self._stack = ExitStack()
        self._file: BinaryIO | None = None
        self.count = 0
        self.done = 0

    def __enter__(self) -> Self:
        """Begins a file that replaces what another run has put aside; without one it begins with the first failure."""
        if self._path is not None and self._path.exists():
            self._open(self._path)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Puts the file in its place if all went well, and says how many records were left out."""
        self._stack.__exit__(kind, error, trace)
        if self.count:
            went = f"put into {self._path}" if self._path is not None and error is None else "left out"
            typer.echo(f"penstock: {self.done:,} records done, {self.count:,} {went}", err=True)

    def add(self, error: BrokerError, raw: bytes) -> None:
        """Deal with a record that failed; raises the error where it is to stop."""
        if self._on_error == "stop":
            raise error
        self.count += 1
        if self.count <= _MOST_SHOWN:
            typer.echo(f"penstock: {error}", err=True)
        if self._path is not None:
            (self._file or self._open(self._path)).write(raw)

    def _open(self, path: Path) -> BinaryIO:
        self._file = self._stack.enter_context(written(path))
        return self._file
