"""What a worker does with one record of the turns topic, from opening it to its outcome."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Protocol, TypeVar
from uuid import UUID

from processors import metrics
from processors.appending import DecisionLog
from processors.asking import Answered, OwnershipLost
from processors.closers import Closers
from processors.embedding import count_missing
from processors.losses import AtStake, TurnUnanswered, named_error
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


@dataclass(frozen=True, kw_only=True, slots=True)
class _Work:
    """One record that is being worked on, over all tries.

    Attributes:
        record: the record.
        state: its partition.
        until_applied: closed once the projection has applied the outcome.
        at_stake: what goes with the record if it is given up.
    """

    record: LogRecord
    state: PartitionState
    until_applied: ExitStack
    at_stake: AtStake = field(default_factory=AtStake)


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
            work = _Work(record=record, state=state, until_applied=until_applied)
            offset = await self._closed(work)
            if offset is not None:
                ledger, partition = self._parts.ledger, record.position.partition
                await persistently(
                    lambda: ledger.wait_applied(partition, offset),
                    what=f"the outcome of {record.position}",
                )

    async def _closed(self, work: _Work) -> int | None:
        """Close a turn, however long it takes; see :meth:`_close` for what is returned."""
        what = str(work.record.position)
        unexpected = 0
        while True:
            claim = work.state.claims
            try:
                return await persistently(lambda: self._close(work), what=what)
            except OwnershipLost:
                metrics.RETRIES.labels("OwnershipLost").inc()
                await self._parts.takeover.regain(work.state, lost=claim)
            except Answered:
                continue
            except Exception as error:
                unexpected += 1
                logger.exception("unexpected at %s, attempt %d", what, unexpected)
                if unexpected >= _UNEXPECTED_MAX:
                    return await self._give_up(work, error)
                await asyncio.sleep(BACKOFF_FIRST_S)

    async def _close(self, work: _Work) -> int | None:
        """Return the offset of the turn's outcome, or ``None`` where it was closed already."""
        record = work.record
        try:
            header = header_in_place(record, self._parts.partitions)
        except RecordUnaccountable as error:
            return await self._dead_letter(work, stage="open", error=error)
        keys = (await self._parts.keyring.keys([header.subject]))[header.subject]
        if isinstance(keys, Erased):
            return await self._close_erased(work, header.record_id)
        try:
            cause = open_cause(record, header, keys)
        except Punctured:
            return await self._close_erased(work, header.record_id)
        except SealBroken as error:
            return await self._dead_letter(work, stage="open", error=error, keys=keys)
        except RecordInvalid as error:
            return await self._dead_letter(work, stage="decode", error=error, keys=keys)
        opened = Opened(
            record=record,
            header=header,
            keys=keys,
            cause=cause,
            until_applied=work.until_applied,
            at_stake=work.at_stake,
        )
        return await self._decide(opened, work)

    async def _decide(self, opened: Opened, work: _Work) -> int | None:
        try:
            outcome = await self._parts.closers.outcome(opened, work.state)
        except (ExtractionFailed, InputTooLarge) as error:
            return await self._dead_letter(
                work, stage="extract", error=named_error(error), keys=opened.keys
            )
        if outcome is None:
            work.state.closed(self._proposal_id(opened.cause.turn_id))
            return None
        await self._keep_unanswered(outcome, work)
        try:
            return await self._append_outcome(
                outcome, opened.keys, opened.header.address, work.state
            )
        except InputTooLarge as error:
            # What was decided does not fit into one record: it is given up in the open.
            return await self._dead_letter(work, stage="reconcile", error=error, keys=opened.keys)

    async def _keep_unanswered(self, outcome: Outcome, work: _Work) -> None:
        """Keep the turns of a session for which no answer could be had, each as a dead letter."""
        error = TurnUnanswered("no usable answer could be had for this turn of a session")
        for settled in outcome.settled:
            turn = work.at_stake.turns.get(settled.turn_id)
            if turn is not None and settled.closing is Closing.DEAD_LETTERED:
                await self._keep(turn, work, stage="extract", error=error)

    async def _append_outcome(
        self, outcome: Outcome, keys: SubjectKeys, address: int, state: PartitionState
    ) -> int:
        offset = await self._parts.log.append_outcome(
            outcome, keys=keys, address=address, partition=state.partition
        )
        count_missing(outcome)
        state.closed(self._proposal_id(outcome.turn_id))
        return offset

    async def _close_erased(self, work: _Work, turn_id: UUID) -> int:
        outcome = self._parts.log.closing_without_events(
            work.record,
            turn_id=turn_id,
            closing=Closing.ERASED,
            proposals_floor=self._floor(work, turn_id),
        )
        return await self._append_for_system(outcome, work.state)

    async def _dead_letter(
        self, work: _Work, *, stage: Stage, error: BaseException, keys: SubjectKeys | None = None
    ) -> int:
        record = work.record
        logger.error("dead letter at %s (%s): %s", record.position, stage, type(error).__name__)
        for lost in (record, *work.at_stake.turns.values()):
            await self._keep(lost, work, stage=stage, error=error)
        turn_id = turn_id_of_unaccountable(record) if keys is None else record.header().record_id
        outcome = self._parts.log.closing_without_events(
            record,
            turn_id=turn_id,
            closing=Closing.DEAD_LETTERED,
            proposals_floor=self._floor(work, turn_id),
            error=error,
            loss=work.at_stake.loss,
        )
        if keys is None:
            return await self._append_for_system(outcome, work.state)
        return await self._append_outcome(outcome, keys, record.header().address, work.state)

    async def _keep(
        self, record: LogRecord, work: _Work, *, stage: Stage, error: BaseException
    ) -> None:
        """Append a dead letter, where that was not done at a try before."""
        if record.position.offset not in work.at_stake.kept:
            await self._parts.log.append_dead_letter(record, stage=stage, error=error)
            work.at_stake.kept.add(record.position.offset)

    def _floor(self, work: _Work, turn_id: UUID) -> int:
        return work.state.known.floor(closing=self._proposal_id(turn_id))

    async def _append_for_system(self, outcome: Outcome, state: PartitionState) -> int:
        return await self._append_outcome(
            outcome,
            await self._parts.keyring.system_subject(),
            address_for(self._parts.clock().date(), outcome.turn_id),
            state,
        )

    async def _give_up(self, work: _Work, error: BaseException) -> int:
        """Keep a record that our own code fails on, so that the next good one goes through."""

        async def kept() -> int:
            return await self._give_up_once(work, error)

        return await persistently(kept, what=str(work.record.position))

    async def _give_up_once(self, work: _Work, error: BaseException) -> int:
        try:
            header = header_in_place(work.record, self._parts.partitions)
        except RecordUnaccountable:
            return await self._dead_letter(work, stage="reconcile", error=error)
        keys = (await self._parts.keyring.keys([header.subject]))[header.subject]
        if isinstance(keys, SubjectKeys):
            try:
                return await self._dead_letter(work, stage="reconcile", error=error, keys=keys)
            except Punctured:
                logger.info("%s was forgotten meanwhile", work.record.position)
        return await self._close_erased(work, header.record_id)

    def _proposal_id(self, turn_id: UUID) -> UUID:
        return ids.proposal_id(self._parts.generation, turn_id)
