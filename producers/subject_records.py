"""Appending records to their subjects' lines, and answering only for what was acknowledged."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, TypeAlias
from uuid import UUID

from producers.ports import SubjectDirectory, TurnLog
from producers.steps import Steps
from schemas.errors import InvalidInput, KeyringUnavailable, LogUnavailable, UserPaused
from schemas.keyring import SubjectKeys
from schemas.log.sealed import SealedRecord, seal_record
from schemas.memory import Record
from schemas.partitioning import partition_for
from schemas.topics import TURNS
from schemas.tree import Punctured, address_for
from schemas.withholding import WithheldReason

ROUNDS_MAX: Final = 4
"""How often records are appended when their users are erased again and again meanwhile."""

Owner: TypeAlias = str | UUID
"""Whose record it is: a user by the id that the client knows, or a subject itself."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Appended:
    """A record that the broker acknowledged.

    Attributes:
        turn_id: the record's id.
        partition, offset: where it stands in its topic.
    """

    turn_id: UUID
    partition: int
    offset: int

    @property
    def position(self) -> str:
        """Where it stands, as ``partition:offset``."""
        return f"{self.partition}:{self.offset}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """A record that was not accepted.

    Attributes:
        error: why; a :class:`~schemas.errors.LogUnavailable` means that it may be sent again. It
            may stand in the log all the same, so it is to be sent under its own id.
    """

    error: InvalidInput | LogUnavailable


@dataclass(frozen=True, kw_only=True, slots=True)
class Withheld:
    """A record that was not appended, as its user wants it; nothing is wrong with it.

    Attributes:
        reason: why.
    """

    reason: WithheldReason


AppendResult: TypeAlias = Appended | Refused | Withheld


def appended_or_raise(result: AppendResult) -> Appended:
    """Return where a record stands.

    Raises:
        InvalidInput, LogUnavailable: it was refused.
        UserPaused: it was withheld, since its user has paused memory.
    """
    if isinstance(result, Refused):
        raise result.error
    if isinstance(result, Withheld):
        raise UserPaused(
            "the user has paused memory, and nothing is noted of them meanwhile: send it again "
            "once they have resumed, or let it be"
        )
    return result


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A record that is to be appended; what it says may depend on the subject's keys.

    Attributes:
        owner: whose record it is.
        seal: makes the record's id and the sealed record under the keys of its subject. It may
            raise :class:`~schemas.errors.InvalidInput`, which refuses this record alone.
        while_paused: whether it is appended although its user has paused memory: what a person
            decided is, what a chat or a system would have noted is not.
    """

    owner: Owner
    seal: Callable[[SubjectKeys], tuple[UUID, SealedRecord]]
    while_paused: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class _Batch:
    """The records of one call, and what became of them so far, by index."""

    tenant: str
    drafts: Sequence[Draft]
    create: bool
    results: dict[int, AppendResult] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Pending:
    """A record that waits for its acknowledgement."""

    index: int
    subject: UUID
    record_id: UUID
    partition: int
    offset: asyncio.Future[int]


