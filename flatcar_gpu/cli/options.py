"""Options that several commands take alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from flatcar_gpu.forms import Form

output_option = click.option(
    "-o",
    "--output",
    default="-",
    metavar="FILE",
    type=click.Path(dir_okay=True, allow_dash=True),
    help="Write to FILE, whole or not at all, instead of stdout.",
)
strict_option = click.option("-s", "--strict", is_flag=True, help="Let warnings fail, too; nothing is written then.")
pretty_option = click.option("-p", "--pretty", is_flag=True, help="Indent the JSON.")
check_option = click.option("-c", "--check", is_flag=True, help="Check everything, write nothing.")


def formed(form: Form) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """A callback that refuses texts of another form."""

    def check(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
        for text in value if isinstance(value, tuple) else (value,):
            if text is not None and not form.fits(text):
                raise click.BadParameter(f"{text!r} is not {form.expected}", ctx, parameter)
        return value

    return check
