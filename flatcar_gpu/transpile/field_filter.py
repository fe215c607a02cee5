"""Fields of Ignition that a version of the flatcar variant does not let through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flatcar_gpu.transpile import messages

if TYPE_CHECKING:
    from flatcar_gpu.transpile.schema import Schema
    from flatcar_gpu.transpile.translation import Findings

# By version: the key of a `storage.luks` entry, and what Butane says where something is set in it.
_REFUSED = {
    "1.0.0": ("clevis", messages.NO_CLEVIS),
    "1.1.0": ("clevis", messages.NO_CLEVIS),
    "1.2.0-experimental": ("cex", messages.NO_CEX),
}


def refuse_fields(config: dict[str, Any], schema: Schema, findings: Findings) -> None:
    """Say which parts of the Ignition tree `config` are not supported. Source: coreos/butane config/flatcar/v1_*."""
    key, message = _REFUSED[schema.version.name]
    for index, luks in enumerate(config.get("storage", {}).get("luks", ())):
        if key in luks:
            findings.error(("storage", "luks", index, key), message)
