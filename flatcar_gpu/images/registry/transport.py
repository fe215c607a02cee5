"""One HTTP request and its answer: TLS, proxies, time limits, retries, redirects, and where no secret may go."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from flatcar_gpu import __version__
from flatcar_gpu.errors import Failure
from flatcar_gpu.images.registry.errors import Denied, Unknown, Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import requests

PAUSE = 0.5
"""Seconds before the second attempt; each further one waits twice as long."""
LONGEST_WAIT = 60.0
"""Seconds. A registry that asks for more with Retry-After is not waited for."""
BODY_LIMIT = 16 * 1024 * 1024
"""Bytes. Registries take manifests of 4 MB; a page of tags is smaller still."""
REDIRECTS = 5

_TRY_AGAIN = frozenset({429, 500, 502, 503, 504})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class Settings:
    """How to connect. `ca_file` is a bundle of certificates in place of the usual ones."""

    tls_verify: bool = True
    ca_file: str | None = None
    retry_times: int = 3
    timeout: float = 10.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back in the end; `url` is where from. `headers` can be asked in any case."""

    status: int
    reason: str
    url: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def media_type(self) -> str:
        """The media type without parameters, in lower case."""
        return self.headers.get("Content-Type", "").partition(";")[0].strip().lower()

    @property
    def said(self) -> str:
        return f"{self.status} {self.reason}".rstrip()


class _Trouble(Exception):
    """An attempt failed in a way that may pass."""

    def __init__(self, outcome: Unknown, wait: float | None = None) -> None:
        super().__init__()
        self.outcome = outcome
        self.wait = wait


class NotTls(Exception):
    """The server does not speak TLS at all."""


class Transport:
    """Sends requests; can be used by several threads. `trace` is told each request and its status."""

    def __init__(self, settings: Settings, trace: Callable[[str], None] | None = None) -> None:
        self.settings = settings
        self._trace = trace or (lambda _: None)
        self._verify = _verification(settings)
        self._of_thread = threading.local()
        self._proxies: dict[tuple[str, str | None, int | None], dict[str, str]] = {}

    def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        *,
        authorization: str = "",
        form: Mapping[str, str] | None = None,
    ) -> Answer:
        """The answer to a request, whatever its status, after retries and redirects.

        `authorization` goes to the origin of `url` alone, and not over plain http unless that is on this machine or
        --no-tls-verify allows it. Raises Unknown where there is no answer, Denied where a secret would be given away,
        NotTls where an https URL leads to a server without TLS.
        """
        for _ in range(REDIRECTS + 1):
            answer = self._with_retries(method, url, headers, authorization, form)
            target = answer.headers.get("Location", "")
            if answer.status not in _REDIRECTS or not target or form is not None:
                return answer
            target = urljoin(url, target)
            if url.startswith("https:") and not target.startswith("https:") and self.settings.tls_verify:
                raise Unknown(f"{shown(url)} redirects to {shown(target)}, which is not encrypted")
            if origin(target) != origin(url):
                authorization = ""
            url = target
        raise Unknown(f"{host_of(url)} redirects more than {REDIRECTS} times")

    def may_carry_secrets(self, url: str) -> bool:
        return url.startswith("https:") or is_loopback(url) or not self.settings.tls_verify

    def _with_retries(
        self, method: str, url: str, headers: Mapping[str, str], authorization: str, form: Mapping[str, str] | None
    ) -> Answer:
        if (authorization or form) and not self.may_carry_secrets(url):
            raise Denied(
                f"credentials are not sent to {shown(url)}: the connection is not encrypted",
                hint="--no-tls-verify sends them all the same",
            )
        for attempt in range(self.settings.retry_times + 1):
            try:
                return self._attempt(method, url, headers, authorization, form)
            except _Trouble as trouble:
                failed = trouble
            wait = PAUSE * 2**attempt if failed.wait is None else failed.wait
            if attempt < self.settings.retry_times:
                if wait > LONGEST_WAIT:
                    break
                time.sleep(wait)
        raise failed.outcome from None

    def _attempt(
        self, method: str, url: str, headers: Mapping[str, str], authorization: str, form: Mapping[str, str] | None
    ) -> Answer:
        import requests

        own = {"User-Agent": f"flatcar-gpu/{__version__}"} | ({"Authorization": authorization} if authorization else {})
        try:
            with self._session().request(
                method,
                url,
                headers={**headers, **own},
                data=form,
                timeout=self.settings.timeout,
                verify=self._verify,
                proxies=self._proxies_for(url),
                allow_redirects=False,
                stream=True,
            ) as response:
                self._trace(f"{method} {shown(url)}: {response.status_code} {response.reason}")
                answer = self._read(response, url)
        except requests.exceptions.SSLError as error:
            raise _tls_failure(url, error) from None
        except requests.exceptions.ProxyError as error:
            says = f"the proxy for {host_of(url)} does not connect: {_reason(error)}"
            raise _Trouble(Unreachable(says, hint="see HTTPS_PROXY, HTTP_PROXY and NO_PROXY")) from None
        except requests.Timeout:
            says = f"{host_of(url)} did not answer within {self.settings.timeout:g} seconds"
            raise _Trouble(Unreachable(says, hint="allow more with --timeout")) from None
        except (requests.exceptions.ChunkedEncodingError, requests.exceptions.ContentDecodingError) as error:
            raise _Trouble(Unknown(f"the answer of {host_of(url)} was cut off: {_reason(error)}")) from None
        except requests.ConnectionError as error:
            says = f"{host_of(url)} cannot be reached: {_reason(error)}"
            raise _Trouble(Unreachable(says, hint="is the registry's name right, and does it run?")) from None
        except (requests.RequestException, ValueError) as error:
            raise Unknown(f"{shown(url)} cannot be asked: {type(error).__name__}") from None
        if answer.status in _TRY_AGAIN:
            raise _overloaded(answer)
        return answer

    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._of_thread, "session", None)
        if session is None:
            import requests

            session = self._of_thread.session = requests.Session()
            # Or requests would send what a URL or ~/.netrc has for the host, which nobody asked for, and would go
            # through all environment variables for every request.
            session.auth = lambda request: request
            session.trust_env = False
        return session

    def _proxies_for(self, url: str) -> dict[str, str]:
        """HTTPS_PROXY and its like as they apply to the host of `url`."""
        from requests.utils import get_environ_proxies

        host = origin(url)
        if host not in self._proxies:
            # A registry on this machine is never behind a proxy; Go's clients do the same.
            self._proxies[host] = {} if is_loopback(url) else get_environ_proxies(url)
        return self._proxies[host]

    def _read(self, response: requests.Response, url: str) -> Answer:
        body = bytearray()
        for piece in response.iter_content(64 * 1024):
            body += piece
            if len(body) > BODY_LIMIT:
                raise Unknown(f"{host_of(url)} sends more than {BODY_LIMIT // 1024**2} MB, which is no manifest")
        return Answer(response.status_code, response.reason or "", url, response.headers, bytes(body))


