"""Flatcar's version numbers, and the kernel's as `uname -r` and Kubernetes say it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from flatcar_gpu.errors import Failure

# Nine digits are more than any release has; longer numbers come from broken data.
_VERSION = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})")

# `6.12.95-flatcar`; `kubectl get nodes -o wide` of Kubernetes 1.36 appends the architecture in parentheses.
_KERNEL = re.compile(r"([0-9]+\.[0-9]+\.[0-9]+)(-flatcar)?( \([a-z0-9_]+\))?")


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """A Flatcar version such as 4593.2.5, ordered by number.

    The major number counts days since 2013-07-01. The minor number does not tell the channel: old releases and the
    LTS of 2021 do not follow the rule (0 alpha, 1 beta, 2 stable, 3 LTS).
    """

    major: int
    minor: int
    patch: int

    @classmethod
    def parse(cls, text: str) -> Version:
        """The version that `text` is. Raises Failure unless it is three numbers joined by dots."""
        match = _VERSION.fullmatch(text)
        if match is None:
            raise Failure(f"{text!r} is not a Flatcar version", hint=_hint(text))
        return cls(*map(int, match.groups()))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


def is_version(text: str) -> bool:
    """Whether `text` is written like a Flatcar version."""
    return _VERSION.fullmatch(text) is not None


def version_inside(text: str) -> str | None:
    """The first part of `text` that is written like a version: what was meant by `v4593.2.5`."""
    match = _VERSION.search(text)
    return match[0] if match else None


def kernel_version(text: str) -> str:
    """Kernel version without what is behind it: `5.10.52` from `5.10.52-flatcar` or `5.10.52-flatcar (amd64)`.

    Raises Failure where `text` is not the kernel of a Flatcar node.
    """
    match = _KERNEL.fullmatch(text.strip())
    if match is None:
        raise Failure(
            f"{text!r} is not a kernel version of Flatcar",
            hint="give it as `uname -r` on the node prints it, such as 5.10.52-flatcar, or without the suffix",
        )
    return match[1]


def numbers(text: str) -> tuple[int, ...]:
    """The numbers of a dotted version (`6.12.102`, `2.24.0`, `257`, `570.195.03`), to compare it with another.

    Raises Failure where a part is not a number.
    """
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})*", text):
        raise Failure(f"{text!r} is not a version number")
    return tuple(map(int, text.split(".")))


def _hint(text: str) -> str:
    inside = version_inside(text)
    if inside:
        return f"write {inside}"
    return "a version is three numbers, such as 4593.2.5; VERSION_ID in /etc/os-release on the node has it"
