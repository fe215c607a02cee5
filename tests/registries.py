"""Real registries for tests: Debian's docker-registry on loopback, and a server that issues tokens for it."""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import subprocess
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import requests

from tests.tools import require_tool

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OCI_INDEX = "application/vnd.oci.image.index.v1+json"
OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
USER, PASSWORD = "alice", "correct horse"


@dataclass
class Registry:
    """A registry that runs; `host` is where, as in a reference."""

    host: str
    scheme: str = "http"
    ca_file: str = ""
    tokens: TokenServer | None = None
    _session: requests.Session = field(default_factory=requests.Session)

    def push(self, repository: str, tag: str, architecture: str = "amd64", salt: str = "") -> str:
        """Put an image for one architecture there; its digest. It has no layers, only a configuration."""
        config = json.dumps({"os": "linux", "architecture": architecture, "salt": salt}).encode()
        manifest = {
            "schemaVersion": 2,
            "mediaType": OCI_MANIFEST,
            "config": {
                "mediaType": "application/vnd.oci.image.config.v1+json",
                "digest": self._blob(repository, config),
                "size": len(config),
            },
            "layers": [],
        }
        return self._manifest(repository, tag, manifest)

    def push_index(self, repository: str, tag: str, *architectures: str) -> str:
        """Put an image for several architectures there; the digest of its index."""
        entries = []
        for architecture in architectures:
            digest = self.push(repository, f"{tag}-{architecture}", architecture)
            platform = {"os": "linux", "architecture": architecture}
            entries.append({"mediaType": OCI_MANIFEST, "digest": digest, "size": 1, "platform": platform})
        attestation = entries[0] | {"platform": {"os": "unknown", "architecture": "unknown"}}
        index = {"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": [*entries, attestation]}
        # The registry checks that the sizes are right in no manifest of an index.
        return self._manifest(repository, tag, index)

    def _blob(self, repository: str, data: bytes) -> str:
        digest = "sha256:" + hashlib.sha256(data).hexdigest()
        started = self._send("POST", f"{self.scheme}://{self.host}/v2/{repository}/blobs/uploads/", repository)
        place = started.headers["Location"]
        self._send("PUT", f"{place}{'&' if '?' in place else '?'}digest={digest}", repository, data)
        return digest

    def _manifest(self, repository: str, tag: str, manifest: dict[str, Any]) -> str:
        data = json.dumps(manifest).encode()
        url = f"{self.scheme}://{self.host}/v2/{repository}/manifests/{tag}"
        answer = self._send("PUT", url, repository, data, manifest["mediaType"])
        return str(answer.headers["Docker-Content-Digest"])

    def _send(
        self, method: str, url: str, repository: str, data: bytes = b"", kind: str = "application/octet-stream"
    ) -> requests.Response:
        headers = {"Content-Type": kind}
        if self.tokens:
            headers["Authorization"] = f"Bearer {self.tokens.token(repository, ['pull', 'push'])}"
        answer = self._session.request(method, url, data=data, headers=headers, verify=self.ca_file or True)
        answer.raise_for_status()
        return answer


@contextmanager
def running_registry(folder: Path, *, tokens: TokenServer | None = None, tls: bool = False) -> Iterator[Registry]:
    """A docker-registry on loopback that keeps its data below `folder`; with `tls` its certificate is its own CA."""
    program = require_tool("docker-registry")
    port = free_port()
    config: dict[str, Any] = {
        "version": 0.1,
        "log": {"level": "error", "accesslog": {"disabled": True}},
        "storage": {"filesystem": {"rootdirectory": str(folder / "data")}},
        "http": {"addr": f"127.0.0.1:{port}"},
    }
    registry = Registry(f"127.0.0.1:{port}", tokens=tokens)
    if tokens:
        config["auth"] = {"token": tokens.trusted_by_a_registry()}
    if tls:
        certificate, key = self_signed(folder, "registry")
        config["http"]["tls"] = {"certificate": str(certificate), "key": str(key)}
        registry.scheme, registry.ca_file = "https", str(certificate)
    file = folder / "config.yml"
    file.write_text(json.dumps(config))
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([program, "serve", str(file)], stdout=log, stderr=log)
        try:
            _wait_for(port, folder / "log")
            yield registry
        finally:
            registry._session.close()
            process.terminate()
            process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, log: Path) -> None:
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"the registry does not start: {log.read_text()}")


def self_signed(folder: Path, name: str) -> tuple[Path, Path]:
    """A certificate for this machine and its key."""
    openssl = require_tool("openssl")
    certificate, key = folder / f"{name}.crt", folder / f"{name}.key"
    names = ["-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names, *files]
    subprocess.run(command, check=True, capture_output=True)
    return certificate, key


@dataclass
class TokenServer:
    """Issues tokens that a docker-registry trusts, to `USER` and, for repositories below public/, to everybody."""

    folder: Path
    lifetime: int = 300
    backdated: int = 0
    """Seconds by which tokens are issued in the past, so that they have run out."""
    realm: str = ""
    requests: list[str] = field(default_factory=list)
    _key: tuple[Path, Path] | None = None

    @contextmanager
    def running(self) -> Iterator[TokenServer]:
        self._key = self_signed(self.folder, "tokens")
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.realm = f"http://127.0.0.1:{server.server_address[1]}/token"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def trusted_by_a_registry(self) -> dict[str, str]:
        assert self._key
        return {"realm": self.realm, "service": "tests", "issuer": "tests", "rootcertbundle": str(self._key[0])}

    def token(self, repository: str, actions: list[str]) -> str:
        """A JSON Web Token, signed by openssl."""
        assert self._key
        certificate = "".join(self._key[0].read_text().splitlines()[1:-1])
        now = int(time.time()) - (self.backdated if actions == ["pull"] else 0)
        times = {"iat": now, "nbf": now, "exp": now + self.lifetime}
        access = [{"type": "repository", "name": repository, "actions": actions}] if actions else []
        claims = {"iss": "tests", "aud": "tests", "sub": USER, "jti": "1", "access": access, **times}
        head = {"typ": "JWT", "alg": "RS256", "x5c": [certificate]}
        text = b".".join(_base64url(json.dumps(part).encode()) for part in (head, claims))
        sign = ["openssl", "dgst", "-sha256", "-sign", str(self._key[1])]
        signature = subprocess.run(sign, input=text, capture_output=True, check=True).stdout
        return (text + b"." + _base64url(signature)).decode()


def _base64url(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def _handler(server: TokenServer) -> type[BaseHTTPRequestHandler]:
    allowed = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.requests.append(self.path)
            shown = self.headers.get("Authorization")
            if shown not in (None, allowed):
                self.send_error(401)
                return
            repository = parse_qs(urlsplit(self.path).query)["scope"][0].split(":")[1]
            actions = ["pull"] if shown or repository.startswith("public/") else []
            data = json.dumps({"token": server.token(repository, actions), "expires_in": server.lifetime}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    return Handler
