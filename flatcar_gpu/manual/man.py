"""Man pages of the program and its commands, in the man(7) macros.

`python -m flatcar_gpu.manual.man FOLDER DATE` writes them; `make man` calls it.
"""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from flatcar_gpu import __version__
from flatcar_gpu.cli import PROGRAM
from flatcar_gpu.cli.framework import ENVIRONMENT_PREFIX
from flatcar_gpu.manual.tree import Described, command_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flatcar_gpu.manual.tree import Block, CommandText

_ENVIRONMENT = (
    Described(
        f"{ENVIRONMENT_PREFIX}OPTION",
        f"Any option, by its long name in capitals: {ENVIRONMENT_PREFIX}ERROR_FORMAT is --error-format. "
        "The command line wins.",
    ),
    Described("NO_COLOR, FORCE_COLOR", "No colour, or colour although stderr is no terminal; --color wins."),
    Described("XDG_CACHE_HOME", "Where what was fetched is kept, in the folder flatcar-gpu."),
)

_EXIT_STATUS = (
    Described("0", "Fine."),
    Described("1", "There are findings, or something failed."),
    Described("2", "The command line is wrong."),
    Described("130", "Interrupted."),
)


def man_pages(day: date) -> dict[str, str]:
    """The pages by file name (`flatcar-gpu-releases-show.1`); `day` is the date that they bear."""
    return {f"{_name(text.words)}.1": "\n".join(_page(text, day)) + "\n" for text in command_texts()}


def _page(command: CommandText, day: date) -> Iterator[str]:
    name = _name(command.words)
    yield f'.TH {_code(name.upper())} 1 "{day.isoformat()}" "{PROGRAM} {__version__}" "{PROGRAM}"'
    yield from (".SH NAME", rf"{_code(name)} \- {_text(command.short_help.rstrip('.'))}")
    yield from (".SH SYNOPSIS", rf"\fB{_code(' '.join(command.words))}\fR {_code(' '.join(command.arguments))}")
    yield from _section("DESCRIPTION", _blocks(command.description))
    yield from _section("COMMANDS", _terms(command.commands))
    yield from _section("OPTIONS", _terms(command.options))
    yield from _section("ENVIRONMENT", _terms(_ENVIRONMENT))
    yield from _section("EXIT STATUS", _terms(_EXIT_STATUS))
    yield from _section("EXAMPLES", _blocks(command.examples))
    yield from _section("SEE ALSO", _see_also(command))


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        # A paragraph right below a heading needs no mark of its own.
        yield from (f".SH {title}", *(found[1:] if found[0] == ".PP" else found))


def _blocks(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        if block.verbatim:
            yield from (".PP", ".EX", *(_code(line) for line in block.text.splitlines()), ".EE")
        else:
            yield from (".PP", _text(block.text))


def _terms(terms: Iterable[Described]) -> Iterator[str]:
    for term in terms:
        yield from (".TP", rf"\fB{_code(term.name)}\fR", _text(term.help))


def _see_also(command: CommandText) -> Iterator[str]:
    above = [command.words[:-1]] if len(command.words) > 1 else []
    below = [(*command.words, entry.name) for entry in command.commands]
    names = [rf"\fB{_code(_name(words))}\fR(1)" for words in above + below]
    if names:
        yield ", ".join(names)


def _name(words: Iterable[str]) -> str:
    return "-".join(words)


def _text(text: str) -> str:
    """Running text: a line may not begin like a macro, options keep hyphens that can be copied."""
    return " ".join(_code(word) if word.startswith("-") else _escaped(word) for word in text.split())


def _code(text: str) -> str:
    """What can be typed or copied: every hyphen is a minus sign, quotes are ASCII."""
    return _escaped(text).replace("-", r"\-").replace("'", r"\(aq").replace("`", r"\(ga").replace("~", r"\(ti")


def _escaped(text: str) -> str:
    escaped = text.replace("\\", r"\e")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped


def main(folder: str, day: str) -> None:
    """Write the pages to `folder`, which is made; `day` as 2026-01-31."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for name, page in man_pages(date.fromisoformat(day)).items():
        (target / name).write_text(page)


if __name__ == "__main__":
    main(*sys.argv[1:])
