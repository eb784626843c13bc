"""People are told of every stored experiment what `texts.json` has: no word changes unnoticed."""

from __future__ import annotations

import json

import pytest

from golden.write_texts import FILE, copied, stored, texts

SAID: dict[str, dict[str, list[str]]] = json.loads(FILE.read_text())


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return copied(tmp_path_factory.mktemp("stored"))


def test_every_stored_experiment_is_there() -> None:
    """Of every design: half run, decided, tied, without a winner, corrected, suspended, stopped."""
    assert list(SAID) == stored()
    assert len(SAID) == 30


@pytest.mark.parametrize("name", stored())
def test_the_words_are_the_same(url: str, name: str) -> None:
    """On the terminal, in Markdown, in the live view, in the report; and so are forecast and verification."""
    assert texts(url, name) == SAID[name]
