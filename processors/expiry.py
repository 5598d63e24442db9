"""When a memory ceases by itself, by its kind and slot.

Everything is reckoned from the time of the words, never from the clock, so a replay gives the same.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from schemas.events import Renewal
from schemas.memory import Confidence, Memory, MemoryKind
from schemas.slots import Slot

INFERRED_LASTS: Final = timedelta(days=90)
"""A fact that was concluded ceases so long after the last words that it was concluded from."""

TASK_LASTS_MIN: Final = timedelta(days=7)
TASK_LASTS_MAX: Final = timedelta(days=30)
TASK_LASTS: Final = timedelta(days=14)
"""What is being worked on ceases so long after it was said last, where the words tell no time."""


def expiry_of(
    *,
    kind: MemoryKind,
    slot: Slot,
    confidence: Confidence,
    told: datetime | None,
    said_at: datetime,
) -> datetime | None:
    """Return when a statement ceases by itself; ``None`` for never.

    ============================  =====================================================
    what                          ceases
    ============================  =====================================================
    slot ``decision``             never
    slot ``task``                 as told, 7 to 30 days after it was said; untold, 14
    an episode                    as told, if that lies after it was said; else never
    inferred                      as told, at most 90 days after it was said
    any other stated statement    as told; else never: it holds until it is changed
    ============================  =====================================================

    Args:
        kind: as in a memory.
        slot: as in a memory.
        confidence: as in a memory.
        told: when the words say that it ceases, if they do.
        said_at: when it was said.
    """
    if slot is Slot.DECISION:
        return None
    if slot is Slot.TASK:
        until = said_at + TASK_LASTS if told is None else told
        return min(max(until, said_at + TASK_LASTS_MIN), said_at + TASK_LASTS_MAX)
    if kind is MemoryKind.EPISODIC:
        return told if told is not None and told > said_at else None
    if confidence is Confidence.INFERRED:
        until = said_at + INFERRED_LASTS
        return until if told is None else min(told, until)
    return told


def expired(memory: Memory, moment: datetime) -> bool:
    """Whether a memory had ceased by itself at ``moment``: said again, it is a new version."""
    return memory.expires_at is not None and memory.expires_at <= moment


def renewal_of(
    held: Memory, *, confidence: Confidence, told: datetime | None, said_at: datetime
) -> Renewal | None:
    """Return how a statement that is made again moves the expiry of what is held.

    The rules are those of the slot that it is held in. What a user states makes lasting what was
    concluded before; what is concluded moves nothing that was stated, but a task; and words that
    tell no time leave a time that was told.

    Args:
        held: the version that is confirmed.
        confidence: of the statement that confirms it.
        told: when its words say that it ceases, if they do.
        said_at: when it was said.

    Returns:
        ``None`` where the expiry stays as it is.
    """
    until = expiry_of(
        kind=held.kind, slot=held.slot, confidence=confidence, told=told, said_at=said_at
    )
    if until == held.expires_at:
        return None
    stated = confidence is Confidence.STATED
    if until is None:
        return (
            Renewal(expires_at=None) if held.confidence is Confidence.INFERRED and stated else None
        )
    if held.slot is Slot.TASK or stated:
        return Renewal(expires_at=until)
    lasting = held.expires_at is None or held.confidence is Confidence.STATED
    return None if lasting else Renewal(expires_at=until)
