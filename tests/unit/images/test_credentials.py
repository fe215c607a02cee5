from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest

from flatcar_gpu.errors import Failure
from flatcar_gpu.images.registry.credentials import Credential, CredentialStore, Secret

if TYPE_CHECKING:
    from pathlib import Path


def auth(user: str, password: str) -> dict[str, str]:
    return {"auth": base64.b64encode(f"{user}:{password}".encode()).decode()}


def write(path: Path, content: Any) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return str(path)


def find(path: str, registry: str = "nvcr.io", repository: str = "nvidia/driver") -> Credential | None:
    return CredentialStore(path, {}).find(registry, repository)


@pytest.fixture
def helper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A credential helper on the PATH, to be filled in; the second line is what it was asked."""
    program = tmp_path / "programs" / "docker-credential-test"
    program.parent.mkdir()
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    program.touch(mode=0o755)
    return program


@pytest.mark.parametrize(
    ("key", "registry", "repository", "found"),
    [
        ("nvcr.io", "nvcr.io", "nvidia/driver", True),
        ("https://nvcr.io/v2/", "nvcr.io", "nvidia/driver", True),
        ("https://nvcr.io", "nvcr.io", "nvidia/driver", True),
        ("nvcr.io/nvidia", "nvcr.io", "nvidia/driver", True),
        ("nvcr.io/nvidia/driver", "nvcr.io", "nvidia/driver", True),
        ("nvcr.io/nv", "nvcr.io", "nvidia/driver", False),
        ("io", "nvcr.io", "nvidia/driver", False),
        ("nvcr.io:443", "nvcr.io", "nvidia/driver", False),
        ("https://index.docker.io/v1/", "docker.io", "library/driver", True),
        ("docker.io/library", "docker.io", "library/driver", True),
    ],
)
def test_a_key_covers_its_host_and_namespace(
    key: str, registry: str, repository: str, found: bool, tmp_path: Path
) -> None:
    credential = find(write(tmp_path / "auth.json", {"auths": {key: auth("u", "p")}}), registry, repository)
    assert (credential is not None) is found


def test_the_narrowest_key_wins(tmp_path: Path) -> None:
    auths = {
        "nvcr.io": auth("host", "p"),
        "nvcr.io/nvidia/driver": auth("image", "p"),
        "nvcr.io/nvidia": auth("n", "p"),
    }
    credential = find(write(tmp_path / "auth.json", {"auths": auths}))
    assert credential
    assert credential.username == "image"


@pytest.mark.parametrize(
    ("entry", "kind", "secret"),
    [
        (auth("$oauthtoken", "a:b"), Secret.PASSWORD, "a:b"),
        ({"username": "u", "password": "p"}, Secret.PASSWORD, "p"),
        (auth("u", "p") | {"identitytoken": "i"}, Secret.IDENTITY_TOKEN, "i"),
        ({"registrytoken": "r"}, Secret.REGISTRY_TOKEN, "r"),
    ],
)
def test_an_entry_holds_a_password_or_a_token(entry: dict[str, str], kind: Secret, secret: str, tmp_path: Path) -> None:
    credential = find(write(tmp_path / "auth.json", {"auths": {"nvcr.io": entry}}))
    assert credential
    assert (credential.kind, credential.secret) == (kind, secret)


def test_files_are_looked_at_in_podman_s_order_then_docker_s(tmp_path: Path) -> None:
    places = {
        "run": tmp_path / "run/containers/auth.json",
        "config": tmp_path / "home/.config/containers/auth.json",
        "docker": tmp_path / "home/.docker/config.json",
    }
    for name, path in places.items():
        write(path, {"auths": {"nvcr.io": auth(name, "p")}})
    environment = {"XDG_RUNTIME_DIR": str(tmp_path / "run"), "HOME": str(tmp_path / "home")}
    for name, path in places.items():
        credential = CredentialStore(environment=environment).find("nvcr.io", "nvidia/driver")
        assert credential
        assert credential.username == name
        path.unlink()
    assert CredentialStore(environment=environment).find("nvcr.io", "nvidia/driver") is None


def test_a_later_file_helps_out_where_an_earlier_has_nothing_for_the_host(tmp_path: Path) -> None:
    write(tmp_path / "run/containers/auth.json", {"auths": {"quay.io": auth("q", "p")}})
    write(tmp_path / "docker/config.json", {"auths": {"nvcr.io": auth("n", "p")}})
    environment = {"XDG_RUNTIME_DIR": str(tmp_path / "run"), "DOCKER_CONFIG": str(tmp_path / "docker")}
    credential = CredentialStore(environment=environment).find("nvcr.io", "nvidia/driver")
    assert credential
    assert credential.username == "n"


def test_the_variable_names_the_only_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", {"auths": {"nvcr.io": auth("a", "p")}})
    credential = CredentialStore(environment={"REGISTRY_AUTH_FILE": path}).find("nvcr.io", "x")
    assert credential
    assert credential.origin == path


def test_a_helper_is_asked_with_the_host_on_stdin(helper: Path, tmp_path: Path) -> None:
    helper.write_text(
        f'#!/bin/sh\ncat > {tmp_path}/asked\n[ "$1" = get ] && echo \'{{"Username": "u", "Secret": "s"}}\'\n'
    )
    credential = find(write(tmp_path / "auth.json", {"credHelpers": {"nvcr.io": "test"}}))
    assert credential == Credential("docker-credential-test", "u", "s")
    assert (tmp_path / "asked").read_text() == "nvcr.io"


def test_the_store_is_asked_for_what_has_no_helper_and_can_hold_identity_tokens(helper: Path, tmp_path: Path) -> None:
    helper.write_text(f'#!/bin/sh\ncat > {tmp_path}/asked\necho \'{{"Username": "<token>", "Secret": "s"}}\'\n')
    path = write(tmp_path / "auth.json", {"credsStore": "test", "auths": {"docker.io": {}}})
    credential = find(path, "docker.io", "library/driver")
    assert credential
    assert credential.kind is Secret.IDENTITY_TOKEN
    assert (tmp_path / "asked").read_text() == "https://index.docker.io/v1/"


def test_a_helper_without_credentials_means_anonymous(helper: Path, tmp_path: Path) -> None:
    helper.write_text("#!/bin/sh\necho 'credentials not found in native keychain'\nexit 1\n")
    assert find(write(tmp_path / "auth.json", {"credsStore": "test"})) is None


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("no json: hunter2", "is not JSON"),
        ("[]", "is not a JSON object"),
        ('{"auths": []}', None),
        ('{"auths": ["hunter2"]}', "auths in the auth file"),
        ('{"auths": {"nvcr.io": {"auth": "hunter2"}}}', "auth is not base64"),
        ('{"auths": {"nvcr.io": {"auth": "aHVudGVyMg=="}}}', "auth is not base64 of a user name and a password"),
        ('{"credsStore": "../../evil"}', "cannot be a program"),
        ('{"credsStore": "not-there"}', "cannot be run"),
    ],
)
def test_a_broken_file_is_an_error_that_shows_nothing_of_it(content: str, says: str | None, tmp_path: Path) -> None:
    path = tmp_path / "auth.json"
    path.write_text(content)
    if says is None:
        assert find(str(path)) is None
        return
    with pytest.raises(Failure) as caught:
        find(str(path))
    assert says in caught.value.message
    assert str(path) in caught.value.message
    assert "hunter2" not in caught.value.message
    assert "aHVudGVyMg" not in caught.value.message


@pytest.mark.parametrize("prints", ["hunter2", '{"Secret": "hunter2"}', '["hunter2"]'])
def test_what_a_broken_helper_prints_is_not_shown(prints: str, helper: Path, tmp_path: Path) -> None:
    helper.write_text(f"#!/bin/sh\necho '{prints}'\n")
    with pytest.raises(Failure, match="not credentials") as caught:
        find(write(tmp_path / "auth.json", {"credsStore": "test"}))
    assert "hunter2" not in str(caught.value)


def test_a_failing_helper_is_an_error_that_does_not_show_what_it_says(helper: Path, tmp_path: Path) -> None:
    helper.write_text("#!/bin/sh\necho hunter2 >&2\nexit 3\n")
    with pytest.raises(Failure, match="failed with exit code 3") as caught:
        find(write(tmp_path / "auth.json", {"credsStore": "test"}))
    assert "hunter2" not in str(caught.value)


def test_a_file_that_is_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="No such file"):
        find(str(tmp_path / "none.json"))


def test_the_secret_is_in_no_text_made_of_a_credential() -> None:
    assert "hunter2" not in repr(Credential("file", "u", "hunter2"))
