"""What a worker does with one record of the turns topic, from opening it to its outcome."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from processors import metrics
from processors.appending import DecisionLog, Stage
from processors.embedding import with_embeddings
from processors.extraction import Proposer
from processors.lease import Lease
from processors.reconcile import decide, lookups
from processors.takeover import PartitionState
from schemas import ids
from schemas.errors import (
    EmbeddingFailed,
    ExtractionFailed,
    InputTooLarge,
    KeyMissing,
    KeyringUnavailable,
    LogUnavailable,
    ReadModelUnavailable,
    RecordInvalid,
    SealBroken,
)
from schemas.keyring import Erased, Keyring, SubjectKeys
from schemas.log.accounting import RecordUnaccountable, header_in_place, turn_id_of_unaccountable
from schemas.log.sealed import LogRecord, open_record
from schemas.ports import Embedder, Ledger, Vectors
from schemas.records import Closing, Outcome, Proposal, Turn
from schemas.sealing import Header
from schemas.tree import Punctured, address_for

logger = logging.getLogger(__name__)

_BACKOFF_FIRST_S: Final = 0.2
_BACKOFF_MAX_S: Final = 5.0
_UNEXPECTED_MAX: Final = 3
_TRANSIENT: Final = (KeyringUnavailable, KeyMissing, LogUnavailable, ReadModelUnavailable)


class OwnershipLost(Exception):
    """Another worker may hold the partition: nothing more is done until that is known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _OpenTurn:
    """A turn that is being worked on.

    Attributes:
        record: as it was read.
        header: its header.
        keys: its subject's keys.
        turn: what was sealed.
    """

    record: LogRecord
    header: Header
    keys: SubjectKeys
    turn: Turn


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """What the work needs.

    Attributes:
        keyring: gives keys.
        ledger: the projection's progress and the subject's memories.
        log: appends what is decided.
        proposer: asks the extractor.
        embedder: gives vectors.
        lease: tells whether our partitions are still ours.
        owner: the name of this worker instance.
        generation: the generation that is written.
        partitions: how many partitions the topics have.
        embed_attempts_max: how often a vector is asked for.
        clock: the time, aware.
    """

    keyring: Keyring
    ledger: Ledger
    log: DecisionLog
    proposer: Proposer
    embedder: Embedder
    lease: Lease
    owner: str
    generation: str
    partitions: int
    embed_attempts_max: int
    clock: Callable[[], datetime]


