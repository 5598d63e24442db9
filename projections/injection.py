"""The block of notes for a prompt: dated data that cannot speak as anything else.

What a memory says was once said by a user, or by whatever the user pasted. So its text is brought
onto one line, loses every character that a reader does not see, and has its angle brackets escaped:
it can neither end the block, nor open a tag, nor hide an order.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from projections.recall import RecalledMemory
from schemas.injection import BLOCK_END, BLOCK_START, FRAME, NOTE_PREFIX
from schemas.memory import ABOUT_USER, Precision, Source

# Default_Ignorable_Code_Point of Unicode's DerivedCoreProperties: what a renderer shows nothing
# for, tag characters and bidirectional controls among it. Left in place are the joiners, which
# Persian and the scripts of India need (and families of emoji), and the two selectors of emoji or
# text style.
_UNSEEN: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# Whatever compatibility normalisation makes an angle bracket of is one.
_BRACKETS: Final = str.maketrans(
    {
        "<": "&lt;",
        "\ufe64": "&lt;",
        "\uff1c": "&lt;",
        ">": "&gt;",
        "\ufe65": "&gt;",
        "\uff1e": "&gt;",
    }
)


def injection(memories: Sequence[RecalledMemory]) -> str:
    """Return the block of notes for these memories, in their order; empty for none.

    Each note is one line: since when it holds (a UTC date), until when if that is over, who said
    it or about whom if that is not the user, and what it says.
    """
    if not memories:
        return ""
    return "\n".join([BLOCK_START, FRAME, *(_note(memory) for memory in memories), BLOCK_END])


def escaped(text: str) -> str:
    """Return ``text`` on one line, without unseen characters, its angle brackets escaped.

    An ampersand stays as it is: what stands here is for a model to read, never to be unescaped.
    """
    visible = "".join(
        # Controls become blanks and not nothing, so that no two words grow together.
        " " if unicodedata.category(character) == "Cc" else character
        for character in _UNSEEN.sub("", text)
        if unicodedata.category(character) != "Cs"
    )
    # Splitting also ends at the separators of lines and paragraphs.
    return " ".join(visible.split()).translate(_BRACKETS)


def _note(memory: RecalledMemory) -> str:
    dates = as_told(memory.valid_from, memory.valid_from_precision)
    if memory.valid_to is not None:
        dates += f" to {_date(memory.valid_to)}"
    return f"{NOTE_PREFIX}{dates}{_of_whom(memory)}: {escaped(memory.content)}"


def _of_whom(memory: RecalledMemory) -> str:
    """Return who said it or whom it is about, where that is not the user."""
    if memory.source is Source.ASSISTANT:
        return " (said by the assistant)"
    return "" if memory.about == ABOUT_USER else f" (about {escaped(memory.about)})"


def as_told(moment: datetime, precision: Precision) -> str:
    """Return a date as exactly as it was told."""
    match precision:
        case Precision.YEAR:
            return f"{moment:%Y}"
        case Precision.MONTH:
            return f"{moment:%Y-%m}"
    return _date(moment)


def _date(moment: datetime) -> str:
    return moment.date().isoformat()
