"""Tell a question about the world from one that says something about who asks.

"What is the capital of Peru?" states nothing. "Which trains go to Pune for my commute?" does, and
so may any question for advice. So only a single short question counts that begins as questions for
knowledge do, in a language whose words for the first person are known, and that holds none of
these, no number, no second clause, and nothing that gives a reason or a circumstance.
"""

from __future__ import annotations

import json
import re
import unicodedata
from importlib.resources import files
from typing import Final

from processors.folding import without_accents

WORDS_MAX: Final = 14
"""A longer question has room for a circumstance."""

CHARACTERS_MAX: Final = 40
"""The same for scripts without blanks between words."""


_WORDS: Final = json.loads(
    files("processors").joinpath("general_questions.json").read_text(encoding="utf-8")
)
"""Of each language how such a question begins (``asks``; ``whole`` where no blanks part words) and
the words of the first person, of reasons and of circumstances (``not_plain``)."""

_SPACED: Final = tuple(
    (
        re.compile(rf"(?:{language['asks']})(?!\w)"),
        re.compile(rf"(?<!\w)(?:{'|'.join(language['not_plain'])})(?!\w)"),
    )
    for language in _WORDS["spaced"].values()
)
_UNSPACED: Final = tuple(
    (re.compile(language["whole"]), re.compile(language["not_plain"]))
    for language in _WORDS["unspaced"].values()
)
_ONE_QUESTION: Final = re.compile(
    r"[^?!.,;:()\d\n\"\u201c\u201d\u201e\u00ab\u00bb@/\u2014\u2013]{3,}\?"
)
_POSSESSIVE: Final = re.compile(r"\w['\u2019]s (?!\w+ (?:of|in)\b)")
"""A possessive: "Maria's allergy" may be about somebody close; "Earth's" only costs a call."""


def is_general_question(text: str) -> bool:
    """Whether a text is one question about the world that says nothing of who asks.

    English, German, French, Spanish, Chinese and Japanese are known; of others none counts.

    Args:
        text: what the user wrote.
    """
    question = unicodedata.normalize("NFKC", text).strip()
    if any(whole.fullmatch(question) and not own.search(question) for whole, own in _UNSPACED):
        return len(question) <= CHARACTERS_MAX
    folded = without_accents(question.lstrip("\u00bf").strip())
    if not _ONE_QUESTION.fullmatch(folded) or len(folded.split()) > WORDS_MAX:
        return False
    if _POSSESSIVE.search(question):
        return False
    known = [not_plain for asks, not_plain in _SPACED if asks.match(folded)]
    return bool(known) and not any(not_plain.search(folded) for not_plain in known)
