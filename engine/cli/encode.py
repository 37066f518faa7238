"""penstock encode: JSON objects, one a line, as the records of a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
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
)
from engine.cli.shared_options import with_groups
from engine.errors import BrokerError, ParserException

if TYPE_CHECKING:
    from engine.cli.record_conversion import Failures, Kind


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
    from engine.cli.record_conversion import Failures, input_of, opened, outputs_of, standard_output
    from engine.files.input_files import refuse_inputs
    from engine.files.output_files import written

    if framing.record_format.upper() == "L" and not choice.length_field:
        framing = replace(framing, record_format="F")  # the field that says how long a record is has its value in JSON
    kind, read = description.kind(source.dialect(), framing.framing(), coding.coding(), choice.choices())
    failures = Failures(failure.on_error, failure.quarantine)
    refuse_inputs(outputs_of(output, failure.quarantine), (input_of(file), *read))
    with ExitStack() as stack:
        lines = stack.enter_context(opened(file, max_input))
        out = stack.enter_context(standard_output() if output is None else written(output))
        _write(kind, lines, out, stack.enter_context(failures))


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
