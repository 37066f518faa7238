"""penstock messageset: what copybooks describe, shown."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from engine.cli import record_options as given
from engine.cli.app import Json, app
from engine.cli.failing import existing

messageset = typer.Typer(help="Show message sets and import them from copybooks.", no_args_is_help=True)
app.add_typer(messageset, name="messageset")


@messageset.command()
def show(
    file: Annotated[str, typer.Argument(help="A copybook.")],
    copybooks: given.Copybooks = None,
    source_format: given.SourceFormat = "auto",
    binary_size: given.BinarySize = "2-4-8",
    lp: given.Lp = 32,
    currency: given.Currency = "$",
    decimal_point_is_comma: given.CommaPoint = False,
    as_json: Json = False,
) -> None:
    """Print the layout: name, level, type, offset, length and occurrences of each field; offsets count from 0."""
    from parsers.importers.copybook.read import read_copybook
    from parsers.importers.copybook.table import layout_data, layout_text

    dialect = given.dialect_of(
        copybooks, source_format, binary_size, lp, currency, comma=decimal_point_is_comma, slide=True
    )
    book = read_copybook(existing(file), dialect)
    typer.echo(json.dumps(layout_data(book), indent=2) if as_json else layout_text(book))
