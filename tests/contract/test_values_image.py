"""`values --pin-digest` and `--check-image` against a real registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from flatcar_gpu.cli import run
from tests.registries import running_registry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.registries import Registry

DRIVER = "580.126.09"


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    with running_registry(tmp_path_factory.mktemp("registry")) as found:
        found.push("nvidia/driver", f"{DRIVER}-flatcar4593.2.5")
        yield found


def _values(registry: Registry, *words: str, flatcar: str = "4593.2.5") -> list[str]:
    common = ["--repository", f"{registry.host}/nvidia", "--driver-version", DRIVER, "--hold-updates", "--offline"]
    return ["values", *common, "--flatcar", flatcar, *words]


def test_the_digest_in_the_registry_is_pinned(registry: Registry, capsys: pytest.CaptureFixture[str]) -> None:
    digest = registry.push("nvidia/driver", f"{DRIVER}-flatcar4593.2.5")
    assert run(_values(registry, "--pin-digest")) == 0
    driver = yaml.safe_load(capsys.readouterr().out)["driver"]
    assert driver["version"] == digest
    assert driver["repository"] == f"{registry.host}/nvidia"


def test_an_image_that_is_there_changes_nothing(registry: Registry, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(_values(registry)) == 0
    without = capsys.readouterr().out
    assert run(_values(registry, "--check-image")) == 0
    assert capsys.readouterr().out == without


@pytest.mark.parametrize("option", ["--pin-digest", "--check-image"])
def test_an_image_that_is_missing_fails_and_nothing_is_printed(
    option: str, registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(_values(registry, option, flatcar="4459.2.0")) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert f"{registry.host}/nvidia/driver:{DRIVER}-flatcar4459.2.0" in err


def test_without_a_release_the_image_is_not_certain(registry: Registry, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["values", "--repository", f"{registry.host}/nvidia", "--driver-version", DRIVER, "--pin-digest"]
    assert run(words) == 1
    assert "give --repository, --driver-version and --flatcar" in capsys.readouterr().err


def test_a_digest_and_precompiled_are_still_refused(registry: Registry, capsys: pytest.CaptureFixture[str]) -> None:
    registry.push("nvidia/driver", f"{DRIVER}-6.12.102-flatcar-flatcar4593.2.5")
    assert run(_values(registry, "--precompiled", "--pin-digest")) == 1
    assert "precompiled" in capsys.readouterr().err
