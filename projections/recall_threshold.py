"""From which cosine on meaning is near enough, which hangs on the question's language too."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from projections.embedders.minilm import NAME as MINILM
from projections.words.analysis import is_courtesy, is_english

OTHER_LANGUAGES_MIN: Final[Mapping[str, float]] = MappingProxyType({MINILM: 0.55})
"""By embedder: the threshold for questions in languages that it was not trained in.

To ``minilm``, which is English, texts of one other language all look alike: at its own threshold
a question in Chinese brings all that is stored in Chinese. On scripts in thirteen languages 0.5 to
0.6 kept more than nine in ten of what should be found.
"""

NOTHING_ASKED: Final = 1.0
"""Greetings and thanks ask for nothing: only the same words would be near enough."""

_COURTESY_CHARACTERS_MAX: Final = 80
"""No greeting is longer, and of what is longer nobody need look whether it is one."""


def threshold_for(question: str, *, embedder: str, usual: float) -> float:
    """Return the cosine from which meaning is near enough to a question.

    Args:
        question: its text.
        embedder: the name of the embedder.
        usual: the threshold where nothing speaks against it.
    """
    if len(question) <= _COURTESY_CHARACTERS_MAX and is_courtesy(question):
        return NOTHING_ASKED
    least = OTHER_LANGUAGES_MIN.get(embedder)
    if least is None or is_english(question):
        return usual
    return max(usual, least)
