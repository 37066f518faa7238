"""Groups of options: dataclasses whose fields are options, declared once for all commands that take them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Returns a command that has the fields of its groups as options, and is given the groups made of them.

    >>> @dataclasses.dataclass
    ... class Size:
    ...     width: int = 1
    ...     height: int = 2
    >>> @with_groups
    ... def area(unit: str, size: Size) -> None:
    ...     print(size.width * size.height, unit)
    >>> area(unit="m2", width=5, height=2)
    10 m2
    >>> list(signature(area).parameters)
    ['unit', 'width', 'height']
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if dataclasses.is_dataclass(hint)}
    parameters: list[Parameter] = []
    for parameter in signature(command).parameters.values():
        group = groups.get(parameter.name)
        if group is None:
            parameters.append(parameter.replace(annotation=hints[parameter.name], kind=Parameter.KEYWORD_ONLY))
        else:
            parameters += _options(group)

    @wraps(command)
    def run(**given: Any) -> None:
        made = {
            name: group(**{field.name: given.pop(field.name) for field in dataclasses.fields(group)})
            for name, group in groups.items()
        }
        command(**given, **made)

    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # what inspect.signature looks for first
    return run


def _options(group: Any) -> list[Parameter]:
    """Returns the options that the fields of a group are."""
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name])
        for field in dataclasses.fields(group)
    ]
