"""Variant and version of a config: which translator it asks for."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from flatcar_gpu.transpile import fcos, messages
from flatcar_gpu.transpile.decode import decode
from flatcar_gpu.transpile.scalars import MAX_INT64
from flatcar_gpu.transpile.schema import VERSIONS, Field, Kind, Schema, Struct, Type, schema

if TYPE_CHECKING:
    from flatcar_gpu.transpile.syntax_tree import AnyNode

VARIANT = "flatcar"

_STRING = Type(Kind.STRING, "string")
_COMMON_FIELDS = Type(
    Kind.OBJECT,
    "config.commonFields",
    Struct(
        "commonFields",
        {
            "version": Field("version", "", _STRING, optional=False, always=False),
            "variant": Field("variant", "", _STRING, optional=False, always=False),
        },
    ),
)
_NUMBER = re.compile(r"[-+]?[0-9]+", re.ASCII)
_IDENTIFIERS = re.compile(r"[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*", re.ASCII)


class NoTranslator(Exception):
    """The config asks for nothing that there is; the text is Butane's."""

    def __init__(self, text: str, variant: str = "", version: str = "") -> None:
        super().__init__(text)
        self.variant = variant
        self.version = version


def find_schema(root: AnyNode | None) -> Schema:
    """The tables for the variant and version that the document names.

    Raises NoTranslator, and YamlError where even these two cannot be read.
    """
    header, _ = decode(root, _COMMON_FIELDS)
    variant, text = header.get("variant", ""), header.get("version", "")
    if not variant:
        raise NoTranslator(messages.NO_VARIANT)
    version = canonical_version(text)
    if version is None:
        raise NoTranslator(messages.BAD_VERSION, variant, text)
    if variant == VARIANT and version in VERSIONS:
        return schema(version)
    if variant == fcos.VARIANT and version in fcos.SAME_AS:
        return replace(schema(fcos.SAME_AS[version]), is_fcos=True)
    if (variant, version) == ("rhcos", "0.1.0"):
        raise NoTranslator(messages.RHCOS_REMOVED, variant, version)
    raise NoTranslator(f"No translator exists for variant {variant} with version {version}", variant, version)


def canonical_version(text: str) -> str | None:
    """The semantic version as coreos/go-semver writes it back, None if it is none: `01.00.0` is 1.0.0."""
    rest, _, metadata = text.partition("+")
    numbers, _, prerelease = rest.partition("-")
    parts = numbers.split(".")
    if len(parts) != 3 or not all(_NUMBER.fullmatch(part) and len(part) < 20 for part in parts):
        return None
    if any(abs(int(part)) > MAX_INT64 for part in parts):
        return None
    if any(suffix and not _IDENTIFIERS.fullmatch(suffix) for suffix in (prerelease, metadata)):
        return None
    suffix = (f"-{prerelease}" if prerelease else "") + (f"+{metadata}" if metadata else "")
    return ".".join(str(int(part)) for part in parts) + suffix
