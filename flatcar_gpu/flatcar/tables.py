"""The tables of `data/facts.yaml`, read when one is first needed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from flatcar_gpu.flatcar.version import numbers
from flatcar_gpu.resources import data_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Row = dict[str, Any]


@cache
def tables() -> Mapping[str, Any]:
    """All tables by name; the head of the file says how they are made."""
    import yaml

    loaded: dict[str, Any] = yaml.load(data_text("flatcar/data/facts.yaml"), Loader=yaml.CSafeLoader)
    return loaded


def row_at(name: str, number: str) -> Row:
    """The row that counts for `number` in the table of that name; `inferred` is set in it where it is no plain fact."""
    table = tables()[name]
    return counting_row(table["rows"], number, table["read_until"])


def counting_row(rows: Sequence[Row], number: str, read_until: str) -> Row:
    """The last of `rows` that begins at or below `number`."""
    at = numbers(number)
    row = [row for row in rows if numbers(row["from"]) <= at][-1]
    return row | {"inferred": row.get("inferred", False) or at > numbers(read_until)}
