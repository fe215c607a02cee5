from __future__ import annotations

import pytest

from flatcar_gpu.forms import CHART_VERSION, DIGEST, DRIVER_VERSION, HASH, IMAGE, PATH, REPOSITORY, TAINT, Form
from flatcar_gpu.settings import form_problems, settings, with_values
from flatcar_gpu.spec import Arch, Spec, Toolkit


@pytest.mark.parametrize(
    ("form", "text", "fits"),
    [
        (PATH, "/opt/nvidia", True),
        (PATH, "/opt/usr-local-overlay.wd", True),
        (PATH, "/", True),
        (PATH, "opt/nvidia", False),
        (PATH, "/opt/", False),
        (PATH, "//opt", False),
        (PATH, "/opt/../usr", False),
        (PATH, "/opt/.", False),
        (PATH, "/opt/..x/.y", True),
        (PATH, "/opt/a b", False),
        (PATH, "/opt/a,upperdir=b", False),
        (PATH, "/opt/a\n", False),
        (DRIVER_VERSION, "570.195.03", True),
        (DRIVER_VERSION, "570.144", True),
        (DRIVER_VERSION, "570", True),
        (DRIVER_VERSION, "57", False),
        (DRIVER_VERSION, "570.", False),
        (DRIVER_VERSION, "570.195.03 ", False),
        (HASH, "sha256-" + "0" * 64, True),
        (HASH, "sha512-" + "f" * 128, True),
        (HASH, "sha256-" + "0" * 63, False),
        (HASH, "0" * 64, False),
        (REPOSITORY, "registry.example.com:5000/team/nvidia", True),
        (REPOSITORY, "localhost:5000", True),
        (REPOSITORY, "registry.example.com/nvidia/", False),
        (REPOSITORY, "https://registry.example.com/nvidia", False),
        (REPOSITORY, "registry.example.com/nvidia/driver:570", False),
        (REPOSITORY, "registry.example.com/NVIDIA", False),
        (IMAGE, "flatcar-driver", True),
        (IMAGE, "driver:570", False),
        (IMAGE, "nvidia/driver", False),
        (DIGEST, "sha256:" + "0" * 64, True),
        (DIGEST, "sha256-" + "0" * 64, False),
        (CHART_VERSION, "v25.10.1", True),
        (CHART_VERSION, "26.7.0", True),
        (CHART_VERSION, "v25.10", False),
        (TAINT, "nvidia.com/gpu", True),
        (TAINT, "dedicated=gpu:NoExecute", True),
        (TAINT, "dedicated:PreferNoSchedule", True),
        (TAINT, "dedicated=:NoSchedule", True),
        (TAINT, "dedicated:Never", False),
        (TAINT, "=gpu", False),
    ],
)
def test_forms(form: Form, text: str, fits: bool) -> None:
    assert form.fits(text) is fits


def test_every_setting_has_a_key_a_flag_and_a_help_of_its_own() -> None:
    found = settings()
    assert len({setting.flag for setting in found.values()}) == len(found)
    assert all(setting.help.endswith(".") and setting.flag.startswith("--") for setting in found.values())
    assert found["toolkit.installDir"].flag == "--toolkit-install-dir"
    assert found["toolkit.runtimeSysext.hash"].attributes == ("toolkit", "runtime_sysext", "hash")


def test_the_kind_of_a_setting_is_its_plain_type() -> None:
    kinds = {key: setting.kind for key, setting in settings().items()}
    assert kinds["arch"] is Arch
    assert kinds["toolkit.provider"] is Toolkit
    assert kinds["modules"] is tuple
    assert kinds["driver.version"] is str
    assert kinds["updates.hold"] is bool


def test_values_replace_what_they_name_and_nothing_else() -> None:
    spec = with_values(Spec(), {"toolkit.runtimeSysext.version": "v1.17.9", "arch": Arch.ARM64})
    assert spec.toolkit.runtime_sysext.version == "v1.17.9"
    assert spec.arch is Arch.ARM64
    assert spec.driver == Spec().driver


def test_the_defaults_have_their_forms() -> None:
    assert list(form_problems(Spec())) == []


def test_a_value_of_the_wrong_form_is_named_with_its_key_and_what_is_expected() -> None:
    spec = with_values(Spec(), {"modules": ("good", "b@d"), "driver.version": "57O.1"})
    assert [(problem.path, problem.message) for problem in form_problems(spec)] == [
        ("driver.version", "'57O.1' is not a driver version such as 570.195.03, or a branch such as 570"),
        ("modules.1", "'b@d' is not the name of a kernel module"),
    ]
