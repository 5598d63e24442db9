"""Counting tokens: by a tokenizer's file, and by an estimate that is rather too high."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from projections.tokens import EstimatedTokens, token_counter
from schemas.errors import ConfigurationError


@pytest.fixture
def tokenizer_file(tmp_path: Path) -> Path:
    """A tokenizer that knows words, and pads and cuts what it reads."""
    path = tmp_path / "model" / "tokenizer.json"
    path.parent.mkdir()
    path.write_text(
        json.dumps(
            {
                "version": "1.0",
                "truncation": {
                    "direction": "Right",
                    "max_length": 4,
                    "strategy": "LongestFirst",
                    "stride": 0,
                },
                "padding": None,
                "added_tokens": [],
                "normalizer": None,
                "pre_tokenizer": {"type": "Whitespace"},
                "post_processor": None,
                "decoder": None,
                "model": {"type": "WordLevel", "vocab": {"tea": 0, "?": 1}, "unk_token": "?"},
            }
        )
    )
    return path


def test_a_models_own_tokenizer_counts_the_whole_text(tokenizer_file: Path) -> None:
    counter = token_counter(tokenizer_file)
    assert counter.count("tea " * 9) == 9
    assert (counter.name, counter.exact) == ("model/tokenizer.json", True)


@pytest.mark.parametrize("content", ["", "{}", "[]"])
def test_a_file_that_is_no_tokenizer_is_an_error_that_names_it(
    tmp_path: Path, content: str
) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(content)
    with pytest.raises(ConfigurationError, match=f"MEMLEDGER_TOKENIZER names {path}"):
        token_counter(path)


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="MEMLEDGER_TOKENIZER"):
        token_counter(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("tea", 1),
        ("likes tea", 3),
        ("12:30", 5),
        ("é", 1),
        ("чай", 3),
        ("茶", 2),
        ("🙂", 4),
    ],
)
def test_an_estimate_counts_by_kind_of_character(text: str, tokens: int) -> None:
    assert EstimatedTokens().count(text) == tokens


def test_an_estimate_says_that_it_is_one() -> None:
    counter = token_counter(None)
    assert (counter.name, counter.exact) == ("estimate", False)
