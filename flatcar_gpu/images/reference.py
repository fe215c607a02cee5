"""References to images, by the grammar that container runtimes and the kubelet use."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from flatcar_gpu.errors import Failure

TAG_LIMIT = 128
NAME_LIMIT = 255
"""Characters of registry and repository together. Sources: opencontainers/distribution-spec v1.1.1; distribution's
reference package."""

DOCKER_HUB = "docker.io"

_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_COMPONENT = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REPOSITORY = re.compile(rf"{_COMPONENT}(?:/{_COMPONENT})*")
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_REGISTRY = re.compile(rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{{1,5}})?")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")


@dataclass(frozen=True, slots=True)
class Reference:
    """A normalised reference: the registry is always named, a repository of Docker Hub's own begins with `library/`.

    `tag` and `digest` are empty where there is none. Where both are given, runtimes go by the digest.
    """

    registry: str
    repository: str
    tag: str = ""
    digest: str = ""

    @property
    def name(self) -> str:
        return f"{self.registry}/{self.repository}"

    @property
    def wanted(self) -> str:
        """What a registry is asked for: the digest, the tag, or what stands for no tag at all."""
        return self.digest or self.tag or "latest"

    def __str__(self) -> str:
        return self.name + (f":{self.tag}" if self.tag else "") + (f"@{self.digest}" if self.digest else "")


def parse_reference(text: str) -> Reference:
    """The reference that `text` is, normalised: `driver:1` is `docker.io/library/driver:1`.

    Raises Failure where a runtime would refuse it, and says which part is wrong.
    """
    if "://" in text:
        raise _wrong(text, "it begins with a scheme", hint=f"leave out {text.partition('://')[0]}://")
    rest, at, digest = text.partition("@")
    if at and not is_digest(digest):
        raise _wrong(text, f"{digest!r} is not a digest", hint="a digest is sha256: and 64 hexadecimal digits")
    name, colon, tag = rest.rpartition(":")
    if not colon or "/" in tag:  # the last colon is a registry's port
        name, tag, colon = rest, "", ""
    if colon:
        check_tag(text, tag)
    return replace(parse_name(name, text), tag=tag, digest=digest)


def parse_name(name: str, text: str = "") -> Reference:
    """The reference without tag and digest that `name` is; `text` is what to call it in an error.

    Raises Failure where a runtime would refuse it.
    """
    text = text or name
    first, slash, others = name.partition("/")
    if slash and (any(mark in first for mark in ".:[") or first == "localhost" or first != first.lower()):
        registry, repository = first, others
    else:
        registry, repository = DOCKER_HUB, name
    if registry in ("index.docker.io", DOCKER_HUB):
        registry = DOCKER_HUB
        repository = repository if "/" in repository else f"library/{repository}"
    if not _REGISTRY.fullmatch(registry):
        raise _wrong(text, f"{registry!r} is not a host, or a host and port")
    if not _REPOSITORY.fullmatch(repository):
        lower = "write it in lower case" if _REPOSITORY.fullmatch(repository.lower()) else ""
        raise _wrong(text, f"{repository.removeprefix('library/')!r} is not the name of a repository", hint=lower)
    reference = Reference(registry, repository)
    if len(reference.name) > NAME_LIMIT:
        raise _wrong(text, f"its name is {len(reference.name)} characters long, registries allow {NAME_LIMIT}")
    return reference


def check_tag(text: str, tag: str) -> None:
    """Raise Failure where `tag`, part of the reference `text`, is none that registries take."""
    if len(tag) > TAG_LIMIT:
        says = f"the tag is {len(tag)} characters long, registries allow {TAG_LIMIT}"
        raise _wrong(text, says, hint="shorten the driver version, or pin the image by its digest")
    if not _TAG.fullmatch(tag):
        hint = "a tag has letters, digits, '_', '.' and '-', and begins with neither '.' nor '-'"
        raise _wrong(text, f"{tag!r} is not a tag" if tag else "the tag is empty", hint=hint)


def is_digest(text: str) -> bool:
    return _DIGEST.fullmatch(text) is not None


def _wrong(text: str, why: str, hint: str = "") -> Failure:
    return Failure(f"{text!r} is not an image reference: {why}", hint)