class SubjectRecords:
    """Appends sealed records to one topic, each to the line of its subject.

    After the acknowledgements the keyring is asked which of the subjects were erased meanwhile: the
    records of those users are appended again under the users' new subjects.
    """

    def __init__(
        self,
        keyring: SubjectDirectory,
        producer: TurnLog,
        partitions: int,
        *,
        topic: str = TURNS,
    ) -> None:
        """Wire the parts.

        Args:
            keyring: gives users' subjects and tells of erasures.
            producer: the idempotent producer of the log.
            partitions: how many partitions the topic has.
            topic: where the records go.
        """
        self._keyring = keyring
        self._producer = producer
        self._partitions = partitions
        self._topic = topic

    async def append(self, tenant: str, drafts: Sequence[Draft]) -> list[AppendResult]:
        """Append records and return one result for each, in the same order.

        A user without a subject is given one. The records of a subject keep their order: where one
        of them cannot be queued, its later ones in this call are refused too.

        Args:
            tenant: the tenant whose users they are of.
            drafts: the records, each owned by a user.

        Raises:
            UnknownTenant: no such tenant.
            KeyringUnavailable: the keyring cannot be reached. Whatever was appended by then is not
                answered for: to send it again under its id is harmless.
        """
        results = await self._append(_Batch(tenant=tenant, drafts=drafts, create=True))
        return [results[index] for index in range(len(drafts))]

    async def append_known(self, tenant: str, draft: Draft) -> AppendResult | None:
        """Append a record of a subject that is there already.

        Args:
            tenant: the tenant whose subject it is of.
            draft: the record.

        Returns:
            What became of it; ``None`` where the tenant has no such living subject, which gets
            none. A subject that was erased while it was appended is not there any more.

        Raises:
            UnknownTenant, KeyringUnavailable: as for :meth:`append`.
        """
        results = await self._append(_Batch(tenant=tenant, drafts=[draft], create=False))
        return results.get(0)

    async def _append(self, batch: _Batch) -> dict[int, AppendResult]:
        waiting = list(range(len(batch.drafts)))
        for _ in range(ROUNDS_MAX):
            pending = await self._queue(batch, waiting)
            await _acknowledged(pending, batch.results)
            waiting = await self._erased_meanwhile(pending, batch.results)
            if not waiting:
                return batch.results
            for index in waiting:
                del batch.results[index]
        raise KeyringUnavailable(
            f"the users of {len(waiting)} records were erased {ROUNDS_MAX} times while these "
            "were appended: send them again once the erasures are through"
        )

    async def _queue(self, batch: _Batch, indexes: Sequence[int]) -> list[_Pending]:
        """Seal and queue the records at ``indexes``; note the refused ones, return the others."""
        owners = dict.fromkeys(batch.drafts[index].owner for index in indexes)
        subjects = await self._subjects(batch, owners)
        pending: list[_Pending] = []
        stopped: dict[UUID, Refused] = {}
        steps = Steps()
        for index in indexes:
            draft = batch.drafts[index]
            keys = subjects.get(draft.owner)
            if keys is None:
                continue
            if keys.paused and not draft.while_paused:
                batch.results[index] = Withheld(reason=WithheldReason.PAUSED)
                continue
            if keys.subject in stopped:
                batch.results[index] = stopped[keys.subject]
                continue
            try:
                pending.append(self._submit(draft, index, keys))
            except InvalidInput as error:
                batch.results[index] = Refused(error=error)
            except LogUnavailable as error:
                batch.results[index] = stopped[keys.subject] = Refused(error=error)
            await steps.give_way()
        return pending

    def _submit(self, draft: Draft, index: int, keys: SubjectKeys) -> _Pending:
        record_id, record = draft.seal(keys)
        partition = partition_for(keys.subject, self._partitions)
        return _Pending(
            index=index,
            subject=keys.subject,
            record_id=record_id,
            partition=partition,
            offset=self._producer.submit(self._topic, partition, record),
        )

    async def _erased_meanwhile(
        self, pending: Sequence[_Pending], results: dict[int, AppendResult]
    ) -> list[int]:
        """Return the indexes of the acknowledged records whose subject was erased since."""
        appended = [record for record in pending if isinstance(results[record.index], Appended)]
        if not appended:
            return []
        erased = await self._keyring.erased_among({record.subject for record in appended})
        if erased:
            # The lease may still serve the destroyed keys; what is read afresh displaces them.
            await self._keyring.fresh_keys(erased)
        return [record.index for record in appended if record.subject in erased]

    async def _subjects(self, batch: _Batch, owners: Collection[Owner]) -> dict[Owner, SubjectKeys]:
        """Return the keys of the owners that have any."""
        found: dict[Owner, SubjectKeys] = {}
        users = [owner for owner in owners if isinstance(owner, str)]
        if users:
            known = await self._keyring.subjects_for(batch.tenant, users, create=batch.create)
            found.update((user, keys) for user, keys in known.items())
        subjects = [owner for owner in owners if isinstance(owner, UUID)]
        if subjects:
            states = await self._keyring.keys(subjects)
            found.update(
                (subject, state)
                for subject, state in states.items()
                if isinstance(state, SubjectKeys) and state.tenant == batch.tenant
            )
        return found


def sealed_at_its_time(
    record: Record, *, keys: SubjectKeys, record_id: UUID, occurred_at: datetime, named_by: str
) -> tuple[UUID, SealedRecord]:
    """Return a record's id and the record, sealed at the address of its day and id.

    Args:
        record: the record.
        keys: its subject's.
        record_id: its id.
        occurred_at: when it happened.
        named_by: the field in which the client names the record.

    Raises:
        InvalidInput: the key of that address was forgotten.
    """
    address = address_for(occurred_at, record_id)
    try:
        return record_id, seal_record(record, keys=keys, record_id=record_id, address=address)
    except Punctured:
        raise InvalidInput(
            field=named_by,
            problem="names what was forgotten, or lies on a day that was",
            remedy="leave it forgotten; what was said anew goes under an id and a time of its own",
        ) from None


async def _acknowledged(pending: Sequence[_Pending], results: dict[int, AppendResult]) -> None:
    """Wait for every acknowledgement and note what became of each record."""
    for record in pending:
        # One after the other: reports come many at a time, so few of these waits wait.
        try:
            offset = await record.offset
        except (InvalidInput, LogUnavailable) as error:
            results[record.index] = Refused(error=error)
        else:
            results[record.index] = Appended(
                turn_id=record.record_id, partition=record.partition, offset=offset
            )
