"""What the library makes of every input, against what butane made of it."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest
import yaml

from flatcar_gpu.transpile import raw_report, transpile, transpile_tree
from tests.conformance.corpus import Case, cases

# Each with its reason in README.md.
DIFFERENT_OUTPUT: set[str] = set()
DIFFERENT_REPORT = {"f10-yaml-too-deep-nesting"}

ALL = list(cases())

pytestmark = pytest.mark.usefixtures("_in_corpus")


def unpacked(tree: Any) -> Any:
    """The tree with gzip data URLs as what they hold: another deflate makes another stream of the same data."""
    if isinstance(tree, list):
        return [unpacked(item) for item in tree]
    if not isinstance(tree, dict):
        return tree
    source = tree.get("source")
    if tree.get("compression") in ("", "gzip") and isinstance(source, str) and source.startswith("data:"):
        encoded, _, body = source.removeprefix("data:").partition(",")
        data = base64.b64decode(body) if encoded else unquote_to_bytes(body)
        if tree["compression"] == "gzip":
            try:
                data = gzip.decompress(data)
            except OSError:
                return tree  # the user's own claim
        return {**tree, "compression": "", "source": data.hex()}
    return {key: unpacked(value) for key, value in tree.items()}


def same(ours: bytes | None, theirs: bytes | None) -> bool:
    if ours is None or theirs is None or ours == theirs:
        return ours == theirs
    return b'"gzip"' in theirs and bool(unpacked(json.loads(ours)) == unpacked(json.loads(theirs)))


def test_the_corpus_is_whole() -> None:
    assert len(ALL) == 690
    assert sum(case.ignition is not None for case in ALL) == 389


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_output_report_and_exit_codes_are_those_of_butane(case: Case) -> None:
    plain = transpile(case.source, files_dir=case.files_dir)
    pretty = transpile(case.source, files_dir=case.files_dir, pretty=True)
    if case.name not in DIFFERENT_OUTPUT:
        assert same(plain.ignition, case.ignition)
        assert same(pretty.ignition, case.sections.get("pretty"))
        failed, warned = int(bool(plain.failure)), int(bool(len(plain.report)))
        assert (failed, failed, failed | warned, failed) == case.codes
    if case.name not in DIFFERENT_REPORT:
        ours = raw_report(plain).encode(errors="surrogateescape")
        theirs = case.report
        # Butane prints the unknown keys of one mapping in random order.
        assert ours == theirs if case.ordered else sorted(ours.splitlines()) == sorted(theirs.splitlines())


@pytest.mark.parametrize(
    "case", [case for case in ALL if "ignition of go 1.26" in case.sections], ids=lambda case: case.name
)
def test_gzip_is_used_where_released_butane_uses_it(case: Case) -> None:
    """Releases of butane up to 0.29.0 are made with Go 1.26 or older; 1.27 begins a few bytes earlier."""
    ours = transpile(case.source, files_dir=case.files_dir).ignition
    theirs = case.sections["ignition of go 1.26"]
    assert ours is not None
    assert ours.count(b'"compression":"gzip"') == theirs.count(b'"compression":"gzip"')


def _loads_like_butane(case: Case) -> bool:
    # PyYAML's own types read some scalars in another way than go-yaml, and refuse others.
    return case.ignition is not None and not case.name.startswith(("f10-yaml", "hdr", "f10-json-escape"))


@pytest.mark.parametrize("case", [case for case in ALL if _loads_like_butane(case)], ids=lambda case: case.name)
def test_python_data_gives_the_same_bytes_as_its_yaml(case: Case) -> None:
    tree = yaml.load(case.source, Loader=yaml.CSafeLoader)
    text = yaml.dump(tree, Dumper=yaml.CSafeDumper, allow_unicode=True).encode()
    from_tree = transpile_tree(tree, files_dir=case.files_dir)
    from_text = transpile(text, files_dir=case.files_dir)
    assert from_tree.ignition == from_text.ignition
    assert from_tree.failure == from_text.failure


def test_every_difference_is_explained() -> None:
    readme = (Path(__file__).parent / "README.md").read_text()
    for name in DIFFERENT_OUTPUT | DIFFERENT_REPORT:
        assert f"`{name}`" in readme
