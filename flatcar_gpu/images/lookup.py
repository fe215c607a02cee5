"""Which images of a list are there: many questions to registries at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING

from flatcar_gpu.errors import Unavailable
from flatcar_gpu.images.registry.errors import Denied, Missing, Unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from flatcar_gpu.errors import Failure
    from flatcar_gpu.images.reference import Reference
    from flatcar_gpu.images.registry.client import Registries


class State(StrEnum):
    """Whether nodes can pull an image. `unfit` is there, but not for the node's architecture."""

    PRESENT = "present"
    UNFIT = "unfit"
    MISSING = "missing"
    DENIED = "denied"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Lookup:
    """What is known of an image. `platforms` is empty where the image does not say or is not there."""

    reference: Reference
    state: State
    digest: str = ""
    platforms: tuple[str, ...] = ()
    message: str = ""
    hint: str = ""

    def on(self, architecture: str) -> Lookup:
        """The same for nodes of one architecture, as Go and Kubernetes call it."""
        fits = any(platform.split("/")[:2] == ["linux", architecture] for platform in self.platforms)
        if self.state is not State.PRESENT or fits or not self.platforms:
            return self
        message = f"{self.reference} is there for {', '.join(self.platforms)}, but not for linux/{architecture}"
        return replace(self, state=State.UNFIT, message=message)


def look_up(
    references: Iterable[Reference],
    registries: Registries,
    *,
    jobs: int = 8,
    platforms: bool = True,
    done: Callable[[], object] = lambda: None,
) -> dict[Reference, Lookup]:
    """Each reference with what its registry says; `jobs` are asked for at a time, `done` is called after each.

    Without `platforms` a single request of the cheapest kind is made for each, which no registry counts as a pull.
    What a registry answers is never an error here. Raises Failure where an auth file or helper is broken.
    """
    wanted = list(dict.fromkeys(references))
    todo: SimpleQueue[Reference] = SimpleQueue()
    results: SimpleQueue[Lookup | Exception] = SimpleQueue()
    for reference in wanted:
        todo.put(reference)
    stop = Event()
    # Daemons, not an executor: an interrupted program must not wait for the answers of slow registries.
    for _ in range(min(jobs, len(wanted))):
        Thread(target=_work, args=(todo, results, registries, platforms, stop), daemon=True).start()
    found: dict[Reference, Lookup] = {}
    try:
        for _ in wanted:
            result = results.get()
            if isinstance(result, Exception):
                raise result
            found[result.reference] = result
            done()
    finally:
        stop.set()
    return {reference: found[reference] for reference in wanted}


def _work(
    todo: SimpleQueue[Reference],
    results: SimpleQueue[Lookup | Exception],
    registries: Registries,
    platforms: bool,
    stop: Event,
) -> None:
    while not stop.is_set():
        try:
            reference = todo.get_nowait()
        except Empty:
            return
        try:
            results.put(_look_up(reference, registries, platforms))
        except Exception as error:
            results.put(error)


def with_neighbours(found: Mapping[Reference, Lookup], registries: Registries) -> dict[Reference, Lookup]:
    """The same, where images are missing with a hint that names tags like theirs; each repository is listed once."""
    missing = [lookup.reference for lookup in found.values() if lookup.state is State.MISSING]
    tags = {reference.name: reference for reference in missing}
    listed: dict[str, list[str]] = {}
    for name, reference in tags.items():
        try:
            listed[name] = registries.tags(reference)
        except Unavailable:
            listed[name] = []  # not all registries list tags for everybody; the finding stands without
    hints = {reference: _neighbours(reference, listed[reference.name]) for reference in missing}
    return {key: replace(value, hint=hints.get(key, value.hint)) for key, value in found.items()}


_SHOWN_NEIGHBOURS = 5


def _neighbours(reference: Reference, tags: list[str]) -> str:
    """Tags of the same driver, else for the same release, in a sentence."""
    version, _, suffix = reference.tag.rpartition("-")
    alike = [tag for tag in tags if tag.startswith(f"{version}-")] or [
        tag for tag in tags if tag.endswith(f"-{suffix}")
    ]
    if not alike:
        return ""
    more = f" and {len(alike) - _SHOWN_NEIGHBOURS} more" if len(alike) > _SHOWN_NEIGHBOURS else ""
    return f"the repository has {', '.join(alike[-_SHOWN_NEIGHBOURS:])}{more}"


def _look_up(reference: Reference, registries: Registries, platforms: bool) -> Lookup:
    try:
        if not platforms:
            return Lookup(reference, State.PRESENT, registries.describe(reference).digest)
        descriptor, found = registries.inspect(reference)
        return Lookup(reference, State.PRESENT, descriptor.digest, found)
    except Missing as failure:
        return _failed(reference, State.MISSING, failure)
    except Denied as failure:
        return _failed(reference, State.DENIED, failure)
    except Unknown as failure:
        return _failed(reference, State.UNKNOWN, failure)


def _failed(reference: Reference, state: State, failure: Failure) -> Lookup:
    return Lookup(reference, state, message=failure.message, hint=failure.hint)
