"""A keyring in memory."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from uuid import UUID

from schemas.errors import KeyMissing
from schemas.keyring import Erased, SubjectKeys
from tests.support.turns import new_keys


class MemoryKeyring:
    """Holds the keys of subjects that a test makes up.

    Attributes:
        failure: raised by every call while it is set.
        lookups: how often keys were asked for.
    """

    def __init__(self) -> None:
        self.failure: Exception | None = None
        self.lookups = 0
        self._states: dict[UUID, SubjectKeys | Erased] = {}
        self._system = self.put(new_keys())

    def put(self, keys: SubjectKeys) -> SubjectKeys:
        """Hold a subject's keys, in place of what was held of it."""
        self._states[keys.subject] = keys
        return keys

    def erase(self, subject: UUID) -> None:
        """Destroy a subject's keys and record it."""
        self._states[subject] = Erased(
            subject=subject, seq=1, destroyed_at=datetime(2026, 1, 1, tzinfo=UTC)
        )

    def lose(self, subject: UUID) -> None:
        """Lose a subject's keys without a record."""
        del self._states[subject]

    async def keys(self, subjects: Collection[UUID]) -> dict[UUID, SubjectKeys | Erased]:
        """Return what is held of each subject."""
        self.lookups += 1
        if self.failure is not None:
            raise self.failure
        for subject in subjects:
            if subject not in self._states:
                raise KeyMissing(f"no keys and no destruction of {subject}")
        return {subject: self._states[subject] for subject in subjects}

    async def system_subject(self) -> SubjectKeys:
        """Return the system's own subject."""
        if self.failure is not None:
            raise self.failure
        return self._system
