"""Rules that go beyond what the corpus pins: modes, unit files, URLs."""

from __future__ import annotations

import pytest

from flatcar_gpu.transpile.modes import octal_reading
from flatcar_gpu.transpile.unit_file import UnitError, sections_with_options
from flatcar_gpu.transpile.urls import BadUrl, check_data_url, parse, query_value


def test_as_many_decimal_modes_are_mistakes_as_for_butane() -> None:
    files = [mode for mode in range(-1, 9000) if octal_reading(mode, directory=False) is not None]
    directories = [mode for mode in range(-1, 9000) if octal_reading(mode, directory=True) is not None]
    assert (len(files), files[0], files[-1]) == (42, 400, 6775)
    assert (len(directories), directories[0], directories[-1]) == (27, 500, 3777)


@pytest.mark.parametrize(("mode", "meant"), [(644, 0o644), (755, 0o755), (0o644, None), (888, None), (-644, None)])
def test_the_octal_reading_of_a_decimal_mode(mode: int, meant: int | None) -> None:
    assert octal_reading(mode, directory=False) == meant


@pytest.mark.parametrize(
    ("text", "sections"),
    [
        ("", set()),
        ("junk [A]\nb=c\n", {"A"}),
        ("[A]\n[B]\nc=d\n", {"B"}),
        ("[A]\n# c=d\n;e=f\n", set()),
        ("[A]\n# c=d \\\n[B]\ne=f\n", {"A"}),
        ("[A]\nb=c \\\n[B]\nd=e\n[C]\nf=g", {"A", "C"}),
        ("[A]\nb=c \\\n\n[B]\nd=e\n", {"A", "B"}),
        ("[A]  \t\n\n  b = c\n", {"A"}),
        ("[A]\n\xa0\u2003b=c\n", {"A"}),
        ("[A\nB]\nc=d\n", {"A\nB"}),
    ],
)
def test_sections_that_have_options(text: str, sections: set[str]) -> None:
    assert sections_with_options(text) == sections


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[A", "unable to find end of section"),
        ("[A] b\n", 'found garbage after section name : "b"'),
        ("[A]\nb\n", "unexpected newline encountered while parsing option name"),
        ("[A]\nb", "EOF"),
        ("[A]\nb=" + "x" * 3000 + "\n", "line too long (max 2048 bytes)"),
        ("[A]\nb=" + "x" * 2000 + "\n", None),
        ("[A]\n" + "b=c\n" * 700 + "d=" + "x" * 2500 + "\n", None),
        ("[A]\n \xa0\u2003" + "b" * 3000, "line too long (max 2048 bytes)"),
    ],
)
def test_unit_files_that_go_systemd_refuses(text: str, message: str | None) -> None:
    if message is None:
        sections_with_options(text)
        return
    with pytest.raises(UnitError) as caught:
        sections_with_options(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "text",
    ["", "*", "http://a", "HTTP://a:80/b?c=%zz#d", "http://[::1%25en0]:1", "a/b:c", "///a", "mailto:%zz", "http://é/é"],
)
def test_urls_that_go_parses(text: str) -> None:
    parse(text)


@pytest.mark.parametrize(
    "text",
    [":a", "a b:c", "http://a b", "http://a/%zz", "http://a:b", "http://[::1", "http://a#%z", "http://%41", "\x7f"],
)
def test_urls_that_go_does_not_parse(text: str) -> None:
    with pytest.raises(BadUrl):
        parse(text)


@pytest.mark.parametrize(
    ("query", "value"), [("a=1&versionId=2", "2"), ("versionId", ""), ("a;versionId=1", None), ("version%49d=x", "x")]
)
def test_query_values(query: str, value: str | None) -> None:
    assert query_value(query, "versionId") == value


@pytest.mark.parametrize(
    "text",
    [
        "data:,",
        "data:,a%20b",
        "data:text/plain,x",
        "data:text/plain;charset=utf-8;base64,aGk=",
        'data:;a="b;c",x',
        "data:x-a/b,c",
        "data:;base64,",
    ],
)
def test_data_urls_that_are_taken(text: str) -> None:
    check_data_url(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("data:;base64,a", "illegal base64 data at input byte 0"),
        ("data:;base64,aGk", "illegal base64 data at input byte 0"),
        ("data:;base64,aGk=x", "illegal base64 data at input byte 4"),
        ("data:,%4", "rfc2396: unexpected end of unescape sequence"),
        ("data:,%4x", "rfc2396: invalid char 0x25 in unescape sequence"),
        ("data:;a=%zz,x", "rfc2396: invalid char 0x25 in unescape sequence"),
        ("data::", "invalid character after data prefix"),
        ("data:,é", "invalid data character"),
        ("data:text", "missing media type slash"),
        ("data:;a", "unterminated parameter sequence"),
    ],
)
def test_data_urls_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(BadUrl) as caught:
        check_data_url(text)
    assert str(caught.value) == message
