"""What there is to say of every command, read from its declaration."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import PROGRAM, root

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph of a help text; a verbatim one keeps its lines."""

    text: str
    verbatim: bool = False

    @property
    def is_example(self) -> bool:
        """Whether it shows how to call the program."""
        return self.verbatim and f"{PROGRAM} " in self.text


@dataclass(frozen=True, slots=True)
class Described:
    """An option or a command with its line of help."""

    name: str
    help: str


@dataclass(frozen=True, slots=True)
class CommandText:
    """A command: `words` are what calls it, `arguments` what follows, as in its usage line."""

    words: tuple[str, ...]
    arguments: tuple[str, ...]
    short_help: str
    blocks: tuple[Block, ...]
    options: tuple[Described, ...]
    commands: tuple[Described, ...] = ()

    @property
    def description(self) -> list[Block]:
        return [block for block in self.blocks if not block.is_example]

    @property
    def examples(self) -> list[Block]:
        return [block for block in self.blocks if block.is_example]


def command_texts() -> list[CommandText]:
    """The program and all its commands, each before the commands below it."""
    summary = next(block.text for block in help_blocks(root.help or ""))
    return list(_texts(root, click.Context(root, info_name=PROGRAM), summary))


def _texts(command: click.Command, ctx: click.Context, short_help: str) -> Iterator[CommandText]:
    names = command.list_commands(ctx) if isinstance(command, click.Group) else []
    below = [found for name in names if (found := _subcommand(command, ctx, name))]
    loaded = [list(_texts(child, sub, text)) for child, sub, text in below]
    yield CommandText(
        words=tuple(ctx.command_path.split()),
        arguments=tuple(command.collect_usage_pieces(ctx)),
        short_help=short_help,
        blocks=tuple(help_blocks(command.help or "")),
        options=tuple(Described(*record) for option in _options(command, ctx) if (record := option.get_help_record(ctx))),
        commands=tuple(Described(str(sub.info_name), text) for _, sub, text in below),
    )
    for texts in loaded:
        yield from texts


def _options(command: click.Command, ctx: click.Context) -> list[click.Parameter]:
    return [parameter for parameter in command.get_params(ctx) if isinstance(parameter, click.Option)]


def _subcommand(
    group: click.Command, ctx: click.Context, name: str
) -> tuple[click.Command, click.Context, str] | None:
    from flatcar_gpu.cli.framework import CommandTable

    if not isinstance(group, CommandTable):
        return None
    command = group.get_command(ctx, name)
    if command is None:
        return None
    return command, click.Context(command, info_name=name, parent=ctx), group.table[name].short_help


def help_blocks(text: str) -> Iterator[Block]:
    """The paragraphs of a help text; Click's mark `\\b` begins one that is verbatim."""
    for part in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        lines = part.strip("\n").splitlines()
        if lines and lines[0].strip() == "\b":
            yield Block("\n".join(lines[1:]), verbatim=True)
        elif lines:
            yield Block(" ".join(line.strip() for line in lines))
