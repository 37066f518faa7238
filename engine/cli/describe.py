"""penstock describe: nodes, parsers and functions, as they declare themselves."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any

import typer

from engine.cli import app
from engine.cli.shared_options import Json, OwnNodes
from engine.errors import ConfigurationException

describe = typer.Typer(help="Describe nodes, parsers and functions from their declarations.", no_args_is_help=True)
app.add_typer(describe, name="describe")

Name = Annotated[str | None, typer.Argument(help="Which one; none: a list of all.")]


@describe.command()
def node(name: Name = None, nodes: OwnNodes = None, as_json: Json = False) -> None:
    """Node types: what they do, their terminals and properties.

    Example: penstock describe node MQInput
    """
    from engine.node import NodeType, node_catalog

    if nodes:
        from flows.files import load_nodes

        load_nodes(nodes)

    def data(found: NodeType) -> dict[str, Any]:
        properties = [
            {
                "name": p.name,
                "type": p.words,
                "mandatory": p.mandatory,
                "default": None if p.mandatory else p.default,
                "description": p.description,
            }
            for p in found.properties
        ]
        return {
            "name": found.name,
            "description": found.description,
            "category": found.category,
            "inputs": found.inputs,
            "outputs": found.outputs,
            "properties": properties,
        }

    _describe(node_catalog, name, data, _node_text, as_json=as_json)


@describe.command()
def parser(name: Name = None, as_json: Json = False) -> None:
    """Parsers: what they read and write, and which MQ formats announce them.

    Example: penstock describe parser XMLNSC --json
    """
    from engine.parser import Header, Parser, parser_catalog

    def data(found: Parser) -> dict[str, Any]:
        return {
            "name": found.name,
            "description": (found.__class__.__doc__ or "").strip(),
            "formats": list(found.formats) if isinstance(found, Header) else [],
            "types": {f"0x{number:08x}": text for number, text in found.type_names.items()},
        }

    _describe(parser_catalog, name, data, _parser_text, as_json=as_json)


@describe.command()
def function(name: Name = None, as_json: Json = False) -> None:
    """ESQL functions: what they do, what they take, and examples, which the tests run.

    Example: penstock describe function SUBSTRING
    """
    from esql.functions import Function, function_catalog

    def data(found: Function) -> dict[str, Any]:
        return {
            "name": found.name,
            "names": list(found.names),
            "description": found.summary,
            "arguments": {"fewest": found.fewest, "most": found.most},
            "parameters": [
                {"name": one.name, "types": sorted(one.types), "required": one.required, "null": one.nullable}
                for one in found.places
            ],
            "result": found.result,
            "null": "NULL for any argument makes the result NULL" if found.strict else "some arguments may be NULL",
            "keywords": [parameter.name for parameter in found.parameters if parameter.keyword],
            "examples": list(found.examples),
        }

    _describe(function_catalog, None if name is None else name.upper(), data, _function_text, as_json=as_json)


def _describe(
    catalog: Any,
    name: str | None,
    data: Callable[[Any], dict[str, Any]],
    text: Callable[[dict[str, Any]], str],
    *,
    as_json: bool,
) -> None:
    if name and catalog.get(name) is None and not catalog.suggest(name):
        raise ConfigurationException(
            f"no {catalog.kind} called {name}: leave the name out for a list of all that there are"
        )
    chosen = [{**data(catalog.find(each)), "name": each} for each in ([name] if name else catalog)]
    if as_json:
        typer.echo(json.dumps(chosen[0] if name else chosen, indent=2, default=str))
    elif name:
        typer.echo(text(chosen[0]))
    else:
        width = max((len(each["name"]) for each in chosen), default=0)
        for each in chosen:
            first, *_ = each["description"].splitlines() or [""]
            typer.echo(f"{each['name']:<{width}}  {first}")


def _node_text(found: dict[str, Any]) -> str:
    lines = [found["name"], f"  {found['description']}", ""]
    lines += [f"  {ends:<8} {', '.join(found[ends]) or 'none'}" for ends in ("inputs", "outputs")]
    if found["properties"]:
        lines.append("  properties")
    for p in found["properties"]:
        default = "mandatory" if p["mandatory"] else f"default {_said(p['default'])}"
        lines += [f"    {p['name']}: {p['type']}; {default}", f"        {p['description']}"]
    return "\n".join(lines)


def _said(default: object) -> str:
    """A default as a flow file would say it."""
    if isinstance(default, bool):
        return str(default).lower()
    return "empty" if default in ("", ()) else str(default)


def _parser_text(found: dict[str, Any]) -> str:
    lines = [found["name"], f"  {found['description']}"]
    if found["formats"]:
        lines.append(f"  announced by the formats {', '.join(found['formats'])}")
    lines += ["  element types", *(f"    {number}  {text}" for number, text in found["types"].items())]
    return "\n".join(lines)


def _function_text(found: dict[str, Any]) -> str:
    fewest, most = found["arguments"]["fewest"], found["arguments"]["most"]
    counted = f"{fewest} or more" if most is None else str(fewest) if fewest == most else f"{fewest} to {most}"
    lines = [", ".join(found["names"]), f"  {found['description']}", "", f"  arguments  {counted}; {found['null']}"]
    for one in found["parameters"]:
        types = " or ".join(one["types"]) or "any type"
        lines.append(f"    {one['name']}: {types}{'' if one['required'] else '; may be left out'}")
    if found["result"]:
        result = "the type of its first argument" if found["result"] == "same" else found["result"]
        lines.append(f"  result  {result}")
    if found["examples"]:
        lines += ["  examples", *(f"    {example}" for example in found["examples"])]
    return "\n".join(lines)
