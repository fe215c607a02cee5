"""The image commands against Debian's docker-registry, with skopeo as the second opinion."""

from __future__ import annotations

import base64
import json
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from flatcar_gpu.cli import run
from tests.registries import PASSWORD, USER, TokenServer, free_port, running_registry
from tests.tools import require_tool

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.registries import Registry

DRIVER = "460.73.01"
RELEASES = ["2905.2.0", "2905.2.1", "4593.2.5"]
FLATCAR = [word for release in RELEASES for word in ("--flatcar", release)]


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """Holds the images of the first two releases, one of them for two architectures."""
    with running_registry(tmp_path_factory.mktemp("registry")) as found:
        found.push("nvidia/driver", f"{DRIVER}-flatcar2905.2.0")
        found.push_index("nvidia/driver", f"{DRIVER}-flatcar2905.2.1", "amd64", "arm64")
        yield found


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TokenServer]:
    with TokenServer(tmp_path_factory.mktemp("tokens")).running() as server:
        yield server


@pytest.fixture(scope="module")
def guarded(tokens: TokenServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """Wants a token for everything, and gives one to everybody for repositories below public/."""
    with running_registry(tmp_path_factory.mktemp("guarded"), tokens=tokens) as found:
        for repository in ("nvidia/driver", "public/driver"):
            found.push(repository, f"{DRIVER}-flatcar2905.2.0")
        yield found


@pytest.fixture
def anonymous(tmp_path: Path) -> str:
    """An auth file without credentials, so that the user's own are not used."""
    path = tmp_path / "nobody.json"
    path.write_text("{}")
    return str(path)


def login(path: Path, host: str, password: str = PASSWORD) -> str:
    auth = base64.b64encode(f"{USER}:{password}".encode()).decode()
    path.write_text(json.dumps({"auths": {host: {"auth": auth}}}))
    return str(path)


def check(host: str, *args: str, repository: str = "nvidia") -> int:
    return run(
        ["image", "check", "--offline", "--driver-version", DRIVER, "--repository", f"{host}/{repository}", *args]
    )


def digest(host: str, *args: str, repository: str = "nvidia") -> int:
    where = ["--repository", f"{host}/{repository}", "--flatcar", "2905.2.0", "--retry-times", "0"]
    return run(["image", "digest", "--offline", "--driver-version", DRIVER, *where, *args])


def skopeo_digest(reference: str, *args: str) -> str:
    command = [
        require_tool("skopeo"),
        "inspect",
        "--no-tags",
        "--format",
        "{{.Digest}}",
        *args,
        f"docker://{reference}",
    ]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_the_one_of_three_that_is_missing_is_named_and_the_digests_are_skopeo_s(
    registry: Registry, anonymous: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(registry.host, *FLATCAR, "--format", "json", "--authfile", anonymous) == 1
    out, err = capsys.readouterr()
    images = json.loads(out)["images"]
    assert [image["state"] for image in images] == ["present", "present", "missing"]
    missing = images[2]["reference"]
    assert f"error: {missing} is missing" in err
    for image in images[:2]:
        assert image["digest"] == skopeo_digest(image["reference"], "--tls-verify=false")
    assert [image["platforms"] for image in images] == [["linux/amd64"], ["linux/amd64", "linux/arm64"], []]
    assert json.loads(out)["summary"] == {"missing": 1, "present": 2}


def test_all_there_is_exit_code_0_and_nothing_on_stderr(
    registry: Registry, anonymous: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(registry.host, *FLATCAR[:4], "--authfile", anonymous) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert [line.split()[0] for line in out.splitlines()] == ["STATE", "present", "present"]


def test_an_image_without_the_architecture_is_unfit(
    registry: Registry, anonymous: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(registry.host, *FLATCAR[:4], "--arch", "arm64", "--authfile", anonymous) == 1
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines()] == ["STATE", "unfit", "present"]
    assert "but not for linux/arm64" in err


def test_junit_has_a_failure_for_what_is_missing_and_an_error_for_what_is_denied(
    registry: Registry, guarded: Registry, anonymous: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(registry.host, *FLATCAR, "--format", "junit", "--authfile", anonymous) == 1
    suites = ElementTree.fromstring(capsys.readouterr().out)  # noqa: S314 - our own output
    assert (suites.get("tests"), suites.get("failures"), suites.get("errors")) == ("3", "1", "0")
    (failure,) = suites.findall("testsuite/testcase/failure")
    assert failure.get("type") == "missing"
    assert check(guarded.host, *FLATCAR[:2], "--format", "junit", "--authfile", anonymous) == 1
    suites = ElementTree.fromstring(capsys.readouterr().out)  # noqa: S314 - our own output
    assert (suites.get("tests"), suites.get("failures"), suites.get("errors")) == ("1", "0", "1")


def test_the_digest_of_the_tag_is_printed_and_nothing_else(
    registry: Registry, anonymous: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert digest(registry.host, "--authfile", anonymous) == 0
    out, err = capsys.readouterr()
    reference = f"{registry.host}/nvidia/driver:{DRIVER}-flatcar2905.2.0"
    assert out == skopeo_digest(reference, "--tls-verify=false") + "\n"
    assert err == ""


def test_a_login_gets_a_token_from_the_token_server(
    guarded: Registry, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    authfile = login(tmp_path / "auth.json", guarded.host)
    assert digest(guarded.host, "--authfile", authfile) == 0
    reference = f"{guarded.host}/nvidia/driver:{DRIVER}-flatcar2905.2.0"
    out, err = capsys.readouterr()
    assert out.strip() == skopeo_digest(reference, "--tls-verify=false", "--authfile", authfile)
    assert err == ""


def test_a_public_repository_needs_no_login(guarded: Registry, anonymous: str) -> None:
    assert digest(guarded.host, "--authfile", anonymous, repository="public") == 0


def test_many_questions_at_a_time_need_one_token_a_repository(
    guarded: Registry, tokens: TokenServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    authfile = login(tmp_path / "auth.json", guarded.host)
    for release in RELEASES:
        guarded.push("nvidia/driver", f"{DRIVER}-flatcar{release}")
    tokens.requests.clear()
    assert check(guarded.host, *FLATCAR, "--authfile", authfile) == 0
    assert len(tokens.requests) == 1


class TestWhatGoesWrong:
    """Each failure has its own message, exit code 1, no traceback, and no secret in it."""

    @pytest.fixture(autouse=True)
    def _no_traceback(self, capsys: pytest.CaptureFixture[str]) -> Iterator[None]:
        yield
        assert "Traceback" not in capsys.readouterr().err

    def test_no_login(self, guarded: Registry, anonymous: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert digest(guarded.host, "--authfile", anonymous) == 1
        err = capsys.readouterr().err
        assert "shows it to nobody without a login, or has no such image" in err
        assert "docker login" in err

    def test_a_wrong_password(self, guarded: Registry, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        authfile = login(tmp_path / "auth.json", guarded.host, "wrong horse")
        assert digest(guarded.host, "--authfile", authfile, "-vv", "--debug") == 1
        err = capsys.readouterr().err
        assert f"refuses the user name and password from {authfile}" in err
        assert "wrong horse" not in err
        assert json.loads((tmp_path / "auth.json").read_text())["auths"][guarded.host]["auth"] not in err
        # `--debug` was asked for, so that here a traceback is right.
        assert "Traceback" in err

    def test_a_token_that_has_run_out(
        self, guarded: Registry, tokens: TokenServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        authfile = login(tmp_path / "auth.json", guarded.host)
        tokens.backdated = 3600
        try:
            assert digest(guarded.host, "--authfile", authfile) == 1
        finally:
            tokens.backdated = 0
        err = capsys.readouterr().err
        assert "does not accept the token that was just issued for it: it has run out" in err
        assert "clocks" in err

    def test_a_registry_that_is_down(self, anonymous: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert check(f"127.0.0.1:{free_port()}", *FLATCAR, "--authfile", anonymous, "--retry-times", "0") == 1
        out, err = capsys.readouterr()
        assert [line.split()[0] for line in out.splitlines()] == ["STATE", "unknown", "unknown", "unknown"]
        assert err.count("error:") == 1
        assert "cannot be reached: Connection refused (3 images)" in err

    def test_a_certificate_of_an_unknown_authority(
        self, anonymous: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with running_registry(tmp_path, tls=True) as registry:
            pushed = registry.push("nvidia/driver", f"{DRIVER}-flatcar2905.2.0")
            assert digest(registry.host, "--authfile", anonymous) == 1
            err = capsys.readouterr().err
            assert "is not accepted: self-signed certificate" in err
            assert "--ca-file" in err
            for way_out in (["--ca-file", registry.ca_file], ["--no-tls-verify"]):
                assert digest(registry.host, "--authfile", anonymous, *way_out) == 0
                assert capsys.readouterr().out.strip() == pushed

    @pytest.mark.parametrize(
        ("status", "headers", "says"),
        [
            (429, {"Retry-After": "1000"}, "limits how often it may be asked (429); it asks to wait 1000 seconds"),
            (200, {"Content-Type": "text/html"}, "answers 200 OK with a web page, not as a registry does"),
            (502, {"Content-Type": "text/html"}, "answers 502 Bad Gateway"),
            (500, {}, "answers 500 Internal Server Error"),
        ],
    )
    def test_a_limit_a_web_page_a_broken_server(
        self, status: int, headers: dict[str, str], says: str, anonymous: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with answering(status, headers) as host:
            assert digest(host, "--authfile", anonymous) == 1
        assert says in capsys.readouterr().err

    def test_an_auth_file_that_is_broken(
        self, guarded: Registry, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / "auth.json"
        path.write_text("hunter2")
        assert digest(guarded.host, "--authfile", str(path)) == 1
        err = capsys.readouterr().err
        assert f"the auth file {path} is not JSON" in err
        assert "hunter2" not in err

    def test_offline_asks_no_registry_but_those_on_this_machine(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert digest("registry.example") == 1
        assert "registry.example is not asked with --offline" in capsys.readouterr().err


@contextmanager
def answering(status: int, headers: dict[str, str]) -> Iterator[str]:
    """A server that gives everybody the same answer; its host and port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.do_HEAD()

        def do_HEAD(self) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_without_platforms_the_digests_are_the_same_and_one_request_each_is_made(
    registry: Registry, anonymous: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(registry.host, *FLATCAR[:4], "--no-platforms", "-vv", "--format", "json", "--authfile", anonymous) == 0
    out, err = capsys.readouterr()
    assert err.count("HEAD ") == 2
    assert "GET " not in err
    assert [image["digest"] for image in json.loads(out)["images"]] == [
        skopeo_digest(image["reference"], "--tls-verify=false") for image in json.loads(out)["images"]
    ]


def test_an_interrupt_does_not_wait_for_a_registry_that_does_not_answer(anonymous: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host = f"127.0.0.1:{silent.getsockname()[1]}"
        where = ["--repository", f"{host}/nvidia", "--offline", "--authfile", anonymous, "--timeout", "300"]
        command = [sys.executable, "-m", "flatcar_gpu", "image", "check", "--driver-version", DRIVER, *where, *FLATCAR]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            connection, _ = silent.accept()
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=30)
            connection.close()
    assert (process.returncode, err.strip()) == (130, "error: interrupted")
