"""Butane trees as YAML text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from flatcar_gpu.node.parts import Octal

if TYPE_CHECKING:
    from flatcar_gpu.node.parts import Tree


class _Dumper(yaml.CSafeDumper):
    """Octal modes, texts of several lines as literal blocks, no anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


_Dumper.add_representer(Octal, lambda dumper, mode: dumper.represent_scalar("tag:yaml.org,2002:int", f"0{mode:o}"))
_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None),
)


def butane_text(tree: Tree, comment: str = "") -> bytes:
    """`tree` as YAML, below `comment` (text, without the `#`)."""
    head = "".join(f"# {line}".rstrip() + "\n" for line in comment.splitlines())
    body: str = yaml.dump(tree, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000)
    return (head + body).encode()
