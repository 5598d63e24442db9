"""The check in code that keeps small talk from the model.

It skips only what surely holds nothing: a turn that consists of nothing but phrases of a closed
list (``small_talk.json``, 28 languages), of punctuation and emoji, or of one question about the
world (:mod:`processors.general_questions`). A name, a number, a word that is not in the list: the
turn goes to the model. So a language or a phrase that is missing costs a call, never a memory.

**Answers.** "Yes", "no", "perfect", a lone thumb say nothing by themselves: what they answer stood
in the turn before, which an extraction of a single turn is not shown, and the assistant's words
that come with the turn came after them. So a single turn is skipped; an extraction that is shown
the whole session keeps them (``in_session``), since there they may confirm or refuse something.

**What the assistant said.** It may be kept as an episode of its own ("the assistant recommended
..."). Above ``ASSISTANT_CHARACTERS_MAX`` an answer to small talk may hold one, and the turn is not
skipped. To a question about the world every answer is long and none is about the user.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Final

from processors.explicit_requests import mentions_memory
from processors.folding import without_accents
from processors.general_questions import is_general_question
from schemas.injection import cut_injection
from schemas.records import Turn

TOKENS_MAX: Final = 40
"""A longer text is no small talk. Of scripts without blanks each letter counts as one."""

TEXT_CHARACTERS_MAX: Final = 400
"""The same before anything is counted, so that a long text costs nothing."""

ASSISTANT_CHARACTERS_MAX: Final = 400
"""An answer up to this length is courtesy: two or three sentences."""


class Skip(StrEnum):
    """Why a turn is not shown to the model, as a proposal's ``skipped`` tells it."""

    NOTHING_WRITTEN = "nothing_written"
    """Punctuation, symbols, emoji."""
    SMALL_TALK = "small_talk"
    ANSWER = "answer"
    """Yes, no and their like: of what, only the turn before tells."""
    GENERAL_QUESTION = "general_question"


def skip_reason(turn: Turn, *, in_session: bool = False) -> str | None:
    """Return why a turn holds nothing for the model to read, or ``None`` if it may hold something.

    Args:
        turn: the turn; a block of notes that recall had put into it does not count.
        in_session: whether the model would be shown the turns before it as well. Then bare answers
            are not skipped, nor lone emoji.

    Returns:
        A value of :class:`Skip`. The turns of a session may each be left out by it; a session of
        which every turn is left out needs no model at all.
    """
    text = cut_injection(turn.user_text).strip()
    if len(text) > TEXT_CHARACTERS_MAX:
        return None
    skip = _skip(text)
    if skip is None or skip is Skip.GENERAL_QUESTION:
        return skip
    if in_session and skip is not Skip.SMALL_TALK:
        return None
    if len(cut_injection(turn.assistant_text or "").strip()) > ASSISTANT_CHARACTERS_MAX:
        return None
    return skip


def _skip(text: str) -> Skip | None:
    folded = without_accents(text)
    if mentions_memory(folded):
        return None
    tokens = _tokens(_EMOTICON.sub(" ", folded))
    if not tokens:
        return Skip.NOTHING_WRITTEN
    if len(tokens) > TOKENS_MAX:
        return None
    covered = _covered([_spelling(token) for token in tokens])
    if covered is not None:
        return covered
    return Skip.GENERAL_QUESTION if is_general_question(text) else None


_EMOTICON: Final = re.compile(
    r"(?<![^\W_])(?:[:;=8x][-^o']?[()\[\]dpo3/\\|*]+|<3+|\^[_.]*\^|-_+-|[xX]d+|t_t|o_o|>[._]<|"
    r"\\o/)(?![^\W_])"
)
_LISTS: Final = json.loads(
    files("processors").joinpath("small_talk.json").read_text(encoding="utf-8")
)
_LAUGHTER: Final = re.compile("|".join(_LISTS["any"]["laughter"]))
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff]"
)
"""Letters of scripts without blanks between words: Thai, Lao, Burmese, Khmer, kana, Han."""


def _tokens(text: str) -> list[str]:
    """Return the words of a text, and each letter of a script that has no blanks by itself."""
    tokens: list[str] = []
    word = ""
    for character in text:
        category = unicodedata.category(character)
        if category[0] not in "LMN" or 0xFE00 <= ord(character) <= 0xFE0F:  # noqa: PLR2004 - variation selectors, which only shape emoji
            tokens, word = _ended(tokens, word), ""
        elif _UNSPACED.match(character):
            tokens, word = [*_ended(tokens, word), character], ""
        else:
            word += character
    return _ended(tokens, word)


def _ended(tokens: list[str], word: str) -> list[str]:
    return [*tokens, word] if word else tokens


_LAUGH: Final = "\x00laughter"
_STRETCHED: Final = re.compile(r"(.)\1{2,}")


def _spelling(token: str) -> str:
    """Return a word as the list spells it: ``thaaanks`` as ``thanks``, laughter as one mark."""
    words = _vocabulary()
    token = _laugh_or_word(token)
    if token in words:
        return token
    twice = _STRETCHED.sub(r"\1\1", token)
    return twice if twice in words else _STRETCHED.sub(r"\1", token)


def _covered(tokens: Sequence[str]) -> Skip | None:
    """Return what a text is that phrases of the list make up without a gap, or ``None``."""
    phrases, longest = _phrases()
    # For each place, whether phrases cover all tokens in front of it, and the most telling of them.
    told: list[Skip | None] = [Skip.NOTHING_WRITTEN]
    for end in range(1, len(tokens) + 1):
        best: Skip | None = None
        for start in range(max(0, end - longest), end):
            before = told[start]
            phrase = tuple(tokens[start:end])
            if before is not None and phrase in phrases:
                best = _least(best, _more_telling(before, phrases[phrase]))
        told.append(best)
    whole = told[-1]
    return Skip.SMALL_TALK if whole is Skip.NOTHING_WRITTEN else whole


_WEIGHT: Final = {Skip.NOTHING_WRITTEN: 0, Skip.SMALL_TALK: 1, Skip.ANSWER: 2}


def _more_telling(first: Skip, second: Skip) -> Skip:
    return max(first, second, key=_WEIGHT.__getitem__)


def _least(first: Skip | None, second: Skip) -> Skip:
    return second if first is None else min(first, second, key=_WEIGHT.__getitem__)


@cache
def _phrases() -> tuple[Mapping[tuple[str, ...], Skip], int]:
    """Return the phrases as tokens, with what each is, and the number of tokens of the longest."""
    phrases: dict[tuple[str, ...], Skip] = {(_LAUGH,): Skip.SMALL_TALK}
    kinds = {
        "filler": Skip.NOTHING_WRITTEN,
        "small_talk": Skip.SMALL_TALK,
        # Last, so that what is both in different languages counts as the more telling of the two.
        "answer": Skip.ANSWER,
    }
    for kind, skip in kinds.items():
        for language in _LISTS.values():
            for phrase in language[kind]:
                phrases[tuple(map(_laugh_or_word, _tokens(without_accents(phrase))))] = skip
    return phrases, max(map(len, phrases))


def _laugh_or_word(token: str) -> str:
    return _LAUGH if _LAUGHTER.fullmatch(token) else token


@cache
def _vocabulary() -> frozenset[str]:
    return frozenset(word for phrase in _phrases()[0] for word in phrase)
