"""What a rule is, and the checks that many of them share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from flatcar_gpu.transpile import messages
from flatcar_gpu.transpile.go_text import clean
from flatcar_gpu.transpile.paths import Path
from flatcar_gpu.transpile.translation import Findings


@dataclass(frozen=True, slots=True)
class Spec:
    """A version of the Ignition spec, `3.4.0` or `3.7.0-experimental`."""

    name: str
    minor: int

    @classmethod
    def of(cls, name: str) -> Spec:
        return cls(name, int(name.split(".")[1]))


@dataclass(slots=True)
class Check(Findings):
    """What the rules find, and the version they are applied for."""

    spec: Spec = field(kw_only=True)


Tree = dict[str, Any]
Rule = Callable[[Tree, Path, Check], None]


def path_problem(path: str) -> str:
    """What is wrong with a path or device on the node; empty if nothing is."""
    if not path:
        return messages.NO_PATH
    if not path.startswith("/"):
        return messages.RELATIVE_PATH
    return messages.UNCLEAN_PATH if clean(path) != path else ""


def check_path(path: str, at: Path, findings: Findings) -> None:
    """Say at `at` what is wrong with the path."""
    if problem := path_problem(path):
        findings.error(at, problem)
