"""The WWW-Authenticate header: what a registry wants to be shown (RFC 9110, section 11.6.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_PARAMETER = re.compile(rf"({_TOKEN.pattern})\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^\s,\"]+))")
_SEPARATOR = re.compile(r"[\s,]*")


@dataclass(frozen=True, slots=True)
class Challenge:
    """One way to authenticate; `scheme` and the names of the parameters are in lower case."""

    scheme: str
    parameters: Mapping[str, str] = field(default_factory=dict)


def parse_challenges(header: str) -> list[Challenge]:
    """The challenges of a header in their order; commas and equals signs within quotation marks belong to values.

    What comes behind something that is no challenge is left out.
    """
    found: list[tuple[str, dict[str, str]]] = []
    position = 0
    while True:
        position = _end(_SEPARATOR.match(header, position), position)
        if found and (parameter := _PARAMETER.match(header, position)):
            name, quoted, bare = parameter.groups()
            found[-1][1][name.lower()] = bare if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
            position = parameter.end()
        elif scheme := _TOKEN.match(header, position):
            found.append((scheme[0].lower(), {}))
            position = scheme.end()
        else:
            return [Challenge(scheme, parameters) for scheme, parameters in found]


def _end(match: re.Match[str] | None, otherwise: int) -> int:
    return match.end() if match else otherwise