class TurnWork:
    """Closes turns."""

    def __init__(self, parts: Parts) -> None:
        """Wire the parts."""
        self._parts = parts

    async def handle(self, record: LogRecord, state: PartitionState) -> None:
        """Close a turn and return once the projection has applied its outcome.

        A part that is unavailable is waited for, as long as it takes: nothing is skipped. What
        cannot be processed is kept as a dead letter and closes its turn as such.
        """
        await state.ready.wait()
        if record.value is None:
            metrics.SKIPPED.labels("tombstone").inc()
            return None
        if state.progress.closed(record.position.offset):
            metrics.SKIPPED.labels("closed").inc()
            return None
        unexpected = 0
        backoff_s = _BACKOFF_FIRST_S
        while True:
            try:
                return await self._close_and_wait(record, state)
            except OwnershipLost:
                metrics.RETRIES.labels("OwnershipLost").inc()
                await self._regain(record.position.partition)
                continue
            except _TRANSIENT as error:
                metrics.RETRIES.labels(type(error).__name__).inc()
                logger.warning("%s waits: %s", record.position, error)
            except Exception as error:
                unexpected += 1
                logger.exception("unexpected at %s, attempt %d", record.position, unexpected)
                if unexpected >= _UNEXPECTED_MAX:
                    await self._give_up_persistently(record, state, error)
                    return None
            await asyncio.sleep(backoff_s)
            backoff_s = min(2 * backoff_s, _BACKOFF_MAX_S)

    async def _close_and_wait(self, record: LogRecord, state: PartitionState) -> None:
        offset = await self._close(record, state)
        if offset is not None:
            await self._parts.ledger.wait_applied(record.position.partition, offset)

    async def _close(self, record: LogRecord, state: PartitionState) -> int | None:
        """Return the offset of the turn's outcome, or ``None`` where it was closed already."""
        try:
            header = header_in_place(record, self._parts.partitions)
        except RecordUnaccountable as error:
            return await self._dead_letter(record, state, stage="open", error=error)
        keys = (await self._parts.keyring.keys([header.subject]))[header.subject]
        if isinstance(keys, Erased):
            return await self._close_erased(record, state, header.record_id)
        try:
            turn = open_record(Turn, record, keys)
        except Punctured:
            return await self._close_erased(record, state, header.record_id)
        except SealBroken as error:
            return await self._dead_letter(record, state, stage="open", error=error, keys=keys)
        except RecordInvalid as error:
            return await self._dead_letter(record, state, stage="decode", error=error, keys=keys)
        return await self._decide(
            _OpenTurn(record=record, header=header, keys=keys, turn=turn), state
        )

    async def _decide(self, opened: _OpenTurn, state: PartitionState) -> int | None:
        try:
            proposed = await self._proposal(opened, state)
        except ExtractionFailed as error:
            return await self._dead_letter(
                opened.record, state, stage="extract", error=error, keys=opened.keys
            )
        if proposed is None:
            return None
        proposal, proposal_offset = proposed
        outcome = await self._outcome(opened, state, proposal, proposal_offset)
        try:
            offset = await self._append_outcome(opened, state, outcome)
        except InputTooLarge as error:
            # What was decided does not fit into one record: it is given up in the open.
            offset = await self._dead_letter(
                opened.record, state, stage="reconcile", error=error, keys=opened.keys
            )
        state.undelivered.discard(proposal_offset)
        state.proposals.pop(self._proposal_id(opened.turn.turn_id), None)
        return offset

    async def _proposal(
        self, opened: _OpenTurn, state: PartitionState
    ) -> tuple[Proposal, int] | None:
        """Return the turn's proposal and where it stands; ``None`` where the turn is closed."""
        parts, turn = self._parts, opened.turn
        standing = state.proposals.get(self._proposal_id(turn.turn_id))
        known_max = 0 if standing is not None else parts.proposer.known_max
        vector = await self._vector(turn) if known_max > 0 else None
        context = await parts.ledger.context(
            subject=opened.keys.subject,
            turn_id=turn.turn_id,
            partition=state.partition,
            vector=vector,
            known_max=known_max,
        )
        if context.closing is not None:
            metrics.SKIPPED.labels("duplicate").inc()
            return None
        if context.owner != parts.owner:
            raise OwnershipLost
        if standing is not None:
            metrics.PROPOSALS_REUSED.inc()
            state.stand(standing.position.offset)
            return open_record(Proposal, standing, opened.keys), standing.position.offset
        proposal = await parts.proposer.propose(turn, context.nearest, allowed=self._still_ours)
        offset = await self._append_proposal(opened, state, proposal)
        state.stand(offset)
        return proposal, offset

    async def _vector(self, turn: Turn) -> Vectors | None:
        try:
            return await self._parts.embedder.embed([turn.user_text])
        except EmbeddingFailed as error:
            # The extractor then sees none of the user's memories; reconciling does without them.
            metrics.RETRIES.labels(type(error).__name__).inc()
            logger.warning("no memories are shown for turn %s: %s", turn.turn_id, error)
            return None

    async def _append_proposal(
        self, opened: _OpenTurn, state: PartitionState, proposal: Proposal
    ) -> int:
        # The answer is paid for: it is appended until it stands, here and not by asking again.
        backoff_s = _BACKOFF_FIRST_S
        while True:
            try:
                return await self._parts.log.append_proposal(
                    proposal,
                    keys=opened.keys,
                    address=opened.header.address,
                    partition=state.partition,
                )
            except LogUnavailable as error:
                metrics.RETRIES.labels(type(error).__name__).inc()
                logger.warning("the proposal for %s waits: %s", opened.record.position, error)
                await asyncio.sleep(backoff_s)
                backoff_s = min(2 * backoff_s, _BACKOFF_MAX_S)

    async def _outcome(
        self,
        opened: _OpenTurn,
        state: PartitionState,
        proposal: Proposal,
        proposal_offset: int,
    ) -> Outcome:
        parts = self._parts
        asked = lookups(proposal, opened.turn)
        related = (
            await parts.ledger.related(
                subject=opened.keys.subject,
                slots=asked.slots,
                statement_keys=asked.statement_keys,
                memory_ids=asked.memory_ids,
            )
            if proposal.operations
            else ()
        )
        outcome = decide(
            turn=opened.turn,
            subject_position=(state.partition, opened.record.position.offset),
            generation=parts.generation,
            proposal=proposal,
            proposal_offset=proposal_offset,
            proposals_floor=state.floor(closing=proposal_offset),
            related=related,
            embeddings={},
            now=parts.clock(),
        )
        return await with_embeddings(outcome, parts.embedder, attempts_max=parts.embed_attempts_max)

    async def _append_outcome(
        self, opened: _OpenTurn, state: PartitionState, outcome: Outcome
    ) -> int:
        return await self._parts.log.append_outcome(
            outcome, keys=opened.keys, address=opened.header.address, partition=state.partition
        )

    async def _close_erased(self, record: LogRecord, state: PartitionState, turn_id: UUID) -> int:
        outcome = self._parts.log.closing_without_events(
            record, state=state, turn_id=turn_id, closing=Closing.ERASED
        )
        return await self._append_for_system(outcome, state)

    async def _dead_letter(
        self,
        record: LogRecord,
        state: PartitionState,
        *,
        stage: Stage,
        error: Exception,
        keys: SubjectKeys | None = None,
    ) -> int:
        logger.error("dead letter at %s (%s): %s", record.position, stage, error)
        await self._parts.log.append_dead_letter(record, stage=stage, error=error)
        turn_id = turn_id_of_unaccountable(record) if keys is None else record.header().record_id
        outcome = self._parts.log.closing_without_events(
            record, state=state, turn_id=turn_id, closing=Closing.DEAD_LETTERED, error=error
        )
        if keys is None:
            return await self._append_for_system(outcome, state)
        return await self._parts.log.append_outcome(
            outcome, keys=keys, address=record.header().address, partition=state.partition
        )

    async def _append_for_system(self, outcome: Outcome, state: PartitionState) -> int:
        return await self._parts.log.append_outcome(
            outcome,
            keys=await self._parts.keyring.system_subject(),
            address=address_for(self._parts.clock().date(), outcome.turn_id),
            partition=state.partition,
        )

    async def _give_up_persistently(
        self, record: LogRecord, state: PartitionState, error: Exception
    ) -> None:
        """Keep a record that our own code fails on, so that the next good one goes through."""
        backoff_s = _BACKOFF_FIRST_S
        while True:
            try:
                keys = await self._keys_or_none(record)
                offset = await self._dead_letter(
                    record, state, stage="reconcile", error=error, keys=keys
                )
                await self._parts.ledger.wait_applied(record.position.partition, offset)
            except _TRANSIENT as unavailable:
                logger.warning("%s waits: %s", record.position, unavailable)
                await asyncio.sleep(backoff_s)
                backoff_s = min(2 * backoff_s, _BACKOFF_MAX_S)
            else:
                return

    async def _keys_or_none(self, record: LogRecord) -> SubjectKeys | None:
        try:
            subject = header_in_place(record, self._parts.partitions).subject
        except RecordUnaccountable:
            return None
        keys = (await self._parts.keyring.keys([subject]))[subject]
        return None if isinstance(keys, Erased) else keys

    def _still_ours(self) -> None:
        if self._parts.lease.remaining_s() <= 0:
            raise OwnershipLost

    async def _regain(self, partition: int) -> None:
        """Wait until the group has confirmed us anew, then claim the partition again."""
        await self._parts.lease.renewed()
        backoff_s = _BACKOFF_FIRST_S
        while True:
            try:
                await self._parts.ledger.claim(partition, self._parts.owner)
            except ReadModelUnavailable:
                await asyncio.sleep(backoff_s)
                backoff_s = min(2 * backoff_s, _BACKOFF_MAX_S)
            else:
                return

    def _proposal_id(self, turn_id: UUID) -> UUID:
        return ids.proposal_id(self._parts.generation, turn_id)
