"""The declared fields and the tables made of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flatcar_gpu.transpile.schema import VERSIONS, Kind, Struct, butane_names, camel_case, schema
from tests.shared_data import require_shared


def _keys(struct: Struct) -> int:
    return sum(
        1 + (_keys(nested) if nested else 0)
        for field in struct.fields.values()
        for nested in [(field.type.item or field.type).struct]
    )


def test_every_version_has_as_many_keys_as_butane() -> None:
    assert {name: _keys(schema(name).config) for name in VERSIONS} == {
        "1.0.0": 188,
        "1.1.0": 194,
        "1.2.0-experimental": 213,
    }


@pytest.mark.parametrize(
    ("butane", "ignition"),
    [("path", "path"), ("size_mib", "sizeMiB"), ("type_guid", "typeGuid"), ("http_headers", "httpHeaders")],
)
def test_ignition_spells_keys_in_camel_case(butane: str, ignition: str) -> None:
    assert camel_case(butane) == ignition
    assert butane_names()[ignition] == butane


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(require_shared("data/butane-fields.json").read_text())
    return fields


@pytest.mark.parametrize("version", VERSIONS)
def test_the_tables_are_those_recorded_from_butane(version: str, recorded: dict[str, Any]) -> None:
    tables = schema(version)
    assert tables.version.ignition == recorded[version]["ignition"]
    _compare(recorded[version]["yaml"], tables.config)
    for name, members in recorded[version]["json_key_order"].items():
        struct = tables.structs[name]
        assert list(struct.ignition) == [member["key"] for member in members]
        for member in members:
            field = struct.ignition[member["key"]]
            # 3.3 may leave out its own version, but no config that is made here does.
            if field.type.kind not in (Kind.OBJECT, Kind.LIST) and field.json != "version":
                assert field.always is not member["omitempty"], (name, member)


def _compare(fields: dict[str, Any], struct: Struct) -> None:
    assert list(struct.fields) == list(fields)
    for name, wanted in fields.items():
        field = struct.fields[name]
        item = field.type.item
        assert (f"list of {item.kind.value}" if item else field.type.kind.value) == wanted["type"]
        if wanted.get("butane_only"):
            assert not field.json, name
        if field.type.kind not in (Kind.OBJECT, Kind.LIST):
            assert field.optional is not wanted.get("plain_zero", False), name
        if "fields" in wanted:
            nested = (item or field.type).struct
            assert nested is not None
            assert nested.name == wanted["struct"]
            _compare(wanted["fields"], nested)
