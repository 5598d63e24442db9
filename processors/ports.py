"""What the processors need of the keyring and of the producer, and no more."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol
from uuid import UUID

from schemas.keyring import Erased, SubjectKeys
from schemas.log.sealed import LogRecord, SealedRecord
from schemas.proposals import Usage


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


class PaidCall(Protocol):
    """A call of the model that is under way."""

    def spent(self, usage: Usage) -> None:
        """Tell what it cost, as soon as that is known."""
        ...


class Budget(Protocol):
    """Tells whether a tenant may have a model asked."""

    def asking(self, tenant: str | None, model: str) -> AbstractContextManager[PaidCall]:
        """Count a call against the tenant's budget until the ledger shows what it cost."""
        ...

    async def exhausted(self, tenant: str | None) -> object | None:
        """Return what is exhausted of the tenant's budget; ``None`` while there is room."""
        ...


class Unlimited:
    """The budget of those that have none."""

    def asking(self, tenant: str | None, model: str) -> AbstractContextManager[PaidCall]:  # noqa: ARG002 - the port's signature
        """Count nothing."""
        return nullcontext(self)

    def spent(self, usage: Usage) -> None:
        """Count nothing."""

    async def exhausted(self, tenant: str | None) -> None:  # noqa: ARG002 - the port's signature
        """Return ``None``."""
        return


class TurnRecords(Protocol):
    """Reads single records of the turns topic again."""

    async def read(self, partition: int, offsets: Sequence[int]) -> tuple[LogRecord, ...]:
        """Return the records at some offsets, in order; those that are gone are left out.

        Raises:
            LogUnavailable: the broker does not answer.
        """
        ...
