from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flatcar_gpu.errors import Failure
from flatcar_gpu.images.reference import Reference, parse_name, parse_reference

SHA256 = "sha256:" + "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("nvcr.io/nvidia/driver:460.73.01", Reference("nvcr.io", "nvidia/driver", "460.73.01")),
        ("nvcr.io/nvidia/driver", Reference("nvcr.io", "nvidia/driver")),
        (f"nvcr.io/nvidia/driver@{SHA256}", Reference("nvcr.io", "nvidia/driver", "", SHA256)),
        (f"nvcr.io/nvidia/driver:1@{SHA256}", Reference("nvcr.io", "nvidia/driver", "1", SHA256)),
        ("localhost/driver:1", Reference("localhost", "driver", "1")),
        ("localhost:5000/nvidia/driver", Reference("localhost:5000", "nvidia/driver")),
        ("127.0.0.1:5000/driver:1", Reference("127.0.0.1:5000", "driver", "1")),
        ("[::1]:5000/driver:1", Reference("[::1]:5000", "driver", "1")),
        ("driver", Reference("docker.io", "library/driver")),
        ("driver:1", Reference("docker.io", "library/driver", "1")),
        ("nvidia/driver:1", Reference("docker.io", "nvidia/driver", "1")),
        ("index.docker.io/nvidia/driver", Reference("docker.io", "nvidia/driver")),
        ("a/b__c/d---e.f", Reference("docker.io", "a/b__c/d---e.f")),
    ],
)
def test_a_reference_is_normalised_as_runtimes_do(text: str, reference: Reference) -> None:
    assert parse_reference(text) == reference


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "'' is not the name of a repository"),
        ("nvcr.io/nvidia/driver:", "the tag is empty"),
        ("nvcr.io/nvidia/driver:-1", "'-1' is not a tag"),
        ("nvcr.io/nvidia/driver:" + "1" * 129, "the tag is 129 characters long, registries allow 128"),
        ("nvcr.io/nvidia/driver@sha256:12", "'sha256:12' is not a digest"),
        ("nvcr.io/nvidia/driver@" + SHA256.upper(), "is not a digest"),
        ("nvcr.io/NVIDIA/driver", "'NVIDIA/driver' is not the name of a repository"),
        ("docker://nvcr.io/nvidia/driver", "begins with a scheme"),
        ("nvcr.io//driver", "is not the name of a repository"),
        ("nvcr.io/", "is not the name of a repository"),
        ("nv_cr.io/driver", "'nv_cr.io' is not a host"),
        ("user@nvcr.io/driver", "is not a digest"),
        ("nvcr.io/" + "a" * 248, "its name is 256 characters long, registries allow 255"),
        ("nvcr.io/driver:1\n", "is not a tag"),
        ("nvcr.io/drivér:1", "is not the name of a repository"),
    ],
)
def test_what_runtimes_refuse_is_an_error_that_says_which_part(text: str, says: str) -> None:
    with pytest.raises(Failure) as caught:
        parse_reference(text)
    assert says in caught.value.message


def test_the_limits_themselves_are_allowed() -> None:
    assert len(parse_reference("nvcr.io/d:" + "1" * 128).tag) == 128
    assert len(parse_name("nvcr.io/" + "a" * 247).name) == 255


_COMPONENT = st.from_regex(r"\A[a-z0-9]{1,9}([._-][a-z0-9]{1,9}){0,2}\Z")
_TAG = st.text(string.ascii_letters + string.digits + "_.-", max_size=127).map(lambda rest: "v" + rest)
_DIGEST = st.text("0123456789abcdef", min_size=64, max_size=64).map(lambda digits: f"sha256:{digits}")
_HOST = st.sampled_from(
    ["nvcr.io", "localhost", "localhost:5000", "registry.example.com:443", "[::1]:5000", "10.0.0.1"]
)


@given(_HOST, st.lists(_COMPONENT, min_size=1, max_size=4), st.just("") | _TAG, st.just("") | _DIGEST)
def test_a_reference_with_a_registry_is_read_back_as_it_is_written(
    host: str, components: list[str], tag: str, digest: str
) -> None:
    reference = Reference(host, "/".join(components), tag, digest)
    assert parse_reference(str(reference)) == reference


@given(st.text(max_size=60) | st.text("ab./:@-_A\n", max_size=60))
def test_any_text_is_read_or_refused_and_what_is_read_stays_the_same(text: str) -> None:
    try:
        reference = parse_reference(text)
    except Failure:
        return
    assert parse_reference(str(reference)) == reference
