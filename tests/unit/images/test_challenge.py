from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flatcar_gpu.images.registry.challenge import Challenge, parse_challenges


@pytest.mark.parametrize(
    ("header", "challenges"),
    [
        ("", []),
        ("Basic", [Challenge("basic")]),
        ('Basic realm="Registry"', [Challenge("basic", {"realm": "Registry"})]),
        (
            'Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:a/b:pull,push"',
            [
                Challenge(
                    "bearer",
                    {
                        "realm": "https://auth.docker.io/token",
                        "service": "registry.docker.io",
                        "scope": "repository:a/b:pull,push",
                    },
                )
            ],
        ),
        (
            'Bearer realm="https://nvcr.io/proxy_auth",scope="repository:nvidia/driver:pull,push"',
            [
                Challenge(
                    "bearer", {"realm": "https://nvcr.io/proxy_auth", "scope": "repository:nvidia/driver:pull,push"}
                )
            ],
        ),
        (
            'Basic realm="a, b=\\"c\\"", Bearer realm=x , error=invalid_token',
            [Challenge("basic", {"realm": 'a, b="c"'}), Challenge("bearer", {"realm": "x", "error": "invalid_token"})],
        ),
        ("Negotiate, Basic realm=x", [Challenge("negotiate"), Challenge("basic", {"realm": "x"})]),
        ("BEARER REALM = x", [Challenge("bearer", {"realm": "x"})]),
        ('Bearer realm="never closed', [Challenge("bearer"), Challenge("realm")]),
    ],
)
def test_challenges_are_read_with_quotation_marks_and_several_at_once(header: str, challenges: list[Challenge]) -> None:
    assert parse_challenges(header) == challenges


@given(st.text(max_size=80) | st.text('ab=", \\', max_size=80))
def test_any_header_is_read_without_an_error(header: str) -> None:
    parse_challenges(header)


@given(st.dictionaries(st.from_regex(r"\A[a-z]{1,8}\Z"), st.text(st.characters(exclude_characters='\\"'), max_size=20)))
def test_quoted_values_come_back_as_they_are(parameters: dict[str, str]) -> None:
    header = "Bearer " + ",".join(f'{key}="{value}"' for key, value in parameters.items())
    assert parse_challenges(header) == [Challenge("bearer", parameters)]
