"""What to put in the Authorization header: passwords, and tokens that another server issues for them.

Source: distribution's token specification; opencontainers/distribution-spec v1.1.1. Two peculiarities of nvcr.io are
provided for: its challenge names no service, and after a token has run out it names another realm that does not serve
anonymous clients (NVIDIA/nvidia-container-toolkit#1945). So a refused token is dropped and the way begun anew.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from flatcar_gpu.images.registry.challenge import parse_challenges
from flatcar_gpu.images.registry.credentials import Secret
from flatcar_gpu.images.registry.errors import Denied, Unknown
from flatcar_gpu.images.registry.transport import host_of, is_loopback, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flatcar_gpu.images.registry.challenge import Challenge
    from flatcar_gpu.images.registry.credentials import Credential, CredentialStore
    from flatcar_gpu.images.registry.transport import Answer, Transport

LIFETIME = 60.0
"""Seconds that a token is good for where the server does not say."""
_MARGIN = 5.0

_ROUNDS = 6
"""Each round sends the request once. Four are needed where a token is refused: without, with, and both again."""

_LOGIN = "log in with `docker login` or `podman login`, or name a file with --authfile"


@dataclass(frozen=True, slots=True)
class Authorization:
    """A header's value, until when it is good (monotonic time), and the credentials behind it, if any."""

    header: str = field(repr=False)
    expires: float
    credential: Credential | None


