"""The registry client against answers that real registries give, and against some that none should."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from email.utils import formatdate
from typing import TYPE_CHECKING, Any

import pytest
import requests
import responses

from flatcar_gpu.errors import Failure
from flatcar_gpu.images.lookup import State, look_up, with_neighbours
from flatcar_gpu.images.reference import parse_reference
from flatcar_gpu.images.registry import transport
from flatcar_gpu.images.registry.client import Descriptor, Registries
from flatcar_gpu.images.registry.credentials import CredentialStore
from flatcar_gpu.images.registry.errors import Denied, Missing, Unknown, Unreachable
from flatcar_gpu.images.registry.transport import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from requests import PreparedRequest

TAG = parse_reference("nvcr.io/nvidia/driver:460.73.01-flatcar2905.2.0")
MANIFEST = "https://nvcr.io/v2/nvidia/driver/manifests/460.73.01-flatcar2905.2.0"
DIGEST = "sha256:" + "0123456789abcdef" * 4
INDEX_TYPE = "application/vnd.oci.image.index.v1+json"
INDEX = json.dumps(
    {"schemaVersion": 2, "manifests": [{"platform": {"os": "linux", "architecture": "amd64"}, "digest": DIGEST}]}
)
INDEX_DIGEST = "sha256:" + hashlib.sha256(INDEX.encode()).hexdigest()
PASSWORD = "hunter2"


@pytest.fixture
def web() -> Iterator[responses.RequestsMock]:
    with responses.RequestsMock(assert_all_requests_are_fired=True) as mock:
        yield mock


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited for between attempts; nobody really waits."""
    found: list[float] = []
    monkeypatch.setattr(f"{transport.__name__}.time.sleep", found.append)
    return found


@pytest.fixture
def login(tmp_path: Path) -> str:
    path = tmp_path / "auth.json"
    entry = {"auth": base64.b64encode(f"$oauthtoken:{PASSWORD}".encode()).decode()}
    path.write_text(json.dumps({"auths": {"nvcr.io": entry, "plain.example:80": entry}}))
    return str(path)


def registries(authfile: str | None = None, trace: list[str] | None = None, **settings: Any) -> Registries:
    store = CredentialStore(authfile, {})
    return Registries(Settings(**settings), store, trace.append if trace is not None else None)


def found(**headers: str) -> dict[str, Any]:
    return {"headers": {"Docker-Content-Digest": DIGEST, **headers}, "content_type": INDEX_TYPE}


def sent(call: responses.Call) -> PreparedRequest:
    return call.request


