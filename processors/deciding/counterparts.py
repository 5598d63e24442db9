"""Finding what a person decided about, in whatever generation the decision is carried out."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from processors.versions import Versions
from schemas.commands import CuratedMemory
from schemas.ports import StoredMemory
from schemas.suppression import SuppressionKeying, statement_forms


def counterpart(versions: Versions, decided: CuratedMemory, *, by: datetime) -> StoredMemory | None:
    """Return the version that a person decided about, or what states the same in this generation.

    By its id alone where that is held, retracted or not. Else what shares a form with it: the same
    statement, or what came of the same words. What holds now goes first, then the latest.

    Args:
        versions: what is known.
        decided: the version as the person saw it.
        by: when the person decided: what was said since is not what was meant.
    """
    held = versions.get(decided.memory_id)
    if held is not None:
        return held
    forms = statement_forms(decided)
    alike = [
        stored
        for stored in versions.held()
        if stored.memory.valid_from <= by and not forms.isdisjoint(statement_forms(stored.memory))
    ]
    return max(
        alike,
        key=lambda stored: (stored.live, stored.memory.valid_from, stored.memory.memory_id),
        default=None,
    )


def deleted_before(
    decided: CuratedMemory, suppressed: Mapping[bytes, datetime], keying: SuppressionKeying
) -> bool:
    """Whether what a person decided about was deleted or corrected before that.

    Args:
        decided: the version as the person saw it.
        suppressed: what is suppressed, by key.
        keying: makes the subject's keys.
    """
    moments = (suppressed.get(key) for key in keying.stated_keys(decided))
    return any(moment is not None and decided.valid_from <= moment for moment in moments)
