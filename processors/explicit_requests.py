"""Tell whether a user asks, in so many words, that something be remembered or forgotten.

Turns that do are handled at once where the others wait for the end of their session. To take one
for such a request that is none costs one call of the model earlier than it would have been made; to
miss one leaves it to the session's end. So these patterns may be generous.
"""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Final

from processors.folding import without_accents
from processors.own_words import own_words
from schemas.records import Turn

_WORDS: Final = json.loads(
    files("processors").joinpath("explicit_requests.json").read_text(encoding="utf-8")
)


def _words(*sorts: str) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(word for sort in sorts for words in _WORDS[sort].values() for word in words)
    )


REMEMBER: Final = _words("remember")
"""Of each language but English the words that ask for something to be remembered, and only for
that. The gate goes by them too."""

_ANYWHERE: Final = tuple(map(without_accents, _words("remember", "forget", "perhaps")))
"""Those, what asks to forget, and what is seldom anything else than either, wherever it stands.
They are looked for as they are, since one pattern of them all takes a hundred times as long."""

_MENTIONS: Final = (*map(without_accents, _WORDS["mention"]), *_ANYWHERE)
_ENGLISH_WORDS: Final[tuple[str, ...]] = tuple(_WORDS["english"])
"""One of them is in each English request, so that most texts need no pattern."""

_BEGINS_CLAUSE: Final = (
    r"(?:^|[.!?;:,\n\u2013\u2014-]\s*|\b(?:and|so|but|also|please|pls|plz|just|hey|ok|okay|can you|"
    r"could you|would you|will you|you should|you can|you may|you must|want you to|like you to|"
    r"need you to|sure to|sure you|try to)\s+)"
)
_ENGLISH: Final = (
    r"(?:please |kindly |always |never )?(?:remember|(?:dont|do not) (?:ever )?forget|forget|"
    r"(?:keep|bear) (?:this |that |it )?in mind|make (?:a |a mental )?note|take (?:a )?note|"
    r"note (?:down |that |this |my )|note\s*:|write (?:this |that |it )?down|memori[sz]e|unlearn|"
    r"stop remembering|(?:delete|erase|remove|wipe)\b.{0,40}\b(?:memory|memories|you know|"
    r"about me)|(?:save|store|keep|record) (?:this|that|it|my)\b)"
)
_NOT_A_REQUEST: Final = r"(?!(?: when\b| the time\b| me\?))"

_REQUEST: Final = re.compile(rf"{_BEGINS_CLAUSE}{_ENGLISH}{_NOT_A_REQUEST}")

_LOOKED_AT_CHARACTERS_MAX: Final = 20_000
"""A longer text is no single request; half of this is looked at of its beginning and of its end."""


def wants_it_now(turn: Turn) -> bool:
    """Whether the user asks, in their own words, that something be remembered or forgotten.

    English and 27 other languages are known: the imperatives of "remember", "do not forget",
    "keep in mind", "note down" and "forget".

    Args:
        turn: the turn as it was accepted.
    """
    text = own_words(turn.user_text)
    if len(text) > _LOOKED_AT_CHARACTERS_MAX:
        half = _LOOKED_AT_CHARACTERS_MAX // 2
        text = f"{text[:half]}\n{text[-half:]}"
    folded = f" {without_accents(text)} "
    if any(words in folded for words in _ANYWHERE):
        return True
    if not any(word in folded for word in _ENGLISH_WORDS):
        return False
    return _REQUEST.search(folded.strip()) is not None


def mentions_memory(text: str) -> bool:
    """Whether a text speaks of remembering or forgetting at all, in any form of the words.

    Args:
        text: what :func:`~processors.folding.without_accents` returned.
    """
    padded = f" {text} "
    return any(words in padded for words in _MENTIONS)
