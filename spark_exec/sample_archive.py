"""The archive of the demonstration: messages of sales, as many as one likes, the same every time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import flows
from engine.files.output_files import written

BROKER: Final = Path(flows.__path__[0]) / "samples" / "archive" / "broker.yaml"
MESSAGES: Final = 10_000
_POISON: Final = 1000  # one in so many sells nothing


def sales(count: int) -> Iterator[str]:
    """JSON lines, each with a sale.

    >>> print(*sales(1))
    {"body": "<Sale><Id>1</Id><Count>8</Count><Price>3.99</Price></Sale>", "format": "MQSTR"}
    """
    for number in range(1, count + 1):
        sold = number * 7 % 9 + 1 if number % _POISON else 0
        price = f"{number * 37 % 17}.99"
        body = f"<Sale><Id>{number}</Id><Count>{sold}</Count><Price>{price}</Price></Sale>"
        yield json.dumps({"body": body, "format": "MQSTR"})


def write_sales(file: Path, count: int = MESSAGES) -> None:
    """Write so many sales, in a directory that is made where it is not there."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with written(file) as opened:
        opened.writelines(f"{line}\n".encode() for line in sales(count))
