"""Translates every Butane config of this folder and says what came of it."""

from pathlib import Path

from flatcar_gpu.transpile import transpile

HERE = Path(__file__).parent

for path in sorted(HERE.glob("*.bu")):
    result = transpile(path.read_bytes(), files_dir=str(HERE / "files"))
    print(path.name, result.failure or result.config["ignition"]["version"])
