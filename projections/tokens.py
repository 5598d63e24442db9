"""Counting tokens: by a model's own tokenizer, or by an estimate that rather says too many."""

from __future__ import annotations

import math
import string
from pathlib import Path
from typing import TYPE_CHECKING, Final

from schemas.errors import ConfigurationError
from schemas.ports import TokenCounter

if TYPE_CHECKING:
    from tokenizers import Tokenizer

VARIABLE: Final = "MEMLEDGER_TOKENIZER"
EXTRA: Final = "tokenizer"

# What a character takes, on average in running text, with some room for vocabularies that were not
# made for the language.
_ASCII: Final = 1 / 3
_DIGIT_OR_SIGN: Final = 1.0
_LATIN: Final = 1.0
_TWO_BYTES: Final = 0.7
_OTHERS: Final = 1.6
_BEYOND: Final = 4.0
_LATIN_END: Final = "\u024f"
_TWO_BYTES_END: Final = "\u07ff"
_BASIC_PLANE_END: Final = "\uffff"
_LETTERS_AND_BLANK: Final = (string.ascii_letters + " ").encode()


class EstimatedTokens:
    """An estimate from the characters alone, for models whose tokenizer is not known.

    A letter of English counts as a third of a token, a digit or sign as one, a letter of other
    Latin writing as one, of Cyrillic, Greek, Hebrew or Arabic as 0.7, any other as 1.6, and what
    lies beyond the basic plane, emoji for one, as 4.
    """

    name = "estimate"
    exact = False

    def count(self, text: str) -> int:
        """Return how many tokens the text takes, rather too many than too few."""
        ascii_only = text.encode("ascii", "ignore")
        signs = len(ascii_only.translate(None, _LETTERS_AND_BLANK))
        tokens = _ASCII * (len(ascii_only) - signs) + _DIGIT_OR_SIGN * signs
        if len(ascii_only) < len(text):
            tokens += sum(_beyond_ascii(character) for character in text if character > "\x7f")
        return math.ceil(tokens)


def _beyond_ascii(character: str) -> float:
    if character <= _LATIN_END:
        return _LATIN
    if character <= _TWO_BYTES_END:
        return _TWO_BYTES
    return _OTHERS if character <= _BASIC_PLANE_END else _BEYOND


class FileTokens:
    """The tokens of a model whose tokenizer is a file.

    Args:
        path: a ``tokenizer.json`` as Hugging Face's tokenizers write it.

    Raises:
        ConfigurationError: the file cannot be read, or the extra is not installed.
    """

    exact = True

    def __init__(self, path: Path) -> None:
        self.name: Final = f"{path.parent.name}/{path.name}"
        self._tokenizer = _tokenizer(path)

    def count(self, text: str) -> int:
        """Return how many tokens the text takes."""
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)


def token_counter(path: Path | None) -> TokenCounter:
    """Return the counter of a tokenizer's file; without one the estimate.

    Raises:
        ConfigurationError: the file cannot be used.
    """
    return EstimatedTokens() if path is None else FileTokens(path)


def _tokenizer(path: Path) -> Tokenizer:
    try:
        from tokenizers import Tokenizer  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ConfigurationError(
            f"{VARIABLE} names a tokenizer, and the package that reads it is not there: install "
            f"memledger[{EXTRA}], or leave the variable out for an estimate"
        ) from error
    try:
        tokenizer = Tokenizer.from_str(path.read_text("utf-8"))
        # Files often pad or cut what they were trained on; what is counted is the whole text.
        tokenizer.no_padding()
        tokenizer.no_truncation()
    except Exception as error:  # the library raises bare exceptions
        raise ConfigurationError(
            f"{VARIABLE} names {path}, which cannot be read as a tokenizer: {error}; name a "
            "tokenizer.json, or leave the variable out for an estimate"
        ) from error
    return tokenizer
