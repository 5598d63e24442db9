"""Appending turns to the log, sealed, and answering only for what the broker acknowledged."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from producers import metrics
from producers.ports import SubjectDirectory, TurnLog
from producers.steps import Steps
from producers.turns_input import TURNS_MAX, TurnInput
from schemas.clock import utc_now
from schemas.errors import InputTooLarge, InvalidInput, KeyringUnavailable, LogUnavailable
from schemas.ids import turn_id as derived_turn_id
from schemas.keyring import SubjectKeys
from schemas.log.sealed import SealedRecord, seal_record
from schemas.partitioning import partition_for
from schemas.records import Origin, Turn
from schemas.topics import TURNS
from schemas.tree import Punctured, address_for

ROUNDS_MAX: Final = 4
"""How often a batch is appended when its users are erased again and again meanwhile."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Appended:
    """A turn that the broker acknowledged.

    Attributes:
        turn_id: the record's id.
        partition, offset: where it stands in the turns topic.
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
    """A turn that was not accepted.

    Attributes:
        error: why; a :class:`~schemas.errors.LogUnavailable` means that it may be sent again. It
            may stand in the log all the same, so it is to be sent under its ``turn_id``.
    """

    error: InvalidInput | LogUnavailable


AppendResult = Appended | Refused


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnIdentity:
    """What the log knows a turn by.

    Attributes:
        subject: its subject.
        turn_id: the record's id.
    """

    subject: UUID
    turn_id: UUID


@dataclass(frozen=True, kw_only=True, slots=True)
class _Batch:
    """The turns of one call, and what became of them so far, by index."""

    tenant: str
    inputs: Sequence[TurnInput]
    origin: Origin
    received_at: datetime
    results: dict[int, AppendResult]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Pending:
    """A turn that waits for its acknowledgement."""

    index: int
    subject: UUID
    turn_id: UUID
    partition: int
    offset: asyncio.Future[int]


class TurnAppender:
    """Appends turns: in the order given, each once acknowledged by all replicas, or refused.

    A subject's turns of one call keep their order in the log. Calls that run at the same time are
    not ordered among each other: a client that needs an order waits for the answer.
    """

    def __init__(
        self,
        keyring: SubjectDirectory,
        producer: TurnLog,
        partitions: int,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        """Wire the parts.

        Args:
            keyring: gives users' subjects and tells of erasures.
            producer: the idempotent producer of the log.
            partitions: how many partitions the turns topic has.
            clock: the current time, aware.
        """
        self._keyring = keyring
        self._producer = producer
        self._partitions = partitions
        self._clock = clock

    async def append(
        self, tenant: str, inputs: Sequence[TurnInput], origin: Origin
    ) -> list[AppendResult]:
        """Append turns and return one result for each, in the same order.

        A turn that repeats the client's id of an earlier one of the same user in this call is
        answered as that one where both say the same, and refused where they do not. Where one of
        a subject's turns cannot be queued, its later ones in this call are refused too.

        After the acknowledgements the keyring is asked which of the subjects were erased meanwhile:
        the turns of those users are appended again under the users' new subjects.

        Args:
            tenant: the tenant of the API key.
            inputs: at most ``TURNS_MAX`` turns.
            origin: the door they came in by.

        Raises:
            InputTooLarge: more than ``TURNS_MAX`` turns.
            UnknownTenant: no such tenant.
            KeyringUnavailable: the keyring cannot be reached. Whatever was appended by then is not
                answered for: to send it again under its ``turn_id`` is harmless.
        """
        with metrics.refusals_counted(origin, turns=len(inputs)):
            return await self._append(tenant, inputs, origin)

    async def _append(
        self, tenant: str, inputs: Sequence[TurnInput], origin: Origin
    ) -> list[AppendResult]:
        if len(inputs) > TURNS_MAX:
            raise InputTooLarge(
                field="turns",
                problem=f"holds {len(inputs)} turns, the limit is {TURNS_MAX}",
                remedy="send them in several requests",
            )
        batch = _Batch(
            tenant=tenant, inputs=inputs, origin=origin, received_at=self._clock(), results={}
        )
        originals = _originals(inputs)
        waiting = [index for index, original in enumerate(originals) if index == original]
        for _ in range(ROUNDS_MAX):
            pending = await self._queue(batch, waiting)
            await _acknowledged(pending, batch.results)
            waiting = await self._erased_meanwhile(pending, batch.results)
            if not waiting:
                answers = [
                    _answer(batch, index, original) for index, original in enumerate(originals)
                ]
                _count(batch, answers, originals)
                return answers
        raise KeyringUnavailable(
            f"the users of {len(waiting)} turns were erased {ROUNDS_MAX} times while their turns "
            "were appended: send them again once the erasures are through"
        )

    async def identify(self, tenant: str, inputs: Sequence[TurnInput]) -> list[TurnIdentity]:
        """Return what the log would know each turn by, without appending it.

        Raises:
            UnknownTenant: no such tenant.
            KeyringUnavailable: the keyring cannot be reached.
        """
        subjects = await self._subjects(tenant, inputs)
        return [
            TurnIdentity(
                subject=subjects[turn.user_id].subject,
                turn_id=derived_turn_id(subjects[turn.user_id].id_secret, turn.turn_id),
            )
            for turn in inputs
        ]

    async def _queue(self, batch: _Batch, indexes: Sequence[int]) -> list[_Pending]:
        """Seal and queue the turns at ``indexes``; note the refused ones, return the others."""
        subjects = await self._subjects(batch.tenant, [batch.inputs[index] for index in indexes])
        pending: list[_Pending] = []
        stopped: dict[UUID, Refused] = {}
        steps = Steps()
        for index in indexes:
            keys = subjects[batch.inputs[index].user_id]
            if keys.subject in stopped:
                batch.results[index] = stopped[keys.subject]
                continue
            try:
                pending.append(self._submit(batch, index, keys))
            except InvalidInput as error:
                batch.results[index] = Refused(error=error)
            except LogUnavailable as error:
                batch.results[index] = stopped[keys.subject] = Refused(error=error)
            await steps.give_way()
        return pending

    def _submit(self, batch: _Batch, index: int, keys: SubjectKeys) -> _Pending:
        turn_id, record = _sealed(batch, index, keys)
        partition = partition_for(keys.subject, self._partitions)
        return _Pending(
            index=index,
            subject=keys.subject,
            turn_id=turn_id,
            partition=partition,
            offset=self._producer.submit(TURNS, partition, record),
        )

    async def _erased_meanwhile(
        self, pending: Sequence[_Pending], results: dict[int, AppendResult]
    ) -> list[int]:
        """Return the indexes of the acknowledged turns whose subject was erased since."""
        appended = [turn for turn in pending if isinstance(results[turn.index], Appended)]
        if not appended:
            return []
        erased = await self._keyring.erased_among({turn.subject for turn in appended})
        if erased:
            # The lease may still serve the destroyed keys; what is read afresh displaces them.
            await self._keyring.fresh_keys(erased)
        return [turn.index for turn in appended if turn.subject in erased]

    async def _subjects(self, tenant: str, inputs: Sequence[TurnInput]) -> dict[str, SubjectKeys]:
        users = list(dict.fromkeys(turn.user_id for turn in inputs))
        return await self._keyring.subjects_for(tenant, users, create=True) if users else {}


def _sealed(batch: _Batch, index: int, keys: SubjectKeys) -> tuple[UUID, SealedRecord]:
    turn = batch.inputs[index]
    turn_id = derived_turn_id(keys.id_secret, turn.turn_id)
    occurred_at = turn.occurred_at if turn.occurred_at is not None else batch.received_at
    record = Turn(
        turn_id=turn_id,
        conversation_id=turn.conversation_id,
        user_text=turn.user_text,
        assistant_text=turn.assistant_text,
        occurred_at=occurred_at,
        utc_offset_minutes=turn.utc_offset_minutes,
        received_at=batch.received_at,
        origin=batch.origin,
        recall_id=turn.recall_id,
    )
    address = address_for(occurred_at, turn_id)
    try:
        return turn_id, seal_record(record, keys=keys, record_id=turn_id, address=address)
    except Punctured:
        raise InvalidInput(
            field="turn_id",
            problem="names a turn that was forgotten, or one of a day that was",
            remedy="leave it forgotten; what was said anew goes under an id and a time of its own",
        ) from None


async def _acknowledged(pending: Sequence[_Pending], results: dict[int, AppendResult]) -> None:
    """Wait for every acknowledgement and note what became of each turn."""
    for turn in pending:
        # One after the other: reports come many at a time, so few of these waits wait.
        try:
            offset = await turn.offset
        except (InvalidInput, LogUnavailable) as error:
            results[turn.index] = Refused(error=error)
        else:
            results[turn.index] = Appended(
                turn_id=turn.turn_id, partition=turn.partition, offset=offset
            )


def _count(batch: _Batch, answers: Sequence[AppendResult], originals: Sequence[int]) -> None:
    accepted = 0
    for index, (answer, original) in enumerate(zip(answers, originals, strict=True)):
        if index != original and answer is batch.results[original]:
            continue  # a repetition, counted where it was said first
        if isinstance(answer, Refused):
            metrics.count_refused(batch.origin, answer.error)
        else:
            accepted += 1
    metrics.TURNS_ACCEPTED.labels(batch.origin.value).inc(accepted)


def _originals(inputs: Sequence[TurnInput]) -> list[int]:
    """Return, for each turn, the index of the first one with its user and client id."""
    first: dict[tuple[str, str], int] = {}
    return [
        index if turn.turn_id is None else first.setdefault((turn.user_id, turn.turn_id), index)
        for index, turn in enumerate(inputs)
    ]


def _answer(batch: _Batch, index: int, original: int) -> AppendResult:
    if batch.inputs[index] == batch.inputs[original]:
        return batch.results[original]
    return Refused(
        error=InvalidInput(
            field="turn_id",
            problem=f"is also that of turn {original} of this request, which says something else",
            remedy="give every turn an id of its own",
        )
    )
