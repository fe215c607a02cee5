"""An HTTP server on the loopback interface that answers as a test tells it."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Reply:
    """One answer. `delay` seconds pass before it; with `cut` only half of the announced body is sent."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: bool = False


@dataclass
class Loopback:
    """`replies` by path: a list is answered in turn, its last element from then on. `asked` is what came in."""

    url: str
    replies: dict[str, Reply | list[Reply]] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    def next_reply(self, path: str) -> Reply:
        found = self.replies.get(path, Reply(b"no such file", 404))
        if isinstance(found, Reply):
            return found
        return found.pop(0) if len(found) > 1 else found[0]


@contextmanager
def loopback() -> Iterator[Loopback]:
    """A running server; it is gone at the end."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked.append((self.path, dict(self.headers)))
            reply = state.next_reply(self.path)
            time.sleep(reply.delay)
            etag = reply.headers.get("ETag")
            if reply.status == 200 and etag and self.headers.get("If-None-Match") == etag:
                reply = Reply(status=304)
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            with suppress(ConnectionError):  # a client may have heard enough
                self.wfile.write(reply.body[: len(reply.body) // 2] if reply.cut else reply.body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state = Loopback(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
