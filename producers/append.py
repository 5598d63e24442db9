"""Appending turns to the log, sealed, and answering only for what the broker acknowledged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

from producers import metrics
from producers.ports import SubjectDirectory, TurnLog
from producers.subject_records import (
    AppendResult,
    Draft,
    Refused,
    SubjectRecords,
    Withheld,
    sealed_at_its_time,
)
from producers.turns_input import TURNS_MAX, TurnInput
from schemas.clock import utc_now
from schemas.errors import InputTooLarge, InvalidInput
from schemas.ids import turn_id as derived_turn_id
from schemas.keyring import SubjectKeys
from schemas.log.sealed import SealedRecord
from schemas.records import Origin, Turn
from schemas.withholding import WithheldReason


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
    """The turns of one call."""

    inputs: Sequence[TurnInput]
    origin: Origin
    received_at: datetime


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
        self._records = SubjectRecords(keyring, producer, partitions)
        self._clock = clock

    async def append(
        self, tenant: str, inputs: Sequence[TurnInput], origin: Origin
    ) -> list[AppendResult]:
        """Append turns and return one result for each, in the same order.

        What is incognito, or said by a user who has paused memory, is withheld: nothing of it goes
        further, and an incognito turn makes no user known.

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
        batch = _Batch(inputs=inputs, origin=origin, received_at=self._clock())
        originals = _originals(inputs)
        results: dict[int, AppendResult] = {
            index: Withheld(reason=WithheldReason.INCOGNITO)
            for index, turn in enumerate(inputs)
            if turn.incognito
        }
        firsts = [
            index
            for index, original in enumerate(originals)
            if index == original and index not in results
        ]
        appended = await self._records.append(tenant, [_draft(batch, index) for index in firsts])
        results.update(zip(firsts, appended, strict=True))
        answers = [_answer(batch, results, index, first) for index, first in enumerate(originals)]
        _count(origin, results, answers, originals)
        return answers

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

    async def _subjects(self, tenant: str, inputs: Sequence[TurnInput]) -> dict[str, SubjectKeys]:
        users = list(dict.fromkeys(turn.user_id for turn in inputs))
        return await self._keyring.subjects_for(tenant, users, create=True) if users else {}


def _draft(batch: _Batch, index: int) -> Draft:
    turn = batch.inputs[index]
    return Draft(owner=turn.user_id, seal=partial(_sealed, batch, turn), while_paused=False)


def _sealed(batch: _Batch, turn: TurnInput, keys: SubjectKeys) -> tuple[UUID, SealedRecord]:
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
    return sealed_at_its_time(
        record, keys=keys, record_id=turn_id, occurred_at=occurred_at, named_by="turn_id"
    )


def _count(
    origin: Origin,
    results: Mapping[int, AppendResult],
    answers: Sequence[AppendResult],
    originals: Sequence[int],
) -> None:
    accepted = 0
    for index, (answer, original) in enumerate(zip(answers, originals, strict=True)):
        if index != original and answer is results[original]:
            continue  # a repetition, counted where it was said first
        if isinstance(answer, Refused):
            metrics.count_refused(origin, answer.error)
        elif isinstance(answer, Withheld):
            metrics.TURNS_WITHHELD.labels(origin.value, answer.reason.value).inc()
        else:
            accepted += 1
    metrics.TURNS_ACCEPTED.labels(origin.value).inc(accepted)


def _originals(inputs: Sequence[TurnInput]) -> list[int]:
    """Return, for each turn, the index of the first one with its user and client id."""
    first: dict[tuple[str, str], int] = {}
    return [
        index
        if turn.turn_id is None or turn.incognito  # withheld: it is no turn's first, nor a second
        else first.setdefault((turn.user_id, turn.turn_id), index)
        for index, turn in enumerate(inputs)
    ]


def _answer(
    batch: _Batch, results: Mapping[int, AppendResult], index: int, original: int
) -> AppendResult:
    if batch.inputs[index] == batch.inputs[original]:
        return results[original]
    return Refused(
        error=InvalidInput(
            field="turn_id",
            problem=f"is also that of turn {original} of this request, which says something else",
            remedy="give every turn an id of its own",
        )
    )
