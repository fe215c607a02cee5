"""Manifests and tags of any number of registries, by the distribution API (opencontainers/distribution-spec v1.1.1)."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from flatcar_gpu.images.reference import DOCKER_HUB, Reference, is_digest
from flatcar_gpu.images.registry.authorization import Authorizer
from flatcar_gpu.images.registry.errors import Denied, Missing, Unknown, Unreachable
from flatcar_gpu.images.registry.transport import NotTls, Transport, is_loopback, origin, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from flatcar_gpu.images.registry.credentials import CredentialStore
    from flatcar_gpu.images.registry.transport import Answer, Settings

INDEXES = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
MANIFESTS = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
# Without all four, registries answer 404 for images that they have in another form.
_ACCEPT = {"Accept": ", ".join(INDEXES + MANIFESTS)}
_MISSING_CODES = frozenset({"MANIFEST_UNKNOWN", "NAME_UNKNOWN", "NOT_FOUND"})
_PLATFORM_KEYS = ("os", "architecture", "variant")
_PAGES = 100
"""Of tags; a registry whose pages do not end is asked no longer."""


@dataclass(frozen=True, slots=True)
class Descriptor:
    """What a tag is: the digest to pin it by, and the media type of the manifest or index behind it."""

    digest: str
    media_type: str


class Registries:
    """Asks registries about images; one object serves all threads and keeps connections and tokens."""

    def __init__(
        self, settings: Settings, credentials: CredentialStore, trace: Callable[[str], None] | None = None
    ) -> None:
        self._transport = Transport(settings, trace)
        self._authorizer = Authorizer(self._transport, credentials)
        self._roots: dict[str, str | Unreachable] = {}
        self._configurations: dict[tuple[str, str], dict[str, Any]] = {}
        self._lock = Lock()
        self.warnings: dict[str, None] = {}
        """What registries asked to be told to their users (header Warning, code 299), in order."""

    def describe(self, reference: Reference) -> Descriptor:
        """What the reference is. Raises Missing, Denied or Unknown, each saying why."""
        answer = self._manifest("HEAD", reference)
        # A HEAD has no body to tell a missing image from a web server's own 404, and some servers do not take HEAD.
        if answer.status in (400, 405) or (answer.status == 404 and "json" not in answer.media_type):
            answer = self._manifest("GET", reference)
        self._check(answer, reference)
        digest = answer.headers.get("Docker-Content-Digest", "")
        if not is_digest(digest):
            answer = answer if answer.body else self._manifest("GET", reference)
            self._check(answer, reference)
            digest = _verified(answer, reference)
        if reference.digest and digest != reference.digest:
            raise Unknown(f"{reference.registry} answers with {digest} when asked for {reference.digest}")
        return Descriptor(digest, answer.media_type)

    def inspect(self, reference: Reference) -> tuple[Descriptor, tuple[str, ...]]:
        """What the reference is, and the platforms it is for, such as `linux/amd64`, sorted; none if it does not say.

        Two requests where `describe` needs one, but Docker Hub counts the first as a pull. Raises as `describe` does.
        """
        answer = self._manifest("GET", reference)
        self._check(answer, reference)
        digest = _verified(answer, reference)
        try:
            platforms = self._platforms_of(reference, _object(answer))
        except (AttributeError, TypeError, KeyError):
            raise Unknown(f"what {reference.registry} sends as {reference} is not a manifest") from None
        return Descriptor(digest, answer.media_type), tuple(sorted(platforms))

    def tags(self, reference: Reference) -> list[str]:
        """All tags of the reference's repository, sorted; registries need not sort them. Raises as `describe` does."""
        url = f"{self._root(reference.registry)}/v2/{reference.repository}/tags/list?n=1000"
        found: list[str] = []
        for _ in range(_PAGES):
            answer = self._send("GET", url, reference, {"Accept": "application/json"})
            self._check(answer, reference)
            found += [str(tag) for tag in _object(answer).get("tags") or []]
            following = _next_page(answer)
            if not following:
                break
            if origin(following) != origin(url):
                raise Unknown(f"{reference.registry} sends to {shown(following)} for more tags, which is not its own")
            url = following
        return sorted(set(found))

    def _platforms_of(self, reference: Reference, manifest: dict[str, Any]) -> set[str]:
        if "manifests" in manifest:
            listed = [entry.get("platform") or {} for entry in manifest["manifests"]]
            return {_platform(platform) for platform in listed if platform.get("os") not in (None, "unknown")}
        digest = str((manifest.get("config") or {}).get("digest", ""))
        if not is_digest(digest):
            raise Unknown(f"the manifest of {reference} names no configuration")
        key = reference.name, digest
        if key not in self._configurations:
            self._configurations[key] = self._configuration(reference, digest)
        config = self._configurations[key]
        return {_platform(config)} if config.get("os") else set()

    def _configuration(self, reference: Reference, digest: str) -> dict[str, Any]:
        """What of an image's configuration tells its platform."""
        url = f"{self._root(reference.registry)}/v2/{reference.repository}/blobs/{digest}"
        answer = self._send("GET", url, reference, {})
        self._check(answer, reference)
        if _hash(digest, answer.body) != digest:
            raise Unknown(f"{reference.registry} sends a configuration of {reference} that does not match its digest")
        config = _object(answer)
        return {key: config[key] for key in _PLATFORM_KEYS if config.get(key)}

    def _manifest(self, method: str, reference: Reference) -> Answer:
        url = f"{self._root(reference.registry)}/v2/{reference.repository}/manifests/{reference.wanted}"
        return self._send(method, url, reference, _ACCEPT)

    def _send(self, method: str, url: str, reference: Reference, headers: dict[str, str]) -> Answer:
        try:
            answer = self._authorizer.send(method, url, headers, reference.registry, reference.repository)
        except NotTls:
            raise _not_tls(reference.registry) from None
        except Unreachable as failure:
            self._roots[reference.registry] = failure
            raise
        warning = answer.headers.get("Warning", "")
        if warning.startswith("299 "):
            text = warning.partition('"')[2].rpartition('"')[0] or warning
            self.warnings[f"{reference.registry} says: {text}"] = None
        return answer

    def _root(self, registry: str) -> str:
        """Where the API of a registry is. Raises Unreachable at once where it has been found to be."""
        root = self._roots.get(registry)
        if root is None:
            with self._lock:
                root = self._roots.get(registry) or self._find_root(registry)
                self._roots[registry] = root
        if isinstance(root, Unreachable):
            raise root
        return root

    def _find_root(self, registry: str) -> str | Unreachable:
        host = "registry-1.docker.io" if registry == DOCKER_HUB else registry
        url = f"https://{host}"
        if is_loopback(url) or not self._transport.settings.tls_verify:
            try:
                self._transport.send("GET", f"{url}/v2/", {})
            except NotTls:
                return f"http://{host}"
            except Unreachable as failure:
                return self._plain_root(host) or failure
            except Unknown:
                return url  # it speaks TLS; what else is wrong, each question finds out
        return url

    def _plain_root(self, host: str) -> str:
        """Where a registry without a port in its name answers that has plain http alone, on a port of its own."""
        url = f"http://{host}"
        if urlsplit(url).port is not None:
            return ""
        try:
            self._transport.send("GET", f"{url}/v2/", {})
        except Unknown:
            return ""
        return url

    @staticmethod
    def _check(answer: Answer, reference: Reference) -> None:
        """Raise what an answer means unless it has what was asked for."""
        if answer.status == 200 and answer.media_type not in ("text/html", "application/xhtml+xml"):
            return
        codes = _codes(answer)
        if "html" in answer.media_type:
            raise Unknown(
                f"{reference.registry} answers {answer.said} with a web page, not as a registry does",
                hint="is it the registry's name, or is there a proxy in between that wants a login?",
            )
        if answer.status == 404 and (not codes or codes & _MISSING_CODES):
            raise Missing(f"{reference} is missing: the registry has no such image")
        if answer.status == 403 or "DENIED" in codes:
            raise Denied(f"{reference.registry} gives no access to {reference}, or there is no such image")
        raise Unknown(f"{reference.registry} answers {answer.said} when asked for {reference}")


