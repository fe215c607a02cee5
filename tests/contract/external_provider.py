"""An emulation of the provider hashicorp/external, for tests: Terraform itself and the program it runs are real.

Written from the protocol that docs/data-sources/external.md and data_source.go of terraform-provider-external describe;
the provider itself comes only from Terraform's registry. It needs the package `tf`.
"""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

schema, types = importlib.import_module("tf.schema"), importlib.import_module("tf.types")

FAILED = "External Program Execution Failed"
UNEXPECTED = "Unexpected External Program Results"


class External:
    """The data source `external`."""

    def __init__(self, provider: Any) -> None:
        pass

    @classmethod
    def get_name(cls) -> str:
        return ""

    @classmethod
    def get_schema(cls) -> Any:
        attribute, text = schema.Attribute, types.String()
        return schema.Schema(
            attributes=[
                attribute("program", types.List(text), required=True),
                attribute("working_dir", text, optional=True),
                attribute("query", types.Map(text), optional=True),
                attribute("result", types.Map(text), computed=True),
                attribute("id", text, computed=True),
            ]
        )

    def validate(self, diags: Any, type_name: str, config: Any) -> None:
        pass

    def read(self, ctx: Any, config: dict[str, Any]) -> dict[str, Any] | None:
        program = [word for word in config["program"] if word]
        found = shutil.which(program[0])
        if found is None:
            ctx.diagnostics.add_error("External Program Lookup Failed", f"Program: {program[0]}", path=["program"])
            return None
        done = subprocess.run(
            [str(Path(found).absolute()), *program[1:]],
            input=_query(config.get("query") or {}),
            capture_output=True,
            cwd=config.get("working_dir") or None,
        )
        if done.returncode:
            said = done.stderr.decode(errors="replace") or "the program was executed, but said nothing"
            detail = f"Program: {found}\nError Message: {said}\nState: exit status {done.returncode}"
            ctx.diagnostics.add_error(FAILED, detail, path=["program"])
            return None
        try:
            result = json.loads(done.stdout)
        except ValueError as error:
            ctx.diagnostics.add_error(UNEXPECTED, f"Program: {found}\nResult Error: {error}", path=["program"])
            return None
        if not isinstance(result, dict) or not all(isinstance(value, str) for value in result.values()):
            ctx.diagnostics.add_error(UNEXPECTED, f"Program: {found}\nResult Error: not all texts", path=["program"])
            return None
        return {**config, "result": result, "id": "-"}


def _query(query: dict[str, str | None]) -> bytes:
    """As Go's encoder writes it: compact, keys sorted, without nulls, with some characters escaped."""
    given = {key: value for key, value in sorted(query.items()) if value is not None}
    text = json.dumps(given, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode()


class Provider:
    """The provider `external`."""

    def full_name(self) -> str:
        return "registry.terraform.io/hashicorp/external"

    def get_model_prefix(self) -> str:
        return "external"

    def get_provider_schema(self, diags: Any) -> Any:
        return schema.Schema(attributes=[])

    def validate_config(self, diags: Any, config: Any) -> None:
        pass

    def configure_provider(self, diags: Any, config: Any) -> None:
        pass

    def get_data_sources(self) -> list[type]:
        return [External]

    def get_resources(self) -> list[type]:
        return []

    def get_functions(self) -> list[type]:
        return []

    def new_data_source(self, kind: type) -> Any:
        return kind(self)


if __name__ == "__main__":
    importlib.import_module("tf.runner").run_provider(Provider())
