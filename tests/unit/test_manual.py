from __future__ import annotations

from pathlib import Path

import pytest

from flatcar_gpu.manual.reference import reference
from flatcar_gpu.manual.tree import Block, CommandText, command_texts, help_blocks

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs/reference.md"
HAND_WRITTEN = [ROOT / "README.md", *(page for page in (ROOT / "docs").rglob("*.md") if page != REFERENCE)]


def test_the_reference_is_current() -> None:
    assert REFERENCE.read_text() == reference(), "run `make reference`"


@pytest.mark.parametrize("command", command_texts(), ids=lambda command: " ".join(command.words))
def test_every_command_is_in_a_page_that_people_wrote(command: CommandText) -> None:
    assert any(" ".join(command.words) in page.read_text() for page in HAND_WRITTEN)


@pytest.mark.parametrize("page", HAND_WRITTEN[1:], ids=lambda page: page.stem)
def test_every_page_is_in_the_index(page: Path) -> None:
    docs = ROOT / "docs"
    assert f"({page.relative_to(docs)})" in (docs / "index.md").read_text() or page == docs / "index.md"


def test_a_help_text_has_paragraphs_examples_and_other_verbatim_blocks() -> None:
    blocks = list(help_blocks("Write\n    a node.\n\n    \b\n    flatcar-gpu x\n    more\n\n    \b\n    # comment\n"))
    assert blocks == [
        Block("Write a node."),
        Block("flatcar-gpu x\nmore", verbatim=True),
        Block("# comment", verbatim=True),
    ]
    assert [block.is_example for block in blocks] == [False, True, False]