def test_a_tag_is_asked_for_with_head_and_all_four_media_types(web: responses.RequestsMock) -> None:
    web.head(MANIFEST, **found())
    assert registries().describe(TAG) == Descriptor(DIGEST, INDEX_TYPE)
    assert sent(web.calls[0]).headers["Accept"].split(", ") == [
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
        "application/vnd.oci.image.manifest.v1+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    ]


def test_docker_hub_is_asked_at_its_own_host(web: responses.RequestsMock) -> None:
    web.head("https://registry-1.docker.io/v2/library/driver/manifests/1", **found())
    assert registries().describe(parse_reference("driver:1")).digest == DIGEST


def test_without_a_digest_in_the_header_the_bytes_of_the_manifest_are_hashed(web: responses.RequestsMock) -> None:
    web.head(MANIFEST, content_type=INDEX_TYPE)
    web.get(MANIFEST, body=INDEX, content_type=INDEX_TYPE + "; charset=utf-8")
    assert registries().describe(TAG) == Descriptor(INDEX_DIGEST, INDEX_TYPE)


def test_a_registry_that_takes_no_head_is_asked_with_get(web: responses.RequestsMock) -> None:
    web.head(MANIFEST, status=405)
    web.get(MANIFEST, body=INDEX, content_type=INDEX_TYPE, headers={"Docker-Content-Digest": INDEX_DIGEST})
    assert registries().describe(TAG).digest == INDEX_DIGEST


@pytest.mark.parametrize(
    ("body", "says"),
    [("{}", "schema version 2"), ("<html>", "not a JSON object"), ("[]", "not a JSON object")],
)
def test_what_is_no_manifest_has_no_digest(body: str, says: str, web: responses.RequestsMock) -> None:
    web.head(MANIFEST, content_type=INDEX_TYPE)
    web.get(MANIFEST, body=body, content_type=INDEX_TYPE)
    with pytest.raises(Unknown, match=says):
        registries().describe(TAG)


def test_a_manifest_that_does_not_match_its_digest_is_not_believed(web: responses.RequestsMock) -> None:
    web.get(MANIFEST, body=INDEX, **found())
    with pytest.raises(Unknown, match="does not match its digest"):
        registries().inspect(TAG)


def test_the_platform_of_a_single_image_is_in_its_configuration_which_must_match_its_digest(
    web: responses.RequestsMock,
) -> None:
    config = b'{"os": "linux", "architecture": "arm64", "variant": "v8"}'
    digest = "sha256:" + hashlib.sha256(config).hexdigest()
    manifest = {"schemaVersion": 2, "config": {"digest": digest}}
    web.get(MANIFEST, json=manifest)
    web.get(f"https://nvcr.io/v2/nvidia/driver/blobs/{digest}", body=config)
    assert registries().inspect(TAG)[1] == ("linux/arm64/v8",)
    web.replace("GET", f"https://nvcr.io/v2/nvidia/driver/blobs/{digest}", body=b"{}")
    with pytest.raises(Unknown, match="a configuration of"):
        registries().inspect(TAG)


@pytest.mark.parametrize("manifest", [{"manifests": [1]}, {"manifests": 1}, {"config": 1}, {"config": {}}, {}])
def test_a_broken_manifest_is_said_to_be_one(manifest: dict[str, Any], web: responses.RequestsMock) -> None:
    web.get(MANIFEST, json={"schemaVersion": 2, **manifest})
    with pytest.raises(Unknown, match="manifest"):
        registries().inspect(TAG)


def test_another_digest_than_asked_for_is_not_believed(web: responses.RequestsMock) -> None:
    web.head(f"https://nvcr.io/v2/nvidia/driver/manifests/{INDEX_DIGEST}", **found())
    with pytest.raises(Unknown, match="when asked for"):
        registries().describe(parse_reference(f"nvcr.io/nvidia/driver@{INDEX_DIGEST}"))


@pytest.mark.parametrize("code", ["MANIFEST_UNKNOWN", "NAME_UNKNOWN"])
def test_missing_is_what_the_registry_says_is_missing(code: str, web: responses.RequestsMock) -> None:
    web.head(MANIFEST, status=404)
    web.get(MANIFEST, status=404, json={"errors": [{"code": code}]})
    with pytest.raises(Missing):
        registries().describe(TAG)


def test_a_404_in_json_needs_no_second_question(web: responses.RequestsMock) -> None:
    web.head(MANIFEST, status=404, content_type="application/json; charset=utf-8")
    with pytest.raises(Missing, match="no such image"):
        registries().describe(TAG)


@pytest.mark.parametrize("status", [200, 404])
def test_a_web_page_is_neither_an_image_nor_a_missing_one(status: int, web: responses.RequestsMock) -> None:
    web.head(MANIFEST, status=status, content_type="text/html")
    if status == 404:
        web.get(MANIFEST, status=404, body="<html>", content_type="text/html")
    with pytest.raises(Unknown, match="with a web page") as caught:
        registries().describe(TAG)
    assert "proxy" in caught.value.hint


def test_403_is_denied_and_says_that_the_image_may_not_exist(web: responses.RequestsMock) -> None:
    web.head(MANIFEST, status=403)
    with pytest.raises(Denied, match="or there is no such image"):
        registries().describe(TAG)


class TestTokens:
    CHALLENGE = 'Bearer realm="https://nvcr.io/proxy_auth",scope="repository:nvidia/driver:pull,push"'
    TOKEN_URL = "https://nvcr.io/proxy_auth"

    def test_nvcr_gives_an_anonymous_token_for_pulling_alone_and_names_no_service(
        self, web: responses.RequestsMock
    ) -> None:
        web.head(MANIFEST, status=401, headers={"WWW-Authenticate": self.CHALLENGE})
        web.get(
            self.TOKEN_URL,
            json={"token": "t"},
            match=[responses.matchers.query_param_matcher({"scope": "repository:nvidia/driver:pull"})],
        )
        web.head(MANIFEST, **found(), match=[responses.matchers.header_matcher({"Authorization": "Bearer t"})])
        asked = registries()
        assert asked.describe(TAG).digest == DIGEST
        assert "Authorization" not in sent(web.calls[1]).headers
        assert asked.describe(TAG).digest == DIGEST
        assert len(web.calls) == 4  # the token is kept

    def test_a_token_that_has_run_out_is_dropped_and_another_realm_is_not_followed(
        self, web: responses.RequestsMock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        other = 'Bearer realm="https://authn.nvidia.com/token",service="registry",error="invalid_token"'
        tokens = iter("ab")

        def answer(request: PreparedRequest) -> tuple[int, dict[str, str], str]:
            shown = request.headers.get("Authorization")
            if shown == "Bearer b":
                return 200, {"Docker-Content-Digest": DIGEST, "Content-Type": INDEX_TYPE}, ""
            return 401, {"WWW-Authenticate": other if shown else self.CHALLENGE}, ""

        web.add_callback("HEAD", MANIFEST, answer)
        web.add_callback("GET", self.TOKEN_URL, lambda _: (200, {}, json.dumps({"token": next(tokens)})))
        assert registries().describe(TAG).digest == DIGEST

    def test_a_token_that_is_never_accepted_is_denied_and_not_asked_for_for_ever(
        self, web: responses.RequestsMock
    ) -> None:
        web.head(MANIFEST, status=401, headers={"WWW-Authenticate": self.CHALLENGE + ',error="invalid_token"'})
        web.get(self.TOKEN_URL, json={"access_token": "t"})
        with pytest.raises(Denied, match="shows it to nobody without a login"):
            registries().describe(TAG)
        assert len(web.calls) == 6

    def test_the_password_goes_to_the_realm_and_the_token_alone_to_the_registry(
        self, web: responses.RequestsMock, login: str
    ) -> None:
        web.head(MANIFEST, status=401, headers={"WWW-Authenticate": self.CHALLENGE})
        web.get(self.TOKEN_URL, json={"token": "t"})
        web.head(MANIFEST, **found())
        registries(login).describe(TAG)
        basic = "Basic " + base64.b64encode(f"$oauthtoken:{PASSWORD}".encode()).decode()
        shown = [sent(call).headers.get("Authorization") for call in web.calls]
        assert shown == [None, basic, "Bearer t"]

    def test_an_identity_token_is_posted(self, web: responses.RequestsMock, tmp_path: Path) -> None:
        path = tmp_path / "auth.json"
        path.write_text(json.dumps({"auths": {"nvcr.io": {"identitytoken": PASSWORD}}}))
        web.head(MANIFEST, status=401, headers={"WWW-Authenticate": self.CHALLENGE})
        form = {"grant_type": "refresh_token", "client_id": "flatcar-gpu", "refresh_token": PASSWORD}
        form["scope"] = "repository:nvidia/driver:pull"
        web.post(self.TOKEN_URL, json={"access_token": "t"}, match=[responses.matchers.urlencoded_params_matcher(form)])
        web.head(MANIFEST, **found())
        assert registries(str(path)).describe(TAG).digest == DIGEST

    def test_a_registry_token_that_has_run_out_is_said_to_be_in_its_file(
        self, web: responses.RequestsMock, tmp_path: Path
    ) -> None:
        path = tmp_path / "auth.json"
        path.write_text(json.dumps({"auths": {"nvcr.io": {"registrytoken": PASSWORD}}}))
        web.head(MANIFEST, status=401, headers={"WWW-Authenticate": self.CHALLENGE + ',error="invalid_token"'})
        with pytest.raises(Denied, match=f"does not accept the token in {path}"):
            registries(str(path)).describe(TAG)

    @pytest.mark.parametrize("body", ["<html>", "[]", "{}", '{"token": 1}', '{"token": "a\\nb"}'])
    def test_what_is_no_token_is_said_so(self, body: str, web: responses.RequestsMock) -> None:
        web.head(MANIFEST, status=401, headers={"WWW-Authenticate": self.CHALLENGE})
        web.get(self.TOKEN_URL, body=body)
        with pytest.raises(Unknown, match="not a token"):
            registries().describe(TAG)

    @pytest.mark.parametrize("realm", ["", "file:///etc/passwd", "http://127.0.0.1:1/token", "token"])
    def test_a_realm_that_is_no_place_to_ask_is_not_asked(self, realm: str, web: responses.RequestsMock) -> None:
        web.head(MANIFEST, status=401, headers={"WWW-Authenticate": f'Bearer realm="{realm}"'})
        with pytest.raises(Unknown, match="no place to ask"):
            registries().describe(TAG)

    def test_a_realm_without_tls_gets_no_password(self, web: responses.RequestsMock, login: str) -> None:
        web.head(MANIFEST, status=401, headers={"WWW-Authenticate": 'Bearer realm="http://nvcr.io/token"'})
        with pytest.raises(Denied, match="not encrypted"):
            registries(login).describe(TAG)

    def test_a_wrong_password_is_denied_with_the_file_it_is_from(self, web: responses.RequestsMock, login: str) -> None:
        web.head(MANIFEST, status=401, headers={"WWW-Authenticate": self.CHALLENGE})
        web.get(self.TOKEN_URL, status=401)
        with pytest.raises(Denied, match=f"refuses the user name and password from {login}"):
            registries(login).describe(TAG)

    def test_a_registry_with_basic_authentication_is_shown_the_password(
        self, web: responses.RequestsMock, login: str
    ) -> None:
        web.head(MANIFEST, status=401, headers={"WWW-Authenticate": 'Basic realm="x"'})
        web.head(MANIFEST, **found())
        assert registries(login).describe(TAG).digest == DIGEST

    def test_a_registry_with_basic_authentication_refuses_a_wrong_password_once(
        self, web: responses.RequestsMock, login: str
    ) -> None:
        web.head(MANIFEST, status=401, headers={"WWW-Authenticate": 'Basic realm="x"'})
        with pytest.raises(Denied, match="refuses the user name and password"):
            registries(login).describe(TAG)
        assert len(web.calls) == 2


class TestWhereSecretsGo:
    def test_a_redirect_to_another_host_is_followed_without_the_token(
        self, web: responses.RequestsMock, login: str
    ) -> None:
        web.head(MANIFEST, status=401, headers={"WWW-Authenticate": 'Basic realm="x"'})
        web.head(MANIFEST, status=307, headers={"Location": "https://cdn.example/m"})
        web.head("https://cdn.example/m", **found())
        registries(login).describe(TAG)
        assert "Authorization" in sent(web.calls[1]).headers
        assert "Authorization" not in sent(web.calls[2]).headers

    def test_a_redirect_from_https_to_http_is_not_followed(self, web: responses.RequestsMock) -> None:
        web.head(MANIFEST, status=302, headers={"Location": "http://nvcr.io/m"})
        with pytest.raises(Unknown, match="not encrypted"):
            registries().describe(TAG)

    def test_redirects_in_a_circle_end(self, web: responses.RequestsMock) -> None:
        web.head(MANIFEST, status=302, headers={"Location": MANIFEST})
        with pytest.raises(Unknown, match="redirects more than 5 times"):
            registries().describe(TAG)

    def test_a_netrc_file_is_not_used(
        self, web: responses.RequestsMock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "netrc").write_text(f"machine nvcr.io login u password {PASSWORD}\n")
        (tmp_path / "netrc").chmod(0o600)
        monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
        web.head(MANIFEST, **found())
        registries().describe(TAG)
        assert "Authorization" not in sent(web.calls[0]).headers

    def test_they_are_in_no_message_and_no_trace(
        self, web: responses.RequestsMock, login: str, naps: list[float]
    ) -> None:
        challenge = f'Bearer realm="https://user:{PASSWORD}@auth.example/token?key={PASSWORD}"'
        web.head(MANIFEST, status=401, headers={"WWW-Authenticate": challenge})
        web.get(f"https://user:{PASSWORD}@auth.example/token", body=requests.ConnectionError(f"https://x/?{PASSWORD}"))
        trace: list[str] = []
        with pytest.raises(Unreachable) as caught:
            registries(login, trace).describe(TAG)
        text = " ".join([*trace, str(caught.value), caught.value.hint, repr(caught.value)])
        encoded = base64.b64encode(f"$oauthtoken:{PASSWORD}".encode()).decode()
        assert PASSWORD not in text
        assert encoded not in text
        assert caught.value.__cause__ is None

    def test_more_tags_on_another_host_are_not_fetched(self, web: responses.RequestsMock) -> None:
        url = "https://nvcr.io/v2/nvidia/driver/tags/list"
        web.get(url, json={"tags": []}, headers={"Link": '<https://evil.example/tags>; rel="next"'})
        with pytest.raises(Unknown, match=r"evil\.example"):
            registries().tags(TAG)


class TestTrouble:
    @pytest.mark.parametrize("value", ["7", "date"])
    def test_after_429_it_waits_as_long_as_asked_and_tries_again(
        self, value: str, web: responses.RequestsMock, naps: list[float]
    ) -> None:
        header = formatdate(time.time() + 7, usegmt=True) if value == "date" else value
        web.head(MANIFEST, status=429, headers={"Retry-After": header})
        web.head(MANIFEST, **found())
        assert registries().describe(TAG).digest == DIGEST
        assert naps == [pytest.approx(7, abs=1.5)]

    def test_a_registry_that_wants_to_be_left_alone_for_long_is(
        self, web: responses.RequestsMock, naps: list[float]
    ) -> None:
        web.head(MANIFEST, status=429, headers={"Retry-After": "3600"}, content_type="text/html")
        with pytest.raises(Unknown, match=r"\(429\); it asks to wait 3600 seconds"):
            registries().describe(TAG)
        assert naps == []

    def test_what_may_pass_is_tried_again_with_longer_and_longer_pauses(
        self, web: responses.RequestsMock, naps: list[float]
    ) -> None:
        web.head(MANIFEST, status=503)
        with pytest.raises(Unknown, match="answers 503 Service Unavailable"):
            registries(retry_times=3).describe(TAG)
        assert naps == [0.5, 1, 2]

    def test_other_failures_are_not_tried_again(self, web: responses.RequestsMock, naps: list[float]) -> None:
        web.head(MANIFEST, status=418)
        with pytest.raises(Unknown, match="answers 418"):
            registries().describe(TAG)
        assert len(web.calls) == 1

    @pytest.mark.parametrize(
        ("error", "says"),
        [
            (requests.ConnectTimeout(), "did not answer within 10 seconds"),
            (requests.exceptions.ProxyError("http://u:p@proxy"), "the proxy for nvcr.io does not connect"),
            (requests.ConnectionError(OSError(111, "Connection refused")), "cannot be reached: Connection refused"),
            (requests.exceptions.InvalidURL("bad"), "cannot be asked: InvalidURL"),
        ],
    )
    def test_no_answer_has_its_own_message(
        self, error: Exception, says: str, web: responses.RequestsMock, naps: list[float]
    ) -> None:
        web.head(MANIFEST, body=error)
        with pytest.raises(Unknown, match=says):
            registries().describe(TAG)

    def test_a_registry_that_cannot_be_reached_is_not_asked_again(
        self, web: responses.RequestsMock, naps: list[float]
    ) -> None:
        web.head(MANIFEST, body=requests.ConnectTimeout())
        asked = registries(retry_times=0)
        for _ in range(3):
            with pytest.raises(Unreachable):
                asked.describe(TAG)
        assert len(web.calls) == 1

    def test_without_tls_a_registry_is_found_at_the_port_of_http(
        self, web: responses.RequestsMock, naps: list[float]
    ) -> None:
        web.get("https://plain.example/v2/", body=requests.ConnectionError(OSError(111, "Connection refused")))
        web.get("http://plain.example/v2/", status=401)
        web.head("http://plain.example/v2/driver/manifests/1", **found())
        reference = parse_reference("plain.example/driver:1")
        assert registries(tls_verify=False).describe(reference).digest == DIGEST

    def test_a_certificate_bundle_that_is_not_there_is_an_error(self) -> None:
        with pytest.raises(Failure, match="no certificate bundle /none"):
            registries(ca_file="/none")

    def test_a_warning_of_the_registry_is_kept_for_the_user(self, web: responses.RequestsMock) -> None:
        web.head(MANIFEST, **found(Warning='299 - "this registry closes in May"'))
        asked = registries()
        asked.describe(TAG)
        assert list(asked.warnings) == ["nvcr.io says: this registry closes in May"]


class TestTags:
    URL = "https://nvcr.io/v2/nvidia/driver/tags/list"

    def test_pages_are_followed_by_their_links_and_sorted(self, web: responses.RequestsMock) -> None:
        web.get(f"{self.URL}?n=1000", json={"tags": ["c", "a"]}, headers={"Link": '</v2/x?last=a>; rel="next"'})
        web.get(
            "https://nvcr.io/v2/x?last=a", json={"tags": ["b", "a"]}, headers={"Link": f"<{self.URL}?p=3>; rel=next"}
        )
        web.get(f"{self.URL}?p=3", json={"tags": None})
        assert registries().tags(TAG) == ["a", "b", "c"]

    def test_pages_without_an_end_are_left(self, web: responses.RequestsMock) -> None:
        web.get(self.URL, json={"tags": ["a"]}, headers={"Link": f'<{self.URL}>; rel="next"'})
        assert registries().tags(TAG) == ["a"]
        assert len(web.calls) == 100

    def test_a_missing_image_comes_with_the_tags_that_are_like_it(self, web: responses.RequestsMock) -> None:
        web.get(MANIFEST, status=404, content_type="application/json")
        web.get(self.URL, json={"tags": ["460.73.01-flatcar2765.2.3", "470.57.02-flatcar2905.2.0", "1"]})
        asked = registries()
        (lookup,) = with_neighbours(look_up([TAG], asked), asked).values()
        assert lookup.state is State.MISSING
        assert lookup.hint == "the repository has 460.73.01-flatcar2765.2.3"

    def test_a_missing_image_is_missing_where_tags_are_not_listed(self, web: responses.RequestsMock) -> None:
        web.get(MANIFEST, status=404, content_type="application/json")
        web.get(self.URL, status=403)
        asked = registries()
        (lookup,) = with_neighbours(look_up([TAG], asked), asked).values()
        assert (lookup.state, lookup.hint) == (State.MISSING, "")


def test_each_reference_is_asked_for_once_and_reported_in_order(web: responses.RequestsMock) -> None:
    web.get(MANIFEST, status=404, content_type="application/json")
    web.get("https://nvcr.io/v2/nvidia/driver/manifests/1", status=403)
    other = parse_reference("nvcr.io/nvidia/driver:1")
    done: list[int] = []
    lookups = look_up([other, TAG, other], registries(), done=lambda: done.append(1))
    assert [(reference, lookup.state) for reference, lookup in lookups.items()] == [
        (other, State.DENIED),
        (TAG, State.MISSING),
    ]
    assert len(done) == len(web.calls) == 2


def test_an_image_for_another_architecture_is_unfit(web: responses.RequestsMock) -> None:
    web.get(MANIFEST, body=INDEX, headers={"Docker-Content-Digest": INDEX_DIGEST}, content_type=INDEX_TYPE)
    lookup = look_up([TAG], registries())[TAG]
    assert lookup.platforms == ("linux/amd64",)
    assert lookup.on("amd64").state is State.PRESENT
    assert lookup.on("arm64").state is State.UNFIT
    assert "not for linux/arm64" in lookup.on("arm64").message


@pytest.mark.parametrize(
    ("variables", "proxies"),
    [
        ({"HTTPS_PROXY": "http://proxy:3128"}, {"https": "http://proxy:3128"}),
        ({"https_proxy": "http://proxy:3128", "no_proxy": "nvcr.io"}, {}),
        ({}, {}),
    ],
)
def test_a_proxy_is_used_as_the_environment_says(
    variables: dict[str, str], proxies: dict[str, str], web: responses.RequestsMock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "HTTPS_PROXY",
        "https_proxy",
        "NO_PROXY",
        "no_proxy",
        "ALL_PROXY",
        "all_proxy",
        "HTTP_PROXY",
        "http_proxy",
    ):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    web.head(MANIFEST, **found())
    registries().describe(TAG)
    assert sent(web.calls[0]).req_kwargs["proxies"] == proxies  # type: ignore[attr-defined]
