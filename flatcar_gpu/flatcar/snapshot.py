"""The release index that ships with the package, for use without a network.

Maintainers make it anew from the published files, which `docs/releases.md` says how to fetch:

    python -m flatcar_gpu.flatcar.snapshot FOLDER
"""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from flatcar_gpu.errors import Failure
from flatcar_gpu.flatcar.compact import from_compact, to_compact
from flatcar_gpu.flatcar.index import CHANNELS, EMPTY
from flatcar_gpu.resources import data_text

if TYPE_CHECKING:
    from flatcar_gpu.flatcar.index import Index
    from flatcar_gpu.report import Report

_FILE = "flatcar/data/snapshot.json"


@cache
def snapshot() -> Index:
    """The index that ships with the package."""
    return from_compact(json.loads(data_text(_FILE)))


def snapshot_text(index: Index) -> str:
    """The snapshot file for an index: JSON with a line a release, so that a change reads well in a diff."""
    data = to_compact(index)
    rows = ",\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in data["releases"])
    return f'{{"current": {json.dumps(dict(sorted(data["current"].items())))},\n"releases": [\n{rows}\n]}}\n'


def read_folder(folder: Path) -> tuple[Index, list[Report]]:
    """The index in a folder with the published file of every channel, and what was odd in each file.

    Raises Failure where a file is missing or is no release JSON.
    """
    from flatcar_gpu.files import read_input
    from flatcar_gpu.flatcar.release_json import parse_releases

    index, reports = EMPTY, []
    for channel in CHANNELS:
        name, data = read_input(str(folder / f"releases-{channel}.json"))
        found, report = parse_releases(data, name=name, channel=channel)
        index = index.merged(found)
        reports.append(report)
    return index, reports


def _main(arguments: list[str]) -> int:
    from flatcar_gpu.files import write_output

    if len(arguments) != 1:
        sys.stderr.write("usage: python -m flatcar_gpu.flatcar.snapshot FOLDER\n")
        return 2
    try:
        index, reports = read_folder(Path(arguments[0]))
        target = Path(__file__).parent / "data" / "snapshot.json"
        write_output(str(target), snapshot_text(index).encode())
    except Failure as failure:
        sys.stderr.write(f"error: {failure.message}\n")
        return 1
    sys.stderr.write("".join(report.as_text() for report in reports))
    sys.stderr.write(f"{target}: {len(index)} releases, the newest of {index.newest_date}\n")
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
