"""Instructions dressed as facts: to drop the rules, to betray them, to act for the user unasked.

How the assistant should answer ("briefly", "in metric units") is the user's to say and passes, and
so does speaking of prompts as a subject. What would break out of the block of notes never passes.
"""

from __future__ import annotations

import re
from typing import Final

from processors.gate import instruction_phrases, instructions_abroad
from processors.gate.reading import sentences
from processors.gate.said import Basis, Said
from processors.gate.texts import kept_texts
from processors.marks import TAGS
from schemas.events import RejectionReason
from schemas.injection import holds_injection
from schemas.proposals import Action, Operation

_MARKUP: Final = re.compile(
    r"</?\s?memledger-notes|<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\|>"
    r"|</?(?:system|system-reminder|system_prompt|instructions?|assistant)\s?/?>"
    r"|\[/?inst\]|<</?sys>>|^#{1,4} ?(?:system|instruction)s?:",
    re.IGNORECASE | re.MULTILINE,
)
_FLAG: Final = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
"""The flags of England, Scotland and Wales, which are spelt with tag characters (UTS 51)."""

_SELECTORS: Final = re.compile("[︀-️\U000e0100-\U000e01ef]{3,}")
"""Variation selectors shape the character before them, and one or two are enough for that; a row of
them carries hidden bytes."""

_WINDOW: Final = 2_000
"""Characters around a quote that are looked at: sentences are shorter."""

_OWN_HABIT: Final = re.compile(
    r"(?:^|[.!?;\n,]\s*|\band )(?:i|we|my (?:boss|manager|team|company)|ich|wir|je|nous)\b"
    r"(?! (?:want|need|order|command|ask|instruct|demand|expect)\b)"
)


def no_instruction(operation: Operation, said: Said) -> RejectionReason | None:
    """Refuse what would have the assistant drop its rules, and what breaks out of the notes."""
    for text in kept_texts(operation, said):
        if _MARKUP.search(text) is not None or _hides(text) or holds_injection(text):
            return RejectionReason.INSTRUCTION
    if operation.action is Action.RETRACT:
        return None
    if _orders(said.reading(operation.content).folded):
        return RejectionReason.INSTRUCTION
    quote = said.reading(operation.quote).folded
    if operation.quote != operation.content and _orders(quote):
        return RejectionReason.INSTRUCTION
    return RejectionReason.INSTRUCTION if _rests_on_dropped_rules(operation, said) else None


def _hides(text: str) -> bool:
    """Tell whether a text holds characters that carry what nobody sees."""
    if text.isascii():
        return False
    return TAGS.search(_FLAG.sub("", text)) is not None or _SELECTORS.search(text) is not None


def _orders(folded: str) -> bool:
    if instruction_phrases.UNSPACED.search(folded) is not None:
        return True
    if _orders_abroad(folded):
        return True
    if instruction_phrases.TRIGGERS.search(folded) is None:
        return False
    return any(_finds(pattern, folded) for pattern in instruction_phrases.SPACED)


def _orders_abroad(folded: str) -> bool:
    if folded.isascii() and instructions_abroad.TRIGGERS.search(folded) is None:
        return False
    return any(pattern.search(folded) is not None for pattern in instructions_abroad.PATTERNS)


def _finds(pattern: re.Pattern[str], folded: str) -> bool:
    """Tell whether a pattern stands in a text, but for what the user tells of their own habits."""
    for found in pattern.finditer(folded):
        clause = max(folded.rfind(mark, 0, found.start()) for mark in ".!?;\n") + 1
        # "I approve all refunds" tells of the user's own work.
        if _OWN_HABIT.match(folded[clause : found.start()].lstrip()) is None:
            return True
    return False


def _drops_rules(folded: str) -> bool:
    return _finds(instruction_phrases.DROPPING, folded)


def _rests_on_dropped_rules(operation: Operation, said: Said) -> bool:
    """Tell whether the sentence of a quote orders to drop the rules, though the quote does not."""
    if said.basis is not Basis.TURN:
        return False
    own = said.reading(said.own).folded
    if not said.once(_drops_rules, own):
        return False
    quote = said.reading(operation.quote).folded
    start = own.find(quote) if quote else -1
    if start < 0:
        return False
    shift, end = max(0, start - _WINDOW), start + len(quote)
    window = own[shift : end + _WINDOW]
    return any(
        first + shift < end and last + shift > start and _drops_rules(window[first:last])
        for first, last in sentences(window)
    )
