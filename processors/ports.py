"""What the processors need of the keyring and of the producer, and no more."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol
from uuid import UUID

from schemas.keyring import Erased, SubjectKeys
from schemas.log.sealed import SealedRecord


class KeySource(Protocol):
    """Gives keys; see :class:`schemas.keyring.Keyring`, whose errors are raised."""

    async def keys(self, subjects: Collection[UUID]) -> Mapping[UUID, SubjectKeys | Erased]:
        """Return each subject's keys, or the record of their destruction."""
        ...

    async def system_subject(self) -> SubjectKeys:
        """Return the subject of the records that belong to no user."""
        ...


class Appends(Protocol):
    """Appends records; see :class:`schemas.log.producer.LogProducer`, whose errors are raised."""

    async def append(self, topic: str, partition: int, record: SealedRecord) -> int:
        """Append one record and return its offset."""
        ...
