"""How much of a turn a question about a summary shows."""

from __future__ import annotations

from typing import Final

from schemas.records import Turn

USER_SHOWN_MAX: Final = 2_000
"""Most characters of what the user said in a turn: its two ends."""

ASSISTANT_SHOWN_MAX: Final = 600
"""Most characters of what the assistant answered."""

_FRAME: Final = 120
"""About what the tags around a turn take."""


def shown_characters(turn: Turn) -> int:
    """Return about how many characters of a turn are shown."""
    user = min(USER_SHOWN_MAX, len(turn.user_text))
    return _FRAME + user + min(ASSISTANT_SHOWN_MAX, len(turn.assistant_text or ""))


def is_shortened(turn: Turn) -> bool:
    """Tell whether the middle of what a turn holds is left out."""
    assistant = turn.assistant_text or ""
    return len(turn.user_text) > USER_SHOWN_MAX or len(assistant) > ASSISTANT_SHOWN_MAX
