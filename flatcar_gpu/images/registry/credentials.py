"""Credentials as Docker, podman and skopeo keep them: auth files and credential helpers.

Sources: containers-auth.json(5); the configuration file of the Docker CLI; docker-credential-helpers' protocol.
"""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from flatcar_gpu.errors import Failure
from flatcar_gpu.images.reference import DOCKER_HUB

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_DOCKER_HUB_KEY = "https://index.docker.io/v1/"
_HELPER_TIMEOUT = 60.0
"""Seconds; a helper may have to ask the user to unlock a key ring."""


class Secret(Enum):
    """What a secret is good for."""

    PASSWORD = auto()
    IDENTITY_TOKEN = auto()
    REGISTRY_TOKEN = auto()


@dataclass(frozen=True, slots=True)
class Credential:
    """What to show to a registry; `origin` says where it was found. The secret is in no text made of this."""

    origin: str
    username: str
    secret: str = field(repr=False)
    kind: Secret = Secret.PASSWORD

    @property
    def basic(self) -> str:
        """Value of an Authorization header."""
        return "Basic " + base64.b64encode(f"{self.username}:{self.secret}".encode()).decode()


class CredentialStore:
    """Looks credentials up in the auth file given, else where the tools keep them. Each file is read once."""

    def __init__(self, authfile: str | None = None, environment: Mapping[str, str] | None = None) -> None:
        self._environment = os.environ if environment is None else environment
        self._authfile = authfile or self._environment.get("REGISTRY_AUTH_FILE") or None
        self._files: list[tuple[str, Mapping[str, Any]]] | None = None
        self._lock = Lock()

    def find(self, registry: str, repository: str) -> Credential | None:
        """Credentials for the repository, None where nothing has any.

        Raises Failure where a file or helper that has to be asked is broken.
        """
        with self._lock:
            if self._files is None:
                self._files = list(self._read())
        for path, content in self._files:
            if credential := _in_file(path, content, registry, repository):
                return credential
        return None

    def _read(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        if self._authfile is not None:
            yield self._authfile, _content(Path(self._authfile))
            return
        for path in self._places():
            if path.is_file():
                yield str(path), _content(path)

    def _places(self) -> Iterator[Path]:
        if runtime := self._environment.get("XDG_RUNTIME_DIR"):
            yield Path(runtime, "containers", "auth.json")
        home = self._environment.get("HOME", "")
        if config := self._environment.get("XDG_CONFIG_HOME") or (home and f"{home}/.config"):
            yield Path(config, "containers", "auth.json")
        if docker := self._environment.get("DOCKER_CONFIG") or (home and f"{home}/.docker"):
            yield Path(docker, "config.json")


def _content(path: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise Failure(f"cannot read the auth file {path}: {error.strerror}") from None
    except ValueError:
        raise Failure(f"the auth file {path} is not JSON", hint="`docker login` or `podman login` writes one") from None
    if not isinstance(content, dict):
        raise Failure(f"the auth file {path} is not a JSON object")
    return content


def _in_file(path: str, content: Mapping[str, Any], registry: str, repository: str) -> Credential | None:
    hosts = [registry, "index.docker.io"] if registry == DOCKER_HUB else [registry]
    helpers = _object(content, "credHelpers", path)
    helper = next((helpers[host] for host in hosts if host in helpers), content.get("credsStore"))
    if helper:
        server = _DOCKER_HUB_KEY if registry == DOCKER_HUB else registry
        return _from_helper(str(helper), server, path)
    entries = {_key(name): entry for name, entry in _object(content, "auths", path).items()}
    for host in hosts:
        for key in _keys(host, repository):
            if isinstance(entry := entries.get(key), dict) and (credential := _from_entry(entry, key, path)):
                return credential
    return None


def _object(content: Mapping[str, Any], key: str, path: str) -> Mapping[str, Any]:
    value = content.get(key) or {}
    if not isinstance(value, dict):
        raise Failure(f"{key} in the auth file {path} is not an object")
    return value


def _key(name: str) -> str:
    """Docker writes `https://host/v1/` for some hosts, podman `host` or `host/namespace`."""
    if "://" in name:
        return name.partition("://")[2].partition("/")[0]
    return name.rstrip("/")


def _keys(host: str, repository: str) -> list[str]:
    """Keys that cover the repository, the narrowest first."""
    parts = repository.split("/")
    return [f"{host}/{'/'.join(parts[:length])}" for length in range(len(parts), 0, -1)] + [host]


def _from_entry(entry: Mapping[str, Any], key: str, path: str) -> Credential | None:
    for name, kind in (("registrytoken", Secret.REGISTRY_TOKEN), ("identitytoken", Secret.IDENTITY_TOKEN)):
        if token := entry.get(name):
            return Credential(path, "<token>", str(token), kind)
    if auth := entry.get("auth"):
        try:
            username, colon, password = base64.b64decode(str(auth), validate=True).decode().partition(":")
        except ValueError:
            colon = ""
        if not colon:
            raise Failure(
                f"the credentials of {key} in {path} are damaged: auth is not base64 of a user name and a password",
                hint=f"log in to {key.partition('/')[0]} again",
            )
        return Credential(path, username, password.rstrip("\0"))
    if entry.get("username") and entry.get("password"):
        return Credential(path, str(entry["username"]), str(entry["password"]))
    return None


def _from_helper(name: str, server: str, path: str) -> Credential | None:
    program = f"docker-credential-{name}"
    if not re.fullmatch(r"[A-Za-z0-9._-]+", name):
        raise Failure(f"{path} names a credential helper that cannot be a program: {name!r}")
    try:
        done = subprocess.run(
            [program, "get"], input=server.encode(), capture_output=True, timeout=_HELPER_TIMEOUT, check=False
        )
    except OSError as error:
        raise Failure(
            f"{path} names the credential helper {program}, which cannot be run: {error.strerror}",
            hint="install it, or give another file with --authfile",
        ) from None
    except subprocess.TimeoutExpired:
        raise Failure(f"the credential helper {program} did not answer within {_HELPER_TIMEOUT:g} seconds") from None
    if done.returncode:
        # The one answer that is no failure; what else a helper prints may hold secrets and is not shown.
        if b"credentials not found" in (done.stdout + done.stderr).lower():
            return None
        raise Failure(f"the credential helper {program} failed with exit code {done.returncode}")
    try:
        answer = json.loads(done.stdout)
        username, secret = str(answer["Username"]), str(answer["Secret"])
    except (ValueError, KeyError, TypeError):
        raise Failure(f"the credential helper {program} answered with something that is not credentials") from None
    kind = Secret.IDENTITY_TOKEN if username == "<token>" else Secret.PASSWORD
    return Credential(program, username, secret, kind)
