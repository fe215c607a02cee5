"""Options that several commands take alike."""

from __future__ import annotations

import click

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
