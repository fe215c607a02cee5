"""docs/reference.md: commands and options, keys of the spec, rules.

`python -m flatcar_gpu.manual.reference FILE` writes it; `make reference` calls it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from flatcar_gpu.cli.framework import ENVIRONMENT_PREFIX
from flatcar_gpu.manual.tree import command_texts
from flatcar_gpu.rules import rules
from flatcar_gpu.settings import settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flatcar_gpu.manual.tree import CommandText


def reference() -> str:
    """The page as Markdown."""
    parts = (_introduction(), _commands(), _spec_keys(), _rules())
    return "\n".join(line for part in parts for line in part)


def _introduction() -> Iterator[str]:
    yield "<!-- Written by `make reference`; a test fails while it differs from the code. -->"
    yield "# Reference"
    yield ""
    yield "[Commands](#commands) · [Keys of the spec file](#keys-of-the-spec-file) · [Rules](#rules)"
    yield ""


def _commands() -> Iterator[str]:
    program, *commands = command_texts()
    common = {option.name for option in program.options}
    yield from ("## Commands", "")
    yield f"Any option can be given as an environment variable: `--error-format` is `{ENVIRONMENT_PREFIX}ERROR_FORMAT`."
    yield "Exit codes: 0 fine, 1 findings or failure, 2 usage, 130 interrupted. These options are the program's own,"
    yield "and all but `--version` every command's, too:"
    yield ""
    yield from _table(("option", ""), ((_code(option.name), option.help) for option in program.options))
    for command in commands:
        yield from _command(command, common)


def _command(command: CommandText, common: set[str]) -> Iterator[str]:
    yield from (f"### {' '.join(command.words)}", "")
    for block in (*command.description, *command.examples):
        yield from (("```sh", block.text, "```", "") if block.verbatim else (block.text, ""))
    own = [option for option in command.options if option.name not in common]
    yield from (f"Usage: `{' '.join((*command.words, *command.arguments))}`", "")
    if own:
        yield from _table(("option", ""), ((_code(option.name), option.help) for option in own))


def _spec_keys() -> Iterator[str]:
    yield from ("## Keys of the spec file", "")
    yield "A spec can also have `pools`: each with a `name`, `labels`, `taints`, and any of these keys for itself."
    yield "[One spec for a cluster](fleet.md) shows them."
    yield ""
    rows = ((_code(key), _code(setting.flag), setting.help) for key, setting in settings().items())
    yield from _table(("key", "option", ""), rows)


def _rules() -> Iterator[str]:
    yield from ("## Rules", "")
    yield "`flatcar-gpu explain RULE` says why, and from which source; `--ignore RULE` goes on nevertheless."
    yield ""
    rows = ((rule.id, str(rule.severity), rule.title, rule.remedy) for rule in rules().values())
    yield from _table(("rule", "", "what it finds", "way out"), rows)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield _row(head)
    yield "|" + "---|" * len(head)
    yield from (_row([" ".join(cell.split()).replace("|", r"\|") for cell in row]) for row in rows)
    yield ""


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _code(text: str) -> str:
    return f"`{text}`"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(reference())
