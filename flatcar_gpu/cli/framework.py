"""What all commands share: lazy loading, the common options, environment variables."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from click.shell_completion import CompletionItem

    from flatcar_gpu.cli.console import Console

ENVIRONMENT_PREFIX = "FLATCAR_GPU_"

CONTEXT_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Entry(NamedTuple):
    """A command before it is loaded: the module that holds it as `command`, and its line in the help."""

    module: str
    short_help: str


class Command(click.Command):
    """A command with the common options, and whose options can all be given as FLATCAR_GPU_* variables."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params += common_options()
        _name_variables(self.params)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, _with_bare_color_spelt_out(args))


class CommandTable(click.Group):
    """A group that knows its commands' names and short helps from a table and imports a command only to run it."""

    command_class = Command

    def __init__(self, *args: Any, table: Mapping[str, Entry], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.table = table
        self.params += common_options()
        _name_variables(self.params)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self.table.get(cmd_name)
        if entry is None:
            return None
        loaded: click.Command = import_module(entry.module).command
        return loaded

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, _with_bare_color_spelt_out(args))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name in self.table or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        from difflib import get_close_matches

        close = get_close_matches(name, self.table, n=1)
        known = f"Did you mean {close[0]!r}?" if close else f"The commands are: {', '.join(self.table)}."
        raise click.UsageError(f"There is no command {name!r}. {known}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.short_help) for name, entry in self.table.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        names = [
            CompletionItem(name, help=entry.short_help)
            for name, entry in self.table.items()
            if name.startswith(incomplete)
        ]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]


def command(**attributes: Any) -> Callable[[Callable[..., Any]], Command]:
    """Declare a command: `click.command` with what all commands share."""
    return click.command(cls=Command, context_settings=CONTEXT_SETTINGS, **attributes)


def command_table(table: Mapping[str, Entry], **attributes: Any) -> Callable[[Callable[..., Any]], CommandTable]:
    """Declare a group of commands that are loaded from `table`."""
    return click.group(cls=CommandTable, table=table, context_settings=CONTEXT_SETTINGS, **attributes)


def _name_variables(parameters: list[click.Parameter]) -> None:
    for parameter in parameters:
        if isinstance(parameter, click.Option) and parameter.envvar is None:
            word = next(name for name in parameter.opts if name.startswith("--"))
            parameter.envvar = ENVIRONMENT_PREFIX + word.removeprefix("--").replace("-", "_").upper()


def _into_console(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    # Both the program and its commands take these options; the defaults of one must not undo what the other was told.
    source = ctx.get_parameter_source(parameter.name or "")
    if source is not None and source is not ParameterSource.DEFAULT:
        console: Console = ctx.obj
        setattr(console, str(parameter.name), value)
        ctx.color = console.colored(sys.stdout)


def common_options() -> list[click.Parameter]:
    """-v, -q, --color, --error-format, --debug: they set up the console and are not passed on."""
    return [
        _common("-v", "--verbose", count=True, help="Say more on stderr; twice for details."),
        _common("-q", "--quiet", is_flag=True, help="Only errors on stderr, no warnings."),
        _common(
            "--color",
            "--colour",
            "color",
            type=click.Choice(["auto", "always", "never", "yes", "no"]),
            default="auto",
            metavar="[=auto|always|never]",
            help="Colour on stderr; NO_COLOR and FORCE_COLOR are honoured.",
        ),
        _common(
            "--error-format", type=click.Choice(["text", "json"]), default="text", help="Form of findings on stderr."
        ),
        _common("--debug", is_flag=True, help="Show the traceback of a failure."),
    ]


def _common(*names: str, **attributes: Any) -> click.Option:
    return click.Option(names, callback=_into_console, expose_value=False, **attributes)


def _with_bare_color_spelt_out(args: list[str]) -> list[str]:
    """`--color` alone means always; its value is only ever joined with `=`, so it never eats a file name."""
    end = args.index("--") if "--" in args else len(args)
    spelt = [f"{word}=always" if word in ("--color", "--colour") else word for word in args[:end]]
    return spelt + args[end:]
