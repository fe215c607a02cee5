"""What Butane does not say: hints, notes, and places of what does not fit."""

from __future__ import annotations

import pytest

from flatcar_gpu.report import Position, Severity
from flatcar_gpu.transpile import raw_report, transpile

HEADER = "variant: flatcar\nversion: 1.0.0\n"


def hints(rest: str, header: str = HEADER) -> list[str]:
    return [problem.hint for problem in transpile((header + rest).encode()).findings]


@pytest.mark.parametrize(
    ("rest", "hint"),
    [
        ("storage: {files: [{path: /a, mod: 1}]}", "did you mean mode?"),
        ("storage: {files: [{path: /a, contents: {httpHeaders: []}}]}", "did you mean http_headers?"),
        ("units: []", "it belongs into systemd"),
        ("systemd: {units: [{name: a.service, contents_local: x}]}", "flatcar has it from version 1.1.0 on"),
        ("boot_device: {}", "it is a key of the fcos variant; write storage.disks, storage.raid and storage.luks"),
        ("passwd: {groups: [{name: g, zzz: 1}]}", "known here: gid, name, password_hash, should_exist, system"),
        ("storage: {files: [{path: /a, mode: 644}]}", "write 0644; 644 without the zero is decimal for 01204"),
        ("storage: {links: [{path: a, target: x}]}", "let it begin with a slash"),
        ('passwd: {users: [{name: a, uid: "5"}]}', "write the number without quotes"),
        ('systemd: {units: [{name: a.service, mask: "true"}]}', "write true or false without quotes"),
        ("storage: {files: /a}", "write a list: each item behind a dash"),
        (
            "passwd:\n\tusers: []",
            "indent with spaces, not tabs, and quote a value that begins with `%`, `@` or a backquote",
        ),
        (
            "storage: {files: [{path: /a}, {path: /a}]}",
            "the first one is $.storage.files.0, line 3 column 19",
        ),
        (
            'systemd: {units: [{name: a.service, enabled: true, contents: "[Unit]"}]}',
            "add a section [Install] with WantedBy=multi-user.target, or leave enabled out",
        ),
        (
            "update: {group: beta}",
            "it is a key of Container Linux Configs; in Butane write the file "
            "/etc/flatcar/update.conf in storage.files (GROUP=, SERVER=)",
        ),
    ],
)
def test_the_way_out_is_told(rest: str, hint: str) -> None:
    assert hint in hints(rest)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("variant: flatcar\nversion: 1.9.0\n", "known versions of flatcar: 1.0.0, 1.1.0, 1.2.0-experimental"),
        ("variant: fcos\nversion: 1.0.0\n", "only the variant flatcar is known here"),
        ("systemd: {units: []}\nlocksmith: {}\n", "this looks like a Container Linux Config"),
        ('{"ignition": {"version": "3.3.0"}}', "an Ignition config needs no transpiling"),
        ("", "begin with `variant: flatcar`"),
    ],
)
def test_a_config_that_no_translator_takes(text: str, part: str) -> None:
    [hint] = hints("", text)
    assert part in hint


def test_gzip_that_is_none_is_a_note_and_changes_nothing_else() -> None:
    text = HEADER + "storage: {files: [{path: /a, contents: {inline: plain, compression: gzip}}]}\n"
    result = transpile(text.encode())
    assert result.ignition is not None
    assert raw_report(result, strict=True) == ""
    [note] = result.notes
    assert (note.severity, note.path) == (Severity.INFO, "$.storage.files.0.contents.compression")


def test_yaml_errors_have_their_true_place() -> None:
    result = transpile(b"variant: flatcar\nversion: 1.0.0\nstorage: [a\n")
    assert [note.position for note in result.notes] == [Position(4, 1)]
    result = transpile((HEADER + "passwd: {users: [{name: a, uid: x}, {name: b, uid: y}]}").encode())
    assert [note.position for note in result.notes] == [Position(3, 33), Position(3, 52)]
