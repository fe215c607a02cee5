"""flatcar-gpu explain"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.rules import rules

if TYPE_CHECKING:
    from flatcar_gpu.rules import Rule


@framework.command()
@click.argument("rule", required=False)
def command(rule: str | None) -> None:
    """Explain a compatibility rule, or list all of them.

    \b
    flatcar-gpu explain
    flatcar-gpu explain FG111
    """
    if rule is None:
        click.echo("\n".join(f"{found.id}  {found.severity:<7}  {found.title}" for found in rules().values()))
        return
    known = rules().get(rule.upper())
    if known is None:
        raise click.UsageError(f"There is no rule {rule!r}; `flatcar-gpu explain` lists them.")
    click.echo(_explanation(known))


def _explanation(rule: Rule) -> str:
    return "\n".join(
        (
            f"{rule.id} ({rule.severity}): {rule.title}",
            "",
            f"why:     {rule.why}",
            f"way out: {rule.remedy}",
            f"source:  {rule.source}",
        )
    )