def shown(url: str) -> str:
    """`url` without what may be secret in it: user, password and query."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{host_of(url)}{parts.path}"


def host_of(url: str) -> str:
    """Host and port as written."""
    return urlsplit(url).netloc.rpartition("@")[2]


def origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def is_loopback(url: str) -> bool:
    """Whether `url` is on this machine, so that nobody can listen in."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _verification(settings: Settings) -> bool | str:
    """What requests calls `verify`: no check, the bundle to check by, or its own one.

    requests reads the first two variables by itself, but then also where --no-tls-verify is given.
    """
    if not settings.tls_verify:
        import urllib3

        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
        return False
    variables = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
    bundle = settings.ca_file or next((os.environ[name] for name in variables if os.environ.get(name)), None)
    if bundle is None:
        return True
    if not Path(bundle).exists():
        raise Failure(f"there is no certificate bundle {bundle}", hint=f"see --ca-file and {', '.join(variables)}")
    return bundle


def _tls_failure(url: str, error: requests.exceptions.SSLError) -> Exception:
    import ssl

    cause = next((cause for cause in reversed(_causes(error)) if isinstance(cause, ssl.SSLError)), None)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return Unreachable(
            f"the certificate of {host_of(url)} is not accepted: {cause.verify_message}",
            hint="give the certificate of its authority with --ca-file; --no-tls-verify does without, at your risk",
        )
    reason = getattr(cause, "reason", None) or ""
    if reason in ("WRONG_VERSION_NUMBER", "UNEXPECTED_MESSAGE", "RECORD_LAYER_FAILURE", "HTTP_REQUEST"):
        return NotTls()
    words = reason.replace("_", " ").lower() or "the handshake failed"
    return Unreachable(f"the TLS connection to {host_of(url)} failed: {words}")


def _overloaded(answer: Answer) -> _Trouble:
    wait = _retry_after(answer.headers.get("Retry-After", ""))
    if answer.status == 429:
        until = f"; it asks to wait {wait:.0f} seconds" if wait else ""
        says = f"{host_of(answer.url)} limits how often it may be asked (429){until}"
        return _Trouble(Unknown(says, hint="try later or with a login; --jobs 1 asks more slowly"), wait)
    return _Trouble(Unknown(f"{host_of(answer.url)} answers {answer.said}", hint="try again later"), wait)


def _retry_after(value: str) -> float | None:
    """Seconds to wait: the header has them, or a date."""
    from email.utils import parsedate_to_datetime

    if value.strip().isdecimal():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError):
        return None


def _causes(error: BaseException) -> list[BaseException]:
    """The error and all that led to it, the deepest last; urllib3 hides causes in `reason` and in arguments."""
    found: list[BaseException] = []
    waiting: list[object] = [error]
    while waiting:
        cause = waiting.pop(0)
        if isinstance(cause, BaseException) and not any(cause is other for other in found):
            found.append(cause)
            waiting += [*cause.args, getattr(cause, "reason", None), cause.__context__, cause.__cause__]
    return found


def _reason(error: BaseException) -> str:
    """The cause in the system's words; the libraries' own messages repeat URLs, and with them secrets."""
    said = [cause.strerror for cause in _causes(error) if isinstance(cause, OSError) and cause.strerror]
    return said[-1] if said else type(error).__name__
