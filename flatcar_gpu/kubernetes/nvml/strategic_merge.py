"""Applying a strategic-merge patch to a pod spec, as far as patches of this package go.

Source of the merge keys: kubernetes/api core/v1 types.go. Lists without a key, such as tolerations, are replaced.
New entries come last, as with `kubectl patch`; kustomize puts them first. Nothing here depends on their order.
"""

from __future__ import annotations

from typing import Any

MERGE_KEYS = {
    "containers": "name",
    "initContainers": "name",
    "env": "name",
    "volumes": "name",
    "volumeMounts": "mountPath",
}

DIRECTIVE = "$patch"


def strategic_merge(base: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """`base` with `patch` applied: maps are merged, null removes a key, `$patch: delete` an entry of a list."""
    merged = dict(base)
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict):
            under = merged.get(key)
            merged[key] = strategic_merge(under if isinstance(under, dict) else {}, value)
        elif key in MERGE_KEYS:
            merged[key] = _merged_list(merged.get(key) or [], value, MERGE_KEYS[key])
            if not merged[key]:
                del merged[key]
        else:
            merged[key] = value
    return merged


def _merged_list(base: list[Any], patch: list[dict[str, Any]], key: str) -> list[Any]:
    merged = list(base)
    for entry in patch:
        place = next((index for index, old in enumerate(merged) if _key_of(old, key) == entry[key]), None)
        if entry.get(DIRECTIVE) == "delete":
            if place is not None:
                del merged[place]
        elif place is None:
            merged.append(strategic_merge({}, entry))
        else:
            merged[place] = strategic_merge(merged[place], entry)
    return merged


def _key_of(entry: Any, key: str) -> Any:
    return entry.get(key) if isinstance(entry, dict) else None
