"""What a worker does with one record of the turns topic, from opening it to its outcome."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol, TypeVar
from uuid import UUID

from processors import metrics
from processors.appending import DecisionLog
from processors.asking import Answered, OwnershipLost
from processors.closers import Closers
from processors.embedding import count_missing
from processors.losses import NO_LOSS, Loss, given_up, loss_of, named_error
from processors.opened import Opened, open_cause
from processors.partition_state import PartitionState
from processors.persistence import BACKOFF_FIRST_S, persistently
from processors.ports import KeySource
from schemas import ids
from schemas.errors import ExtractionFailed, InputTooLarge, RecordInvalid, SealBroken
from schemas.keyring import Erased, SubjectKeys
from schemas.log.accounting import RecordUnaccountable, header_in_place, turn_id_of_unaccountable
from schemas.log.sealed import LogRecord
from schemas.ports import Ledger
from schemas.records import Closing, Outcome, Stage
from schemas.tree import Punctured, address_for

logger = logging.getLogger(__name__)

_UNEXPECTED_MAX: Final = 3

Result = TypeVar("Result")


class Regains(Protocol):
    """Claims a partition again after its ownership was lost."""

    async def regain(self, state: PartitionState, *, lost: int) -> None:
        """Claim it and catch up with what others did, unless claim ``lost`` was renewed already."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """What the work needs.

    Attributes:
        keyring: gives keys.
        ledger: the projection's progress and the subject's memories.
        log: appends what is decided.
        closers: by the kind of a record, what decides about it.
        takeover: claims a partition again.
        generation: the generation that is written.
        partitions: how many partitions the topics have.
        clock: the time, aware.
    """

    keyring: KeySource
    ledger: Ledger
    log: DecisionLog
    closers: Closers
    takeover: Regains
    generation: str
    partitions: int
    clock: Callable[[], datetime]


class TurnWork:
    """Closes the records of the turns topic."""

    def __init__(self, parts: Parts) -> None:
        """Wire the parts."""
        self._parts = parts

    async def handle(self, record: LogRecord, state: PartitionState) -> None:
        """Close a record and return once the projection has applied its outcome.

        A part that is unavailable is waited for, as long as it takes: nothing is skipped. What
        cannot be processed is kept as a dead letter and closes its turn as such.
        """
        await state.ready.wait()
        if record.value is None:
            metrics.SKIPPED.labels("tombstone").inc()
            return
        if state.progress.closed(record.position.offset):
            metrics.SKIPPED.labels("closed").inc()
            return
        with ExitStack() as until_applied:
            offset = await self._closed(record, state, until_applied)
            if offset is not None:
                ledger, partition = self._parts.ledger, record.position.partition
                await persistently(
                    lambda: ledger.wait_applied(partition, offset),
                    what=f"the outcome of {record.position}",
                )

    async def _closed(
        self, record: LogRecord, state: PartitionState, until_applied: ExitStack
    ) -> int | None:
        """Close a turn, however long it takes; see :meth:`_close` for what is returned."""
        unexpected = 0
        while True:
            claim = state.claims
            try:
                return await persistently(
                    lambda: self._close(record, state, until_applied), what=str(record.position)
                )
            except OwnershipLost:
                metrics.RETRIES.labels("OwnershipLost").inc()
                await self._parts.takeover.regain(state, lost=claim)
            except Answered:
                continue
            except Exception as error:
                unexpected += 1
                logger.exception("unexpected at %s, attempt %d", record.position, unexpected)
                if unexpected >= _UNEXPECTED_MAX:
                    return await self._give_up(record, state, error)
                await asyncio.sleep(BACKOFF_FIRST_S)

    async def _close(
        self, record: LogRecord, state: PartitionState, until_applied: ExitStack
    ) -> int | None:
        """Return the offset of the turn's outcome, or ``None`` where it was closed already."""
        try:
            header = header_in_place(record, self._parts.partitions)
        except RecordUnaccountable as error:
            return await self._dead_letter(record, state, stage="open", error=error)
        keys = (await self._parts.keyring.keys([header.subject]))[header.subject]
        if isinstance(keys, Erased):
            return await self._close_erased(record, state, header.record_id)
        try:
            cause = open_cause(record, header, keys)
        except Punctured:
            return await self._close_erased(record, state, header.record_id)
        except SealBroken as error:
            return await self._dead_letter(record, state, stage="open", error=error, keys=keys)
        except RecordInvalid as error:
            return await self._dead_letter(record, state, stage="decode", error=error, keys=keys)
        opened = Opened(
            record=record, header=header, keys=keys, cause=cause, until_applied=until_applied
        )
        return await self._decide(opened, state)

    async def _decide(self, opened: Opened, state: PartitionState) -> int | None:
        try:
            outcome = await self._parts.closers.outcome(opened, state)
        except (ExtractionFailed, InputTooLarge) as error:
            return await self._dead_letter(
                opened.record,
                state,
                stage="extract",
                error=named_error(error),
                keys=opened.keys,
                loss=loss_of(error),
            )
        if outcome is None:
            state.closed(self._proposal_id(opened.cause.turn_id))
            return None
        try:
            return await self._append_outcome(outcome, opened.keys, opened.header.address, state)
        except InputTooLarge as error:
            # What was decided does not fit into one record: it is given up in the open.
            return await self._dead_letter(
                opened.record,
                state,
                stage="reconcile",
                error=error,
                keys=opened.keys,
                loss=Loss(usage=outcome.usage, settled=given_up(outcome.settled)),
            )

    async def _append_outcome(
        self, outcome: Outcome, keys: SubjectKeys, address: int, state: PartitionState
    ) -> int:
        offset = await self._parts.log.append_outcome(
            outcome, keys=keys, address=address, partition=state.partition
        )
        count_missing(outcome)
        state.closed(self._proposal_id(outcome.turn_id))
        return offset

    async def _close_erased(self, record: LogRecord, state: PartitionState, turn_id: UUID) -> int:
        return await self._append_for_system(
            self._without_events(record, state, turn_id, Closing.ERASED), state
        )

    async def _dead_letter(
        self,
        record: LogRecord,
        state: PartitionState,
        *,
        stage: Stage,
        error: BaseException,
        keys: SubjectKeys | None = None,
        loss: Loss = NO_LOSS,
    ) -> int:
        logger.error("dead letter at %s (%s): %s", record.position, stage, type(error).__name__)
        await self._parts.log.append_dead_letter(record, stage=stage, error=error)
        turn_id = turn_id_of_unaccountable(record) if keys is None else record.header().record_id
        outcome = self._without_events(
            record, state, turn_id, Closing.DEAD_LETTERED, error=error, loss=loss
        )
        if keys is None:
            return await self._append_for_system(outcome, state)
        return await self._append_outcome(outcome, keys, record.header().address, state)

    def _without_events(
        self,
        record: LogRecord,
        state: PartitionState,
        turn_id: UUID,
        closing: Closing,
        *,
        error: BaseException | None = None,
        loss: Loss = NO_LOSS,
    ) -> Outcome:
        return self._parts.log.closing_without_events(
            record,
            turn_id=turn_id,
            closing=closing,
            proposals_floor=state.known.floor(closing=self._proposal_id(turn_id)),
            error=error,
            loss=loss,
        )

    async def _append_for_system(self, outcome: Outcome, state: PartitionState) -> int:
        return await self._append_outcome(
            outcome,
            await self._parts.keyring.system_subject(),
            address_for(self._parts.clock().date(), outcome.turn_id),
            state,
        )

    async def _give_up(self, record: LogRecord, state: PartitionState, error: BaseException) -> int:
        """Keep a record that our own code fails on, so that the next good one goes through."""

        async def kept() -> int:
            return await self._give_up_once(record, state, error)

        return await persistently(kept, what=str(record.position))

    async def _give_up_once(
        self, record: LogRecord, state: PartitionState, error: BaseException
    ) -> int:
        try:
            header = header_in_place(record, self._parts.partitions)
        except RecordUnaccountable:
            return await self._dead_letter(record, state, stage="reconcile", error=error)
        keys = (await self._parts.keyring.keys([header.subject]))[header.subject]
        if isinstance(keys, SubjectKeys):
            try:
                return await self._dead_letter(
                    record, state, stage="reconcile", error=error, keys=keys
                )
            except Punctured:
                logger.info("%s was forgotten meanwhile", record.position)
        return await self._close_erased(record, state, header.record_id)

    def _proposal_id(self, turn_id: UUID) -> UUID:
        return ids.proposal_id(self._parts.generation, turn_id)
