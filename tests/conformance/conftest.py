"""The folder that the corpus is run in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conformance.corpus import lay_out

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def corpus_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    lay_out(folder)
    return folder


@pytest.fixture
def _in_corpus(corpus_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(corpus_folder)
