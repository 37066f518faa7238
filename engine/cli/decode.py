"""penstock decode: records of a file as JSON, one object a line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from engine.cli import record_options as given
from engine.cli.app import AllowFiles, app
from engine.cli.failing import existing
from engine.errors import BrokerError, ConfigurationException

if TYPE_CHECKING:
    from parsers.records.framing import Cut


@app.command()
def decode(
    file: Annotated[str, typer.Argument(help="The file of records, or - for standard input.")],
    copybook: given.CopybookFile = "",
    messageset: given.MessageSetFile = "",
    type_: given.TypeName = "",
    format_: given.FormatName = "",
    ccsid: given.Ccsid = 1208,
    encoding: given.Encoding = None,
    byte_order: given.ByteOrder = "",
    native_order: given.NativeOrder = "",
    float_format: given.FloatFormat = "",
    sign: given.SignFormat = "",
    national_ccsid: given.NationalCcsid = 1200,
    trim: Annotated[str, typer.Option(help="Which blanks texts lose: right, left, both or none.")] = "right",
    blank_is_null: given.BlankIsNull = False,
    fillers: given.Fillers = False,
    record_format: given.RecordFormat = "F",
    record_length: given.RecordLength = None,
    rdw_order: given.RdwOrder = "big",
    rdw_adjustment: given.RdwAdjustment = 0,
    rdw_excludes_itself: given.RdwExcludes = False,
    bdw_order: given.BdwOrder = "big",
    bdw_adjustment: given.BdwAdjustment = 0,
    length_field: given.LengthField = "",
    length_adjustment: given.LengthAdjustment = 0,
    file_header: Annotated[int, typer.Option(help="Bytes to skip at the beginning of the file.")] = 0,
    file_footer: Annotated[int, typer.Option(help="Bytes to leave at the end of the file.")] = 0,
    record_start: given.RecordStart = 0,
    record_end: given.RecordEnd = 0,
    segment: given.Segments = None,
    copybooks: given.Copybooks = None,
    allow_files: AllowFiles = None,
    source_format: given.SourceFormat = "auto",
    binary_size: given.BinarySize = "2-4-8",
    lp: given.Lp = 32,
    currency: given.Currency = "$",
    decimal_point_is_comma: given.CommaPoint = False,
    odoslide: given.OdoSlide = True,
    on_error: given.OnError = "stop",
    quarantine: given.Quarantine = None,
    output: Annotated[Path | None, typer.Option(help="Write the JSON to this file.")] = None,
) -> None:
    """Print the records of a file as JSON, one object a line.

    Groups are objects, tables are arrays, numbers keep all their digits. Of items that share their storage, each is
    there under its name; one that cannot be read is null if another can.
    """
    from engine.cli.failures_of_records import Failures
    from engine.cli.record_files import input_of, outputs_of, standard_output
    from engine.files.output_files import refuse_inputs, written
    from parsers.records.files import Choices
    from parsers.records.json_lines import to_json

    dialect = given.dialect_of(
        copybooks, source_format, binary_size, lp, currency, allow_files, comma=decimal_point_is_comma, slide=odoslide
    )
    coding = given.CodingOptions(
        ccsid, encoding, byte_order, native_order, float_format, sign, national_ccsid, blank_is_null, trim
    ).coding()
    framing = given.FramingOptions(
        *(record_format, record_length, rdw_order, rdw_adjustment, rdw_excludes_itself, bdw_order, bdw_adjustment),
        *(length_adjustment, record_start, record_end, file_header, file_footer),
    ).framing()
    choices = Choices(type_, tuple(segment or ()), length_field, fillers=fillers)
    described = given.Described(copybook, messageset, format_)
    kind, read = described.kind(dialect, framing, coding, choices)
    failures = Failures(on_error, quarantine)
    refuse_inputs(outputs_of(output, quarantine), (input_of(file), *read))
    with ExitStack() as stack:
        source = stack.enter_context(_opened(file))
        out = stack.enter_context(standard_output() if output is None else written(output))
        stack.enter_context(failures)
        for cut in _progress(kind.cut(source), source):
            try:
                line = to_json(kind.decode(cut))
            except BrokerError as error:
                out.flush()
                failures.add(error, cut.raw)
                continue
            out.write(line.encode("utf-8", "replace") + b"\n")
            failures.done += 1


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    """A file for reading, or standard input."""
    if file != "-":
        with existing(file).open("rb") as opened:
            yield opened
    elif sys.stdin is None:
        raise ConfigurationException("standard input is closed: pipe records into it, or name a file")
    else:
        yield sys.stdin.buffer


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
