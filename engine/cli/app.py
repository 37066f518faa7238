"""The application that commands register with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from engine.files.allowed_folders import SAID

app = typer.Typer(
    name="penstock",
    help="Run, examine and measure message flows in the style of WebSphere MQ Integrator.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
OwnNodes = Annotated[
    list[str] | None,
    typer.Option("--nodes", help="A Python file that defines nodes of your own; may be given several times."),
]


def _allowed(context: typer.Context, folders: list[Path] | None) -> list[Path] | None:
    """Lets links lead to these folders for as long as the command runs."""
    token = SAID.set(tuple(folders or ()))
    context.call_on_close(lambda: SAID.reset(token))
    return folders


AllowFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--allow-files",
        envvar="PENSTOCK_ALLOW_FILES",
        callback=_allowed,
        help="A folder whose files flows may write, and links may lead to; may be given several times.",
    ),
]
MaxInput = Annotated[
    str, typer.Option("--max-input", metavar="SIZE", help="The most bytes that an input may have, such as 4096 or 2G.")
]
MAX_INPUT = "100M"

DataSources = Annotated[
    list[str] | None,
    typer.Option(
        "--data-source",
        metavar="NAME=URL",
        help="A database: NAME=sqlite:///FILE, NAME=postgresql+psycopg://USER@HOST/DB, or NAME=@FILE with the URL in"
        " it; may be given several times, the first is the default one.",
    ),
]


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"penstock {version('penstock')}")
        except PackageNotFoundError:
            typer.echo("penstock, run from its source without being installed")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Run, examine and measure message flows in the style of WebSphere MQ Integrator."""
