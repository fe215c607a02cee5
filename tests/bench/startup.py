"""What a user waits for: whole processes beside a bare Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.bench._processes import PROGRAM, against_bare_python

if TYPE_CHECKING:
    from collections.abc import Iterator


def measure() -> Iterator[str]:
    yield from against_bare_python(
        {
            "flatcar-gpu --version": [*PROGRAM, "--version"],
            "flatcar-gpu --help": [*PROGRAM, "--help"],
            "flatcar-gpu ignition": [*PROGRAM, "ignition"],
            "flatcar-gpu butane": [*PROGRAM, "butane"],
            "flatcar-gpu ignition -f SPEC": [*PROGRAM, "ignition", "-f", "examples/spec/driver-container.yaml"],
        }
    )
