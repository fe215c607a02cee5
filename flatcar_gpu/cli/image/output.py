"""Parts of the JSON that image commands write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flatcar_gpu.images.lookup import Lookup
    from flatcar_gpu.images.reference import Reference


def lookup_data(reference: Reference | None, lookup: Lookup | None) -> dict[str, Any]:
    """An image and what its registry says; `state` is null where none was asked."""
    return {
        "reference": str(reference) if reference else None,
        "state": str(lookup.state) if lookup else None,
        "digest": lookup.digest or None if lookup else None,
        "platforms": list(lookup.platforms) if lookup else [],
        "message": lookup.message or None if lookup else None,
    }
