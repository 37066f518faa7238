"""penstock messageset: message sets shown, and imported from copybooks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from engine.cli import app
from engine.cli.command_failures import existing
from engine.cli.record_options import CopybookOptions, NativeOrder, one_of
from engine.cli.shared_options import Json, with_groups
from engine.files.input_files import refuse_inputs
from engine.files.output_files import write_file

messageset = typer.Typer(help="Show message sets and import them from copybooks.", no_args_is_help=True)
app.add_typer(messageset, name="messageset")


@messageset.command()
@with_groups
def show(
    file: Annotated[str, typer.Argument(help="A copybook, or a message set (.yaml).")],
    source: CopybookOptions,
    as_json: Json = False,
) -> None:
    """Print the layout: name, level, type, offset, length and occurrences of each field; offsets count from 0.

    Example: penstock messageset show docs/copybooks/order.cpy
    """
    from parsers.importers.copybook import read_copybook
    from parsers.records.layout_table import layout_data, layout_text

    dialect = source.dialect()
    if existing(file).suffix.lower() in {".yaml", ".yml"}:
        from flows.message_sets.yaml_reader import load_message_set
        from parsers.records.layout_table import model_data, model_text

        found = load_message_set(file)
        typer.echo(json.dumps(model_data(found), indent=2) if as_json else model_text(found))
        return
    book = read_copybook(existing(file), dialect)
    typer.echo(json.dumps(layout_data(book), indent=2) if as_json else layout_text(book))


@messageset.command("import")
@with_groups
def import_(
    files: Annotated[list[str], typer.Argument(help="Copybooks; each of their records becomes a message.")],
    out: Annotated[Path, typer.Option("--out", help="The message-set file to write.")],
    source: CopybookOptions,
    name: Annotated[str, typer.Option(help="The name of the set. [default: that of the file]")] = "",
    ccsid: Annotated[int, typer.Option(help="The CCSID of texts. [default: the message's]")] = 0,
    byte_order: Annotated[str, typer.Option(help="big or little. [default: the message's]")] = "",
    native_order: NativeOrder = "",
    float_format: Annotated[str, typer.Option(help="ieee or ibm. [default: the message's]")] = "",
    sign: Annotated[str, typer.Option(help="Zoned signs in ASCII: ascii or ebcdic-custom.")] = "ascii",
    defaults: Annotated[bool, typer.Option("--defaults", help="VALUE clauses become default values.")] = False,
) -> None:
    """Make a message set of copybooks: each record a message, items that share their storage a choice.

    Condition names and renamings (levels 88 and 66) are kept as documentation.

    Example: penstock messageset import docs/copybooks/order.cpy --out order.set.yaml --name ORDERS
    """
    from flows.message_sets import write_message_set
    from parsers.importers.copybook import read_copybook
    from parsers.importers.copybook.message_set import (
        ByteOrder,
        FloatForm,
        ImportOptions,
        PhysicalOptions,
        message_set_of,
    )

    dialect = source.dialect()
    orders: dict[str, ByteOrder] = {"": "", "big": "bigEndian", "little": "littleEndian"}
    floats: dict[str, FloatForm] = {"": "", "ieee": "ieee", "ibm": "s390"}
    physical = PhysicalOptions(
        ccsid=ccsid,
        byte_order=orders[one_of("--byte-order", byte_order, tuple(orders))],
        native_order=orders[one_of("--native-order", native_order, tuple(orders))],
        float_format=floats[one_of("--float-format", float_format, tuple(floats))],
        sign_ebcdic_custom=one_of("--sign", sign, ("ascii", "ebcdic-custom")) == "ebcdic-custom",
    )
    if ccsid:
        from parsers.charsets.ccsid import codec

        codec(ccsid)
    books = [read_copybook(existing(file), dialect) for file in files]
    refuse_inputs((out,), (path for book in books for path in book.files))
    made = message_set_of(name or out.name.partition(".")[0], books, ImportOptions(physical, defaults=defaults))
    write_file(out, write_message_set(made))
    typer.echo(f"{out}: {len(made.messages)} message{'s' if len(made.messages) > 1 else ''}")
