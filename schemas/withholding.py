"""Why a user's turn is not appended, and nothing recalled, although nothing is wrong with it."""

from __future__ import annotations

from enum import StrEnum


class WithheldReason(StrEnum):
    """Who asked for it."""

    INCOGNITO = "incognito"
    """The request says that it belongs to an incognito chat."""
    PAUSED = "paused"
    """The user has paused memory."""
