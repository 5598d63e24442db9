"""Appending what a person decides about memories."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial
from typing import TypeAlias
from uuid import UUID

from producers.curations_input import CorrectionInput, DeletionInput, StatementInput
from producers.metrics import Command, count_command
from producers.subject_records import Appended, Draft, SubjectRecords, appended_or_raise
from producers.subject_records import sealed_at_its_time as sealed
from schemas.clock import utc_now
from schemas.commands import (
    AboutMemory,
    CuratedMemory,
    Curation,
    Decision,
    PersonCorrects,
    PersonDeletes,
    PersonPins,
    PersonRemembers,
)
from schemas.errors import UnknownMemory
from schemas.ids import curation_id
from schemas.keyring import SubjectKeys
from schemas.log.sealed import SealedRecord
from schemas.memory import Source

FindMemory: TypeAlias = Callable[[str, str, UUID], Awaitable[CuratedMemory | None]]
"""Returns a version of a tenant's user as a decision about it carries it; ``None`` where that user
has none of that id, whoever else may."""


class CurationAppender:
    """Appends what persons decide, each decision once acknowledged by all replicas.

    Every method raises, beside what it names, what
    :class:`~producers.commands.CommandAppender` tells. A user who has paused memory may decide all
    the same.
    """

    def __init__(
        self,
        records: SubjectRecords,
        find_memory: FindMemory,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        """Wire the parts.

        Args:
            records: appends to subjects' lines.
            find_memory: finds what a decision is about.
            clock: the current time, aware.
        """
        self._records = records
        self._find_memory = find_memory
        self._clock = clock

    async def remember(self, tenant: str, statement: StatementInput) -> Appended:
        """Append that a person states something; a user without a subject is given one."""
        decision = PersonRemembers(
            kind=statement.kind,
            slot=statement.slot,
            about=statement.about,
            content=statement.content,
            importance=statement.importance,
            valid_from=statement.valid_from,
            expires_at=statement.expires_at,
            pinned=statement.pinned,
        )
        draft = Draft(
            owner=statement.user_id,
            seal=self._sealing(decision, actor=statement.actor, client_id=statement.client_id),
        )
        (result,) = await self._records.append(tenant, [draft])
        appended = appended_or_raise(result)
        count_command(Command.CURATION)
        return appended

    async def correct(self, tenant: str, memory_id: str, told: CorrectionInput) -> Appended:
        """Append what a memory is to be.

        Raises:
            UnknownMemory: the user has no such memory.
            ReadModelUnavailable: the read model cannot be asked for it.
        """
        memory = await self._memory(tenant, told.user_id, memory_id)
        decision: Decision
        if told.pins_only:
            decision = PersonPins(memory=memory, pinned=told.pinned is True, reason=told.reason)
        else:
            decision = PersonCorrects(
                memory=memory,
                content=told.content,
                slot=told.slot,
                about=told.about,
                importance=told.importance,
                kind=told.kind,
                pinned=told.pinned,
                reason=told.reason,
            )
        return await self._decide(tenant, told, decision)

    async def delete(self, tenant: str, memory_id: str, told: DeletionInput) -> Appended:
        """Append that a memory is to be deleted, with every version of it.

        Raises:
            UnknownMemory: the user has no such memory.
            ReadModelUnavailable: the read model cannot be asked for it.
        """
        memory = await self._memory(tenant, told.user_id, memory_id)
        return await self._decide(tenant, told, PersonDeletes(memory=memory, reason=told.reason))

    async def _memory(self, tenant: str, user_id: str, memory_id: str) -> CuratedMemory:
        try:
            named = UUID(memory_id)
        except ValueError:
            raise unknown_memory() from None
        memory = await self._find_memory(tenant, user_id, named)
        if memory is None:
            raise unknown_memory()
        return memory

    async def _decide(
        self, tenant: str, told: CorrectionInput | DeletionInput, decision: Decision
    ) -> Appended:
        draft = Draft(
            owner=told.user_id,
            seal=self._sealing(decision, actor=told.actor, client_id=told.client_id),
        )
        result = await self._records.append_known(tenant, draft)
        if result is None:
            raise unknown_memory()
        appended = appended_or_raise(result)
        count_command(Command.CURATION)
        return appended

    def _sealing(
        self, decision: Decision, *, actor: str, client_id: str | None
    ) -> Callable[[SubjectKeys], tuple[UUID, SealedRecord]]:
        return partial(_sealed, decision, actor, client_id, self._clock())


def unknown_memory() -> UnknownMemory:
    """Return the error for a memory that a user does not have, whoever else may have it."""
    return UnknownMemory(
        "nothing is stored under this id of the user: take a memory_id from GET /v1/memories or "
        "`memledger memories`"
    )


def _sealed(
    decision: Decision, actor: str, client_id: str | None, now: datetime, keys: SubjectKeys
) -> tuple[UUID, SealedRecord]:
    about = (
        (decision.decision, decision.memory.memory_id)
        if isinstance(decision, AboutMemory)
        else None
    )
    record_id = curation_id(keys.id_secret, client_id, about)
    record = Curation(
        turn_id=record_id,
        source=Source.CURATION,
        actor=actor,
        decision=decision,
        occurred_at=now,
        received_at=now,
    )
    return sealed(record, keys=keys, record_id=record_id, occurred_at=now, named_by="id")
