"""Benchmarks: `python -m tests.bench [NAME ...]` runs the modules beside this one and prints what they measure."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    names = sys.argv[1:] or sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith("_"))
    for name in names:
        print(f"## {name}", flush=True)
        for line in import_module(f"tests.bench.{name}").measure():
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
