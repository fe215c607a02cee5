"""A stream of Kubernetes manifests as text: its documents, and the workloads in them."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import yaml

from flatcar_gpu.errors import InvalidInput
from flatcar_gpu.report import Position, Problem, Report, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

Path = tuple[str | int, ...]

POD_SPECS: dict[str, Path] = {
    "DaemonSet": ("spec", "template", "spec"),
    "Deployment": ("spec", "template", "spec"),
    "StatefulSet": ("spec", "template", "spec"),
    "ReplicaSet": ("spec", "template", "spec"),
    "ReplicationController": ("spec", "template", "spec"),
    "Job": ("spec", "template", "spec"),
    "CronJob": ("spec", "jobTemplate", "spec", "template", "spec"),
    "Pod": ("spec",),
}
"""Where a pod spec is in each kind that has one."""

# These lines end a document wherever they stand, even in the middle of a block scalar. YAML 1.2, 9.1.
_BOUNDARY = re.compile(r"^\ufeff?(?:---|\.\.\.)(?=[ \t\r\n]|\Z)", re.MULTILINE)
_CONTENT = re.compile(r"^(?!\ufeff?(?:---|\.\.\.)?[ \t]*(?:#[^\n]*)?\r?$)", re.MULTILINE)
_WORKLOAD = re.compile(r"\bkind[\"']?\s*:\s*[\"']?(?:\w*List|" + "|".join(POD_SPECS) + r")\b")


class Loader(yaml.CSafeLoader):
    """YAML as Kubernetes reads it: no dates, no numbers to base 60, no `=` type."""


Loader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern)
        for tag, pattern in resolvers
        if tag.rpartition(":")[2] not in ("timestamp", "value", "int", "float")
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile(r"[-+]?(?:0|[1-9]\d*|0[0-7]+|0x[0-9a-fA-F]+)\Z"), "-+0123456789"
)
Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?\Z"),
    "-+.0123456789",
)


@dataclass(frozen=True)
class Document:
    """A document of a stream. `number` counts the documents that have content, `line` is the line it begins on."""

    number: int
    line: int
    text: str
    file: str

    @property
    def is_empty(self) -> bool:
        """Whether it has nothing but comments and blank lines."""
        return _CONTENT.search(self.text) is None

    @property
    def body(self) -> str:
        """The text without a `...` that ends the document before."""
        return "#" + self.text[1:] if self.text.startswith("...") else self.text

    @cached_property
    def node(self) -> yaml.Node | None:
        """The nodes of the document, with their places in `body`.

        Raises InvalidInput where it is no YAML.
        """
        with self._errors():
            node: yaml.Node | None = yaml.compose(self.body, Loader)
            return node

    @cached_property
    def data(self) -> Any:
        """What the document says.

        Raises InvalidInput where it is no YAML, or has types that Kubernetes does not know.
        """
        node = self.node
        with self._errors():
            return construct(node)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line, column = (mark.line, mark.column) if mark else (0, 0)
            problem = error.problem or error.context
        except yaml.reader.ReaderError as error:
            # libyaml counts bytes.
            before = self.body.encode()[: error.position].decode(errors="ignore")
            line, column = before.count("\n"), len(before) - (before.rfind("\n") + 1)
            problem = f"{error.reason} (character number {error.character})"
        else:
            return
        message = f"document {self.number} is no YAML for Kubernetes: {problem}"
        place = Position(self.line + line, column + 1)
        excerpt = {self.file: "\n" * (self.line - 1) + self.body}
        raise InvalidInput(Report([Problem(Severity.ERROR, message, "", place, self.file)]), excerpt)


@dataclass(frozen=True, slots=True)
class Workload:
    """Something with a pod spec, and its place: in `document`, at `path` where that is a list of objects."""

    document: Document
    path: Path
    tree: dict[str, Any]

    @property
    def kind(self) -> str:
        return str(self.tree["kind"])

    @property
    def name(self) -> str:
        return str(member(self.tree, "metadata", "name"))

    @property
    def namespace(self) -> str | None:
        found = member(self.tree, "metadata", "namespace")
        return str(found) if found else None

    @property
    def line(self) -> int:
        """The line that it begins on."""
        node: Any = self.document.node
        for key in self.path:
            if isinstance(key, int):
                node = node.value[key]
            else:
                node = next(value for name, value in node.value if name.value == key)
        return self.document.line + int(node.start_mark.line)

    @property
    def pod_path(self) -> Path:
        return (*self.path, *POD_SPECS[self.kind])

    def __str__(self) -> str:
        where = f" in namespace {self.namespace}" if self.namespace else ""
        return f"{self.kind} {self.name}{where}"


def split(text: str, file: str) -> list[Document]:
    """The documents of `text`; joined, their texts are `text` again."""
    starts = [0, *(match.start() for match in _BOUNDARY.finditer(text) if match.start()), len(text)]
    documents: list[Document] = []
    number, line = 0, 1
    for start, end in pairwise(starts):
        document = Document(number + 1, line, text[start:end], file)
        number += not document.is_empty
        line += document.text.count("\n")
        documents.append(document)
    return documents


def may_hold_workload(document: Document, name: str) -> bool:
    """Whether it is worth parsing the document to look for a workload of that name."""
    return name in document.text and _WORKLOAD.search(document.text) is not None


def workloads(document: Document) -> Iterator[Workload]:
    """The workloads in a document, those in a List included.

    Raises InvalidInput where it is no YAML.
    """
    for path, tree in _objects(document.data, ()):
        kind, name = tree.get("kind"), member(tree, "metadata", "name")
        if isinstance(kind, str) and kind in POD_SPECS and isinstance(name, str):
            yield Workload(document, path, tree)


def construct(node: yaml.Node | None) -> Any:
    """The data of composed nodes."""
    if node is None:
        return None
    loader = Loader("")
    try:
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _objects(tree: Any, path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    if not isinstance(tree, dict):
        return
    items = tree.get("items")
    if str(tree.get("kind")).endswith("List") and isinstance(items, list):
        for index, item in enumerate(items):
            yield from _objects(item, (*path, "items", index))
    else:
        yield path, tree


def member(tree: Any, *keys: str) -> Any:
    """What is at `keys` below `tree`; None where the way there ends."""
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree
