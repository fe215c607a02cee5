"""flatcar-gpu releases"""

from __future__ import annotations

from flatcar_gpu.cli.framework import Entry, command_table

COMMANDS = {
    "list": Entry("flatcar_gpu.cli.releases.list", "Releases by channel, kernel, date or architecture."),
    "show": Entry("flatcar_gpu.cli.releases.show", "A release and what it can do."),
    "current": Entry("flatcar_gpu.cli.releases.current", "The version a channel stands at."),
    "update": Entry("flatcar_gpu.cli.releases.update", "Fetch the newest release index."),
}


@command_table(COMMANDS)
def command() -> None:
    """Flatcar releases, and what each of them can do.

    \b
    flatcar-gpu releases current --channel lts-2024
    flatcar-gpu releases list --kernel 5.10.52-flatcar
    flatcar-gpu releases show 4593.2.5
    """
