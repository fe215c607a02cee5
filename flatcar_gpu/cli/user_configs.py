"""The user's own configs: options that name them, and reading them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from flatcar_gpu.errors import Failure, InvalidInput
from flatcar_gpu.files import read_input
from flatcar_gpu.report import Report

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flatcar_gpu.transpile import Document


def local_file_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --files-dir and --no-follow-outside; it is passed them as `files_dir` and `follow_outside`."""
    function = click.option(
        "--follow-outside/--no-follow-outside",
        default=True,
        help="Follow symbolic links that lead out of the files directory, as butane does, or refuse them.",
    )(function)
    return click.option(
        "-d",
        "--files-dir",
        multiple=True,
        metavar="[FILE:]DIR",
        help="Folder that local files and trees of Butane are read from, for all configs or for FILE alone.",
    )(function)


@dataclass(frozen=True, slots=True)
class UserConfigs:
    """The user's own configs as they were read, and their texts by file name."""

    documents: tuple[Document, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.documents)


def merge_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --merge and the options for local files; it is passed the configs as `configs`."""

    @wraps(function)
    def collected(merge: tuple[str, ...], files_dir: tuple[str, ...], follow_outside: bool, **arguments: Any) -> Any:
        configs = read_configs(merge, files_dir, follow_outside=follow_outside) if merge else UserConfigs()
        return function(configs=configs, **arguments)

    return click.option(
        "--merge",
        multiple=True,
        metavar="FILE",
        help="Merge your own config over the node's: Butane (.bu, .yaml) or Ignition (.ign, .json). Can be repeated.",
    )(local_file_options(collected))


def read_configs(files: Sequence[str], files_dir: Sequence[str], *, follow_outside: bool) -> UserConfigs:
    """Read the configs in `files`. Raises InvalidInput with the errors of all of them at once."""
    configs, report = read_all(files, files_dir, follow_outside=follow_outside)
    if report.has_errors:
        raise InvalidInput(report, configs.texts)
    return configs


def read_all(files: Sequence[str], files_dir: Sequence[str], *, follow_outside: bool) -> tuple[UserConfigs, Report]:
    """Those of the configs in `files` that can be read, and what was found in all of them."""
    from flatcar_gpu.transpile import read_document  # late, as most nodes are made alone

    report, texts, documents = Report(), {}, []
    folders = _folders(files, files_dir)
    for file in files:
        try:
            name, data = read_input(file)
        except Failure as failure:
            report.error(failure.message, hint=failure.hint)
            continue
        document = read_document(name, data, files_dir=folders.get(file), follow_outside=follow_outside)
        texts[name] = data.decode(errors="replace")
        report.extend(document.report)
        documents.append(document)
    return UserConfigs(tuple(documents), texts), report


def _folders(files: Sequence[str], files_dir: Sequence[str]) -> dict[str, str]:
    """The folder of each file: `FILE:DIR` is for one of the files, anything else for all."""
    for_one = {file: value for value in files_dir for file in files if value.startswith(f"{file}:")}
    for_all = [value for value in files_dir if value not in for_one.values()]
    if len(for_all) > 1:
        raise click.UsageError(f"--files-dir {for_all[-1]!r}: one folder for all configs is already {for_all[0]!r}")
    folders = dict.fromkeys(files, for_all[0]) if for_all else {}
    return folders | {file: value.removeprefix(f"{file}:") for file, value in for_one.items()}
