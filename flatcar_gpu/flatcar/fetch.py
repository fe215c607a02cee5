"""Fetching a small file over HTTP: with conditions, time limits, retries and a size limit."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flatcar_gpu import __version__
from flatcar_gpu.errors import Unavailable
from flatcar_gpu.flatcar.location import shown

if TYPE_CHECKING:
    import requests

ATTEMPTS = 3
PAUSE = 0.5
"""Seconds before the second attempt; each further one waits twice as long."""
LONGEST_PAUSE = 10.0
"""Of what a server asks for with Retry-After, no more than this is waited."""

SIZE_LIMIT = 32 * 1024 * 1024
"""Bytes. The largest index file, releases.json, has 3.6 MB."""

_TRY_AGAIN = frozenset({429, 500, 502, 503, 504})


class NotFound(Unavailable):
    """The server has no such file."""


class Unreachable(Unavailable):
    """No server answered, so that it is pointless to ask it for another file."""


class _Trouble(Exception):
    """An attempt failed in a way that may pass: a lost connection, an overloaded server."""

    def __init__(self, says: str, *, answered: bool, wait: float = 0.0) -> None:
        super().__init__(says)
        self.answered = answered
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server sent: `data` is None where it says that the file is still the one described by the conditions."""

    data: bytes | None
    etag: str = ""
    last_modified: str = ""


def fetch(url: str, *, timeout: float, etag: str = "", last_modified: str = "") -> Answer:
    """The file at `url`, unless it still is the one with that ETag and Last-Modified.

    `timeout` is how many seconds to wait for a connection and for each piece of the answer; the whole answer may take
    six times as long. Redirects are followed, but not from https to http.
    Raises NotFound for a 404 or 410, Unreachable where no server answers, and Unavailable for every other failure.
    """
    conditions = {"If-None-Match": etag, "If-Modified-Since": last_modified}
    headers = {"User-Agent": f"flatcar-gpu/{__version__}"} | {key: value for key, value in conditions.items() if value}
    for attempt in range(ATTEMPTS):
        try:
            return _attempt(url, headers, timeout)
        except _Trouble as trouble:
            failed = trouble
        if attempt + 1 < ATTEMPTS:
            time.sleep(min(max(PAUSE * 2**attempt, failed.wait), LONGEST_PAUSE))
    kind = Unavailable if failed.answered else Unreachable
    raise kind(f"{shown(url)}: {failed} (tried {ATTEMPTS} times)", hint="try again later, or go on with --offline")


def _attempt(url: str, headers: dict[str, str], timeout: float) -> Answer:
    import requests

    try:
        with requests.get(url, headers=headers, timeout=timeout, stream=True) as response:
            _refuse_downgrade(url, response)
            if response.status_code == 304 and len(headers) > 1:
                return Answer(None, headers.get("If-None-Match", ""), headers.get("If-Modified-Since", ""))
            _refuse_status(response)
            data = _body(url, response, deadline=time.monotonic() + 6 * timeout)
            return Answer(data, response.headers.get("ETag", ""), response.headers.get("Last-Modified", ""))
    except requests.exceptions.SSLError as error:
        raise Unreachable(f"{shown(url)}: the TLS connection failed: {_reason(error)}") from None
    except requests.Timeout:
        raise _Trouble(f"no answer within {timeout:g} seconds", answered=False) from None
    except (requests.exceptions.ChunkedEncodingError, requests.exceptions.ContentDecodingError) as error:
        raise _Trouble(f"the answer was cut off or damaged: {_reason(error)}", answered=True) from None
    except requests.ConnectionError as error:
        raise _Trouble(_reason(error), answered=False) from None
    except (requests.RequestException, ValueError) as error:
        raise Unavailable(f"{shown(url)}: it cannot be fetched: {_reason(error)}") from None


def _refuse_downgrade(url: str, response: requests.Response) -> None:
    hops = [hop.url for hop in response.history[1:]] + [response.url]
    if url.lower().startswith("https:") and any(hop.lower().startswith("http:") for hop in hops):
        raise Unavailable(f"{shown(url)} redirects to {shown(response.url)}, which is not encrypted")


def _refuse_status(response: requests.Response) -> None:
    status = f"the server answers {response.status_code} {response.reason}".rstrip()
    if response.status_code in _TRY_AGAIN:
        wait = response.headers.get("Retry-After", "")
        raise _Trouble(status, answered=True, wait=float(wait) if wait.isdecimal() else 0.0)
    if response.status_code in (404, 410):
        raise NotFound(f"{shown(response.url)}: {status}")
    if response.status_code != 200:
        raise Unavailable(f"{shown(response.url)}: {status}")


def _body(url: str, response: requests.Response, deadline: float) -> bytes:
    data = bytearray()
    for piece in response.iter_content(64 * 1024):
        data += piece
        if len(data) > SIZE_LIMIT:
            raise Unavailable(f"{shown(url)} is larger than {SIZE_LIMIT // 1024**2} MB, which no index is")
        if time.monotonic() > deadline:
            raise Unavailable(f"{shown(url)} is sent too slowly", hint="allow more time with --timeout")
    return bytes(data)


def _reason(error: BaseException) -> str:
    """The innermost cause in the system's words; the libraries' own messages repeat the URL, and with it secrets."""
    cause: BaseException | None = error
    found = ""
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            found = cause.strerror
        elif isinstance(cause, TimeoutError):
            found = "no answer in time"
        cause = cause.__cause__ or cause.__context__
    return found or type(error).__name__
