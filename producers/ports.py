"""What the producers need of other parts, wired together by ``deploy``."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from producers.turns_input import TurnInput
from schemas.files import ToolResult
from schemas.keyring import Erased, SubjectKeys
from schemas.log.sealed import SealedRecord
from schemas.records import Origin

if TYPE_CHECKING:
    # Those modules need the ports below.
    from producers.append import TurnIdentity
    from producers.subject_records import AppendResult


class SubjectDirectory(Protocol):
    """The part of the keyring that a producer needs."""

    async def subjects_for(
        self, tenant: str, user_ids: Collection[str], *, create: bool
    ) -> dict[str, SubjectKeys]:
        """Return the keys of each user's subject, made on first sight if ``create``.

        They may come from memory, under a lease.

        Raises:
            UnknownTenant: no such tenant.
            KeyringUnavailable: it cannot be reached.
        """
        ...

    async def keys(self, subjects: Collection[UUID]) -> Mapping[UUID, SubjectKeys | Erased]:
        """Return each subject's keys, or the record of their destruction, under a lease.

        Raises:
            KeyMissing: a subject has neither keys nor a record of their destruction.
            KeyringUnavailable: it cannot be reached.
        """
        ...

    async def erased_among(self, subjects: Collection[UUID]) -> set[UUID]:
        """Return those whose destruction is recorded, asked of the keyring itself, uncached.

        Raises:
            KeyringUnavailable: it cannot be reached.
        """
        ...

    async def fresh_keys(self, subjects: Collection[UUID]) -> Mapping[UUID, SubjectKeys | Erased]:
        """Return each subject's state, read anew; what is in memory of them gives way to it.

        Raises:
            KeyMissing: a subject has neither keys nor a record of their destruction.
            KeyringUnavailable: it cannot be reached.
        """
        ...


class TurnLog(Protocol):
    """The part of the log's producer that appends need."""

    def submit(self, topic: str, partition: int, record: SealedRecord) -> asyncio.Future[int]:
        """Queue one record and return the future of its offset.

        Raises:
            LogBusy: too much is queued already.
            LogUnavailable: the broker refuses.
            InputTooLarge: the record is above the log's limit.
        """
        ...


class Appender(Protocol):
    """What takes turns into the log: :class:`~producers.append.TurnAppender`."""

    async def append(
        self, tenant: str, inputs: Sequence[TurnInput], origin: Origin
    ) -> list[AppendResult]:
        """Append turns and return one result for each, in the same order.

        Raises:
            InputTooLarge: more than ``TURNS_MAX`` turns.
            UnknownTenant: no such tenant.
            KeyringUnavailable: it cannot be reached.
        """
        ...

    async def identify(self, tenant: str, inputs: Sequence[TurnInput]) -> list[TurnIdentity]:
        """Return what the log would know each turn by, in the same order; likewise."""
        ...


class KnownTurns(Protocol):
    """Tells which turns are in the ledger already."""

    async def known_turns(self, turns: Mapping[UUID, Collection[UUID]]) -> set[tuple[UUID, UUID]]:
        """Return subject and turn of those that the ledger holds.

        Args:
            turns: by subject, the turns that are asked for.

        Raises:
            ReadModelUnavailable: it cannot be asked.
        """
        ...


class FileAnswers(Protocol):
    """Shows users' files, and tells what commands on them came to."""

    async def result(self, subject: UUID, command_id: UUID) -> ToolResult:
        """Return what a command is answered with, once it was carried out.

        Raises:
            ResultPending: it was not carried out in time; it will be.
            ReadModelUnavailable: it cannot be asked.
        """
        ...

    async def view(
        self, subject: UUID | None, path: str, view_range: Sequence[int] | None = None
    ) -> ToolResult:
        """Return what a model sees of a directory or a file.

        Args:
            subject: whose files; ``None`` where nothing was ever heard of the user.
            path: the path as the model told it.
            view_range: which lines of a file.

        Raises:
            ReadModelUnavailable: it cannot be asked.
        """
        ...
