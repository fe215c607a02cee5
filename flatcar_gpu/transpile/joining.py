"""Several configs joined to one, with problems of the whole said of the file that they come from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from flatcar_gpu.report import Problem, Report, Severity
from flatcar_gpu.transpile.merge import key, merge
from flatcar_gpu.transpile.paths import Path, parsed
from flatcar_gpu.transpile.schema import Kind, Struct, latest
from flatcar_gpu.transpile.validation import validate_ignition

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flatcar_gpu.transpile.documents import Document

Tree = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Joined:
    """The config of all documents together, and what is wrong with the whole."""

    config: Tree
    report: Report
    documents: tuple[Document, ...]

    def attributed(self, problem: Problem) -> Problem:
        """A problem of the joined config (at a path in it) as one of the document that the part came from."""
        path = parsed(problem.path)
        for document in reversed(self.documents):
            own = _path_in(document.config, self.config, path)
            if own is not None and document.places is not None:
                shown, position = document.places.of(own)
                return replace(problem, path=shown, position=position, file=document.name)
        return problem


def join(documents: Sequence[Document]) -> Joined:
    """Merge the documents' configs, each the child of those before it, and check the whole once more.

    The result has the newest Ignition version among them. None of them may have errors.
    """
    config, *others = (document.config for document in documents)
    report = Report()
    for document, child in zip(documents[1:], others, strict=True):
        report.extend(_stale_hashes(document, config))
        config = merge(config, child)
    newest = max((each.config["ignition"]["version"] for each in documents), key=_version_order)
    config = config | {"ignition": {**config["ignition"], "version": newest}}
    joined = Joined(config, report, tuple(documents))
    known = {_said(problem) for document in documents for problem in document.report}
    for problem in validate_ignition(config).report:
        attributed = joined.attributed(problem)
        # A document's own warnings were reported with it.
        if _said(attributed) not in known:
            report.add(attributed)
    return joined


def _said(problem: Problem) -> tuple[str, str, str]:
    return problem.file, problem.path, problem.message


def _version_order(version: str) -> tuple[tuple[int, ...], bool]:
    numbers, _, experimental = version.partition("-")
    return tuple(int(number) for number in numbers.split(".")), not experimental


def _path_in(tree: Any, joined: Any, path: Path) -> Path | None:
    """Where in `tree`, one of the configs that were joined, the part at `path` of the joined config is.

    A part that is nowhere in it but in an item that is counts as at that item; None where not even that is.
    """
    struct: Struct | None = latest().config
    item: Struct | None = None
    found: list[str | int] = []
    for part in path:
        if isinstance(part, int):
            wanted = key(joined[part], item)
            index = next((at for at, entry in enumerate(tree) if key(entry, item) == wanted), None)
            if index is None:
                return None
            found.append(index)
            tree, joined, struct = tree[index], joined[part], item
            continue
        field = struct.ignition.get(part) if struct else None
        if not isinstance(tree, dict) or part not in tree or part not in joined:
            return tuple(found) if any(isinstance(step, int) for step in found) else None
        found.append(part)
        tree, joined = tree[part], joined[part]
        of = field.type.item if field and field.type.kind is Kind.LIST else None
        item = of.struct if of else None
        struct = field.type.struct if field else None
    return tuple(found)


def _stale_hashes(document: Document, parent: Tree) -> Iterator[Problem]:
    """Resources of which the document changes the source and keeps the hash that was meant for another."""
    for path in _resources_with_stale_hash(parent, document.config, latest().config, ()):
        shown, position = document.places.of(path) if document.places else ("", None)
        yield Problem(
            Severity.WARNING,
            "the source is replaced, but the hash of the config before it stays: the node refuses the contents",
            path=shown,
            position=position,
            file=document.name,
            hint="give verification.hash for the new source as well",
        )


def _resources_with_stale_hash(parent: Tree, child: Tree, struct: Struct, path: Path) -> Iterator[Path]:
    if struct.name == "Resource":
        changed = child.get("source") not in (None, parent.get("source"))
        if changed and _hash(parent) and not _hash(child):
            yield (*path, "source")
        return
    for name, field in struct.ignition.items():
        old, new = parent.get(name), child.get(name)
        if not old or not new:
            continue
        if field.type.kind is Kind.OBJECT and field.type.struct:
            yield from _resources_with_stale_hash(old, new, field.type.struct, (*path, name))
        of = field.type.item.struct if field.type.kind is Kind.LIST and field.type.item else None
        # Resources in a list are known by their source: another source is another resource.
        if of is None or of.name == "Resource":
            continue
        before = {key(entry, of): entry for entry in old}
        for index, entry in enumerate(new):
            if key(entry, of) in before:
                yield from _resources_with_stale_hash(before[key(entry, of)], entry, of, (*path, name, index))


def _hash(resource: Tree) -> Any:
    return (resource.get("verification") or {}).get("hash")