def _not_tls(registry: str) -> Unreachable:
    return Unreachable(
        f"{registry} does not speak TLS",
        hint="--no-tls-verify allows plain http, which anybody on the way can read and change",
    )


def _verified(answer: Answer, reference: Reference) -> str:
    """The digest of the manifest in an answer. Raises Unknown where it is not the one asked for or announced."""
    announced = answer.headers.get("Docker-Content-Digest", "")
    for expected in filter(is_digest, (reference.digest, announced)):
        if _hash(expected, answer.body) != expected:
            raise Unknown(f"{reference.registry} sends a manifest of {reference} that does not match its digest")
    if _object(answer).get("schemaVersion") != 2:
        raise Unknown(f"what {reference.registry} sends as {reference} is not a manifest of schema version 2")
    return reference.digest or (announced if is_digest(announced) else _hash("sha256:", answer.body))


def _hash(digest: str, data: bytes) -> str:
    algorithm = digest.partition(":")[0]
    return f"{algorithm}:{hashlib.new(algorithm, data).hexdigest()}"


def _object(answer: Answer) -> dict[str, Any]:
    try:
        content = json.loads(answer.body)
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise Unknown(f"{shown(answer.url)} answers with something that is not a JSON object")
    return content


def _codes(answer: Answer) -> set[str]:
    """The error codes of the distribution specification in an answer."""
    try:
        return {str(error["code"]) for error in json.loads(answer.body)["errors"]}
    except (ValueError, KeyError, TypeError):
        return set()


def _platform(entry: dict[str, Any]) -> str:
    return "/".join(str(entry[key]) for key in _PLATFORM_KEYS if entry.get(key))


def _next_page(answer: Answer) -> str:
    from requests.utils import parse_header_links

    links = parse_header_links(answer.headers.get("Link", ""))
    return next((urljoin(answer.url, link["url"]) for link in links if link.get("rel") == "next"), "")
