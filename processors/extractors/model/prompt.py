"""What a model is asked, in words: rules that never change, and what does in escaped blocks."""

from __future__ import annotations

import html
from collections.abc import Sequence
from datetime import UTC
from functools import cache
from importlib.resources import files
from typing import Final

from processors.extractors.model.chunks import Part
from processors.extractors.model.dates import local_day
from processors.marks import TAGS
from processors.shown_turns import ASSISTANT_SHOWN_MAX, USER_SHOWN_MAX
from schemas.ports import KnownMemory
from schemas.records import Turn
from schemas.slots import Slot

KNOWN_MAX: Final = 10
"""Most known memories that a question shows."""

KNOWN_CHARACTERS_MAX: Final = 80
"""Most characters of one of their statements: enough to tell which it is."""

ABOUT_CHARACTERS_MAX: Final = 25

ASSISTANT_CHARACTERS_MAX: Final = 600
"""Most characters of the assistant's answer where it is context alone: its two ends."""

ASSISTANT_KEPT_CHARACTERS_MAX: Final = 4_000
"""The same where what it said may be kept."""

MEMORY_CHARACTERS_MAX: Final = 300
"""Most characters of a statement that a consolidation looks at."""

_FRAME_CHARACTERS: Final = 120
"""About what the tags around a turn of a session take."""

_BRACKETS: Final = str.maketrans("<>", "\u2039\u203a")

_WEEKDAYS: Final = (
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
)  # fmt: skip


def turn_rules(*, keeps_assistant: bool) -> str:
    """Return the system prompt for a turn, the same byte for byte each time."""
    return _text("turn") + _rules(keeps_assistant=keeps_assistant)


def session_rules(*, keeps_assistant: bool) -> str:
    """Return the system prompt for a session."""
    return _text("session") + _rules(keeps_assistant=keeps_assistant)


def consolidation_rules() -> str:
    """Return the system prompt for a consolidation."""
    return _text("consolidation")


def summary_rules() -> str:
    """Return the system prompt for the summary of a session."""
    return _text("summary")


def turn_question(
    turn: Turn, piece: str, known: Sequence[KnownMemory], *, keeps_assistant: bool, part: str = ""
) -> str:
    """Return the question about a turn, or about a piece of it.

    Args:
        turn: the turn.
        piece: what of the user's text is asked about.
        known: the user's nearest memories.
        keeps_assistant: whether what the assistant said may be kept.
        part: which piece it is, where there are several: ``2 of 8``.
    """
    cut = f' part="{part}"' if part else ""
    blocks = [
        f"The turn is of {_moment(turn)}.",
        _known_block(known),
        f"<user{cut}>\n{escaped(piece)}\n</user>",
        *_assistant_block(turn, most=_assistant_most(keeps_assistant=keeps_assistant)),
    ]
    return "\n".join(block for block in blocks if block)


def session_question(
    turns: Sequence[Turn],
    group: Sequence[Part],
    known: Sequence[KnownMemory],
    *,
    keeps_assistant: bool,
) -> str:
    """Return the question about a session, or about a group of its turns.

    Args:
        turns: all of its turns; the first is t1.
        group: what of the users' texts is asked about.
        known: the user's nearest memories.
        keeps_assistant: whether what the assistant said may be kept.
    """
    blocks = [_known_block(known)]
    for part in group:
        turn = turns[part.index]
        blocks += [
            f'<turn name="t{part.index + 1}" said="{_moment(turn)}">',
            f"<user>\n{escaped(part.text)}\n</user>",
            *_assistant_block(turn, most=_assistant_most(keeps_assistant=keeps_assistant)),
            "</turn>",
        ]
    return "\n".join(block for block in blocks if block)


def summary_question(turns: Sequence[Turn]) -> str:
    """Return the question what a session came to; of what is long its two ends are shown."""
    blocks = []
    for turn in turns:
        blocks += [
            f'<turn said="{_moment(turn)}">',
            f"<user>\n{escaped(shortened(turn.user_text, USER_SHOWN_MAX))}\n</user>",
            *_assistant_block(turn, most=ASSISTANT_SHOWN_MAX),
            "</turn>",
        ]
    return "\n".join(blocks)


def context_characters(turn: Turn, *, keeps_assistant: bool) -> int:
    """Return about how many characters a session's question holds beside what the user said."""
    most = _assistant_most(keeps_assistant=keeps_assistant)
    return _FRAME_CHARACTERS + min(most, len(turn.assistant_text or ""))


def consolidation_question(memories: Sequence[KnownMemory]) -> str:
    """Return the question about memories."""
    lines = [_line(item, MEMORY_CHARACTERS_MAX) for item in memories]
    return "\n".join(["<memories>", *lines, "</memories>"])


def escaped(text: str) -> str:
    """Return a text that can end no block, without characters that nobody sees.

    These are Unicode's tags, in which a text may give orders to a model that its reader cannot see.
    """
    return html.escape(TAGS.sub("", text), quote=False)


def shortened(text: str, characters_max: int) -> str:
    """Return a text of at most so many characters: its beginning and its end, and what is missing.

    What tells how much is left out comes on top.
    """
    if len(text) <= characters_max:
        return text
    half = characters_max // 2
    return f"{text[:half]} [... {len(text) - 2 * half} characters left out ...] {text[-half:]}"


def _known_block(known: Sequence[KnownMemory]) -> str:
    if not known:
        return ""
    lines = [_line(item, KNOWN_CHARACTERS_MAX) for item in known]
    return "\n".join(["<known>", *lines, "</known>"])


def _line(item: KnownMemory, characters_max: int) -> str:
    memory = item.memory
    day = memory.valid_from.astimezone(UTC).date().isoformat()
    about = _one_line(memory.about, ABOUT_CHARACTERS_MAX)
    content = _one_line(memory.content, characters_max)
    return f"{item.reference} {day} {memory.slot.value} ({about}): {content}"


def _one_line(text: str, characters_max: int) -> str:
    """Return the beginning of a text that nobody will quote, on one line that ends no block.

    Escaping would make it longer; other brackets are as good to read.
    """
    line = " ".join(TAGS.sub("", text).translate(_BRACKETS).split())
    return line if len(line) <= characters_max else f"{line[: characters_max - 1]}\u2026"


def _assistant_most(*, keeps_assistant: bool) -> int:
    return ASSISTANT_KEPT_CHARACTERS_MAX if keeps_assistant else ASSISTANT_CHARACTERS_MAX


def _assistant_block(turn: Turn, *, most: int) -> list[str]:
    said = (turn.assistant_text or "").strip()
    if not said:
        return []
    return [f"<assistant>\n{escaped(shortened(said, most))}\n</assistant>"]


def _moment(turn: Turn) -> str:
    """Return the day of a turn in its zone, the weekday and the zone."""
    minutes = turn.utc_offset_minutes
    day = local_day(turn.occurred_at, utc_offset_minutes=minutes)
    hours, rest = divmod(abs(minutes), 60)
    sign = "-" if minutes < 0 else "+"
    return f"{_WEEKDAYS[day.weekday()]} {day.isoformat()}, UTC{sign}{hours:02}:{rest:02}"


def _rules(*, keeps_assistant: bool) -> str:
    rules = _text("rules").replace("{slots}", ", ".join(Slot))
    return rules + _text("assistant_kept" if keeps_assistant else "assistant_never")


@cache
def _text(name: str) -> str:
    path = files("processors.extractors.model").joinpath("prompts", f"{name}.txt")
    return path.read_text(encoding="utf-8")
