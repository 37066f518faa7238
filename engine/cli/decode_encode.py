"""penstock decode and encode: records of a file as JSON, one object a line, and the other way."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from engine.cli import app
from engine.cli.record_conversion import (
    ChoiceOptions,
    CodingOptions,
    CopybookOptions,
    DescriptionOptions,
    FailureOptions,
    FramingOptions,
    MaxRecords,
    one_of,
)
from engine.cli.shared_options import with_groups
from engine.errors import BrokerError, ParserException

if TYPE_CHECKING:
    from engine.cli.record_conversion import Failures, Kind
    from parsers.records.framing import Cut


@app.command()
@with_groups
def decode(
    file: Annotated[str, typer.Argument(help="The file of records, or - for standard input.")],
    description: DescriptionOptions,
    choice: ChoiceOptions,
    coding: CodingOptions,
    framing: FramingOptions,
    source: CopybookOptions,
    failure: FailureOptions,
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

    kind, read = description.kind(
        source.dialect(),
        framing.framing(file_header, file_footer),
        replace(coding.coding(), trim=one_of("--trim", trim, TRIMS)),
        choice.choices(),
    )
    with _streams(file, output, failure, read, max_input) as (records, out, failures):
        for cut in _progress(kind.cut(records), records):
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
    import os

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
    description: DescriptionOptions,
    choice: ChoiceOptions,
    coding: CodingOptions,
    framing: FramingOptions,
    source: CopybookOptions,
    failure: FailureOptions,
    output: Annotated[Path | None, typer.Option(help="Write the records to this file.")] = None,
    max_input: MaxRecords = "",
) -> None:
    """Write JSON objects, one a line, as the records of a file: what decode prints makes the same records again.

    A field that is not given has its VALUE, or zeros or blanks by its type; a count that is not given is that of its
    table. Of items that share their storage, the first that is given counts where they overlap.

    Example: penstock encode docs/copybooks/orders.json --copybook docs/copybooks/order.cpy --output orders.bin
    """
    if framing.record_format.upper() == "L" and not choice.length_field:
        framing = replace(framing, record_format="F")  # the field that says how long a record is has its value in JSON
    kind, read = description.kind(source.dialect(), framing.framing(), coding.coding(), choice.choices())
    with _streams(file, output, failure, read, max_input) as (lines, out, failures):
        _write(kind, lines, out, failures)


@contextmanager
def _streams(
    file: str, output: Path | None, failure: FailureOptions, read: Iterable[Path], max_input: str
) -> Iterator[tuple[BinaryIO, BinaryIO, Failures]]:
    """Opens an input and an output, which may be no file that is read, and what takes the records that fail."""
    from engine.cli.record_conversion import Failures, input_of, opened, outputs_of, standard_output
    from engine.files.input_files import refuse_inputs
    from engine.files.output_files import written

    failures = Failures(failure.on_error, failure.quarantine)
    refuse_inputs(outputs_of(output, failure.quarantine), (input_of(file), *read))
    with (
        opened(file, max_input) as source,
        standard_output() if output is None else written(output) as out,
        failures,
    ):
        yield source, out, failures


def _write(kind: Kind, source: BinaryIO, out: BinaryIO, failures: Failures) -> None:
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
