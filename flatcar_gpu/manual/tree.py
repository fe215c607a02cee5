"""What there is to say of every command, read from its declaration."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import PROGRAM, root
from flatcar_gpu.cli.framework import CommandTable

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
    return list(_texts(root, _context(root, PROGRAM), next(help_blocks(root.help or "")).text))


def _texts(command: click.Command, ctx: click.Context, short_help: str) -> Iterator[CommandText]:
    table = command.table if isinstance(command, CommandTable) else {}
    options = [option for option in command.get_params(ctx) if isinstance(option, click.Option)]
    yield CommandText(
        words=tuple(ctx.command_path.split()),
        arguments=tuple(command.collect_usage_pieces(ctx)),
        short_help=short_help,
        blocks=tuple(help_blocks(command.help or "")),
        options=tuple(Described(*record) for option in options if (record := option.get_help_record(ctx))),
        commands=tuple(Described(name, entry.short_help) for name, entry in table.items()),
    )
    for name, entry in table.items():
        below: click.Command = import_module(entry.module).command
        yield from _texts(below, _context(below, name, ctx), entry.short_help)


def _context(command: click.Command, name: str, parent: click.Context | None = None) -> click.Context:
    return click.Context(command, parent, name, **command.context_settings)


def help_blocks(text: str) -> Iterator[Block]:
    """The paragraphs of a help text; Click's mark `\\b` begins one that is verbatim."""
    for part in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        lines = part.strip("\n").splitlines()
        if lines and lines[0].strip() == "\b":
            yield Block("\n".join(lines[1:]), verbatim=True)
        elif lines:
            yield Block(" ".join(line.strip() for line in lines))
