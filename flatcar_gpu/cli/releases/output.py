"""How the release commands write what they found: a table, JSON or YAML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMAT_VERSION = "1.0"
"""Of the JSON and YAML that these commands write; its first number changes when something is renamed or removed."""

format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "yaml"]),
    default="table",
    help="Form of the output.  [default: table]",
)


def as_data(data: dict[str, Any], form: str) -> str:
    """`data` as JSON or YAML text, with the format's version before it."""
    data = {"format_version": FORMAT_VERSION} | data
    if form == "json":
        import json

        return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    import yaml

    text: str = yaml.dump(data, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=1000)
    return text


def as_table(head: Sequence[str], rows: Sequence[Sequence[str | None]]) -> str:
    """Rows in columns as wide as needed, below the head; `-` where there is no value."""
    lines = [head, *[[value or "-" for value in row] for row in rows]]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    texts = ("  ".join(value.ljust(width) for value, width in zip(line, widths, strict=True)) for line in lines)
    return "".join(text.rstrip() + "\n" for text in texts)
