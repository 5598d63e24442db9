"""A model that keeps the first sentence of whatever the user says, in the user's words."""

from __future__ import annotations

import re

from tests.support.model_fake.asked import Asked
from tests.support.model_fake.replies import Reply, item, said

_SENTENCE_ENDS = re.compile(r"[.!?\u3002\n]")
_CHARACTERS_MAX = 200


def echo(asked: Asked) -> Reply:
    """Answer with the first sentence of the user's text as a note, if it says anything."""
    text = "".join(asked.user_texts[:1]).strip()
    sentence = _SENTENCE_ENDS.split(text, maxsplit=1)[0].strip()[:_CHARACTERS_MAX].strip()
    return said(item(sentence)) if sentence else said()
