"""penstock encode: JSON objects, one a line, as the records of a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from engine.cli import record_options as given
from engine.cli.app import AllowFiles, app
from engine.cli.failing import existing
from engine.errors import BrokerError, ConfigurationException, ParserException

if TYPE_CHECKING:
    from engine.cli.failures_of_records import Failures
    from engine.cli.record_options import Kind


@app.command()
def encode(
    file: Annotated[str, typer.Argument(help="The file of JSON, one object a line, or - for standard input.")],
    copybook: given.CopybookFile = "",
    messageset: given.MessageSetFile = "",
    output: Annotated[Path | None, typer.Option(help="Write the records to this file.")] = None,
    type_: given.TypeName = "",
    format_: given.FormatName = "",
    ccsid: given.Ccsid = 1208,
    encoding: given.Encoding = None,
    byte_order: given.ByteOrder = "",
    native_order: given.NativeOrder = "",
    float_format: given.FloatFormat = "",
    sign: given.SignFormat = "",
    national_ccsid: given.NationalCcsid = 1200,
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
) -> None:
    """Write JSON objects, one a line, as the records of a file: what decode prints makes the same records again.

    A field that is not given has its VALUE, or zeros or blanks by its type; a count that is not given is that of its
    table. Of items that share their storage, the first that is given counts where they overlap.
    """
    from engine.cli.failures_of_records import Failures
    from engine.cli.record_files import input_of, outputs_of, standard_output
    from engine.files.output_files import refuse_inputs, written
    from parsers.records.files import Choices

    dialect = given.dialect_of(
        copybooks, source_format, binary_size, lp, currency, allow_files, comma=decimal_point_is_comma, slide=odoslide
    )
    coding = given.CodingOptions(
        ccsid, encoding, byte_order, native_order, float_format, sign, national_ccsid, blank_is_null
    ).coding()
    if record_format.upper() == "L" and not length_field:
        record_format = "F"  # the field that says how long a record is has its value in JSON
    framing = given.FramingOptions(
        *(record_format, record_length, rdw_order, rdw_adjustment, rdw_excludes_itself, bdw_order, bdw_adjustment),
        *(length_adjustment, record_start, record_end),
    ).framing()
    choices = Choices(type_, tuple(segment or ()), length_field, fillers=fillers)
    described = given.Described(copybook, messageset, format_)
    kind, read = described.kind(dialect, framing, coding, choices)
    failures = Failures(on_error, quarantine)
    refuse_inputs(outputs_of(output, quarantine), (input_of(file), *read))
    with ExitStack() as stack:
        source = stack.enter_context(existing(file).open("rb")) if file != "-" else _standard_input()
        out = stack.enter_context(standard_output() if output is None else written(output))
        _write(kind, source, out, stack.enter_context(failures))


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise ConfigurationException("standard input is closed: pipe JSON into it, or name a file")
    return sys.stdin.buffer


def _write(kind: Kind, source: BinaryIO, out: BinaryIO, failures: Failures) -> None:
    from parsers.records.framing import framed
    from parsers.records.json_lines import from_json

    for number, line in _lines(source):
        try:
            record = kind.encode(from_json(line.decode("utf-8"), number), number)
            for data in framed(iter((record,)), kind.framing, kind.blank, None):
                out.write(data)
        except UnicodeDecodeError as error:
            failures.add(ParserException(5705, f"line {number} is not in UTF-8: {error}"), line)
        except BrokerError as error:
            failures.add(error, line)
        else:
            failures.done += 1


def _lines(source: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers."""
    from parsers.records.json_lines import LONGEST_LINE

    number = 0
    while line := source.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE:
            raise ParserException(5705, f"line {number} has more than {LONGEST_LINE:,} bytes")
        if line.strip():
            yield number, line