class Authorizer:
    """Sends requests with what the registry wants to be shown; what it accepted is kept for the next request."""

    def __init__(self, transport: Transport, credentials: CredentialStore) -> None:
        self._transport = transport
        self._credentials = credentials
        self._known: dict[tuple[str, str], Authorization] = {}
        self._locks: dict[tuple[str, str], Lock] = {}

    def send(self, method: str, url: str, headers: Mapping[str, str], registry: str, repository: str) -> Answer:
        """The answer to a request about a repository, which can have any status but 401.

        Raises Denied where the registry cannot be satisfied.
        """
        scope = registry, repository
        refused = False
        for _ in range(_ROUNDS):
            shown_before = self._usable(scope)
            header = shown_before.header if shown_before else ""
            answer = self._transport.send(method, url, headers, authorization=header)
            if answer.status != 401:
                return answer
            if shown_before is None:
                self._obtain(scope, url, answer)
            elif self._is_worn_out(answer) and not refused:
                refused = True
                self._forget(scope, shown_before)
            else:
                raise self._refusal(registry, answer, shown_before)
        raise Unknown(f"{registry} asks for a login again and again: its tokens run out before they can be used")

    def _usable(self, scope: tuple[str, str]) -> Authorization | None:
        known = self._known.get(scope)
        return known if known and known.expires > time.monotonic() else None

    def _forget(self, scope: tuple[str, str], worn_out: Authorization) -> None:
        with self._locks.setdefault(scope, Lock()):
            if self._known.get(scope) is worn_out:
                del self._known[scope]

    def _obtain(self, scope: tuple[str, str], url: str, answer: Answer) -> None:
        # Of many threads that are refused at once only the first fetches a token.
        with self._locks.setdefault(scope, Lock()):
            if self._usable(scope) is None:
                self._known[scope] = self._authorization(scope, url, answer)

    def _authorization(self, scope: tuple[str, str], url: str, answer: Answer) -> Authorization:
        registry, repository = scope
        challenges = {found.scheme: found for found in parse_challenges(answer.headers.get("WWW-Authenticate", ""))}
        credential = self._credentials.find(registry, repository)
        if "bearer" in challenges:
            return self._token(challenges["bearer"], url, repository, credential)
        if "basic" not in challenges:
            asked = ", ".join(challenges) or "nothing"
            raise Denied(f"{registry} wants a login, but offers no way that is known: {asked}")
        if credential is None or credential.kind is not Secret.PASSWORD:
            raise Denied(f"{registry} wants a user name and password, and none were found", hint=_LOGIN)
        return Authorization(credential.basic, float("inf"), credential)

    def _token(self, challenge: Challenge, url: str, repository: str, credential: Credential | None) -> Authorization:
        if credential and credential.kind is Secret.REGISTRY_TOKEN:
            return Authorization(f"Bearer {credential.secret}", float("inf"), credential)
        realm = challenge.parameters.get("realm", "")
        if urlsplit(realm).scheme not in ("http", "https") or (is_loopback(realm) and not is_loopback(url)):
            raise Unknown(f"{host_of(url)} sends for a token to {realm!r}, which is no place to ask")
        # Challenges can ask for more than is needed, such as nvcr.io's pull,push.
        wanted = {"scope": f"repository:{repository}:pull"}
        if service := challenge.parameters.get("service"):
            wanted["service"] = service
        asked = time.monotonic()
        answer = self._ask(realm, wanted, credential)
        if answer.status in (400, 401, 403):
            raise _login_refused(realm, credential)
        if answer.status != 200:
            raise Unknown(f"{host_of(realm)}, which issues tokens for {host_of(url)}, answers {answer.said}")
        token, lifetime = _issued(answer)
        return Authorization(f"Bearer {token}", asked + max(lifetime - _MARGIN, 1.0), credential)

    def _ask(self, realm: str, wanted: Mapping[str, str], credential: Credential | None) -> Answer:
        accept = {"Accept": "application/json"}
        if credential and credential.kind is Secret.IDENTITY_TOKEN:
            login = {"grant_type": "refresh_token", "client_id": "flatcar-gpu", "refresh_token": credential.secret}
            return self._transport.send("POST", realm, accept, form={**wanted, **login})
        url = f"{realm}{'&' if '?' in realm else '?'}{urlencode(wanted)}"
        return self._transport.send("GET", url, accept, authorization=credential.basic if credential else "")

    @staticmethod
    def _is_worn_out(answer: Answer) -> bool:
        return _error_of(answer) == "invalid_token"

    @staticmethod
    def _refusal(registry: str, answer: Answer, used: Authorization) -> Denied:
        credential = used.credential
        if credential is None:
            return Denied(f"{registry} shows it to nobody without a login, or has no such image", hint=_LOGIN)
        if credential.kind is Secret.REGISTRY_TOKEN:
            return Denied(f"{registry} does not accept the token in {credential.origin}: it may have run out", _LOGIN)
        if used.header.startswith("Basic "):
            return Denied(f"{registry} refuses the user name and password from {credential.origin}", hint=_LOGIN)
        if _error_of(answer) == "invalid_token":
            return Denied(
                f"{registry} does not accept the token that was just issued for it: it has run out or is not valid",
                hint="compare the clocks of the registry and of the server that issues its tokens",
            )
        return Denied(
            f"the login from {credential.origin} has no access to it on {registry}, or there is no such image"
        )


def _error_of(answer: Answer) -> str:
    challenges = parse_challenges(answer.headers.get("WWW-Authenticate", ""))
    return next((found.parameters["error"] for found in challenges if "error" in found.parameters), "")


def _login_refused(realm: str, credential: Credential | None) -> Denied:
    if credential is None:
        return Denied(f"{host_of(realm)} gives no token without a login, and no credentials were found", hint=_LOGIN)
    what = "identity token" if credential.kind is Secret.IDENTITY_TOKEN else "user name and password"
    return Denied(f"{host_of(realm)} refuses the {what} from {credential.origin}", hint=_LOGIN)


def _issued(answer: Answer) -> tuple[str, float]:
    """The token in an answer, and for how many seconds it is good."""
    try:
        content: Any = json.loads(answer.body)
        token = content.get("token") or content["access_token"]
        lifetime = float(content.get("expires_in") or LIFETIME)
    except (ValueError, KeyError, TypeError, AttributeError):
        token = None
    if not isinstance(token, str) or not token.isascii() or not token.isprintable():
        raise Unknown(f"{shown(answer.url)} answers with something that is not a token")
    return token, lifetime
