"""What a worker does with one record of the turns topic, from opening it to its outcome."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol, TypeVar
from uuid import UUID

from processors import metrics
from processors.appending import DecisionLog
from processors.embedding import count_missing, with_embeddings
from processors.extraction import ExtractorCrashed, Proposer, without_injection
from processors.lease import Lease
from processors.partition_state import PartitionState
from processors.persistence import BACKOFF_FIRST_S, persistently
from processors.ports import KeySource
from processors.reconcile import decide, lookups
from schemas import ids
from schemas.errors import (
    EmbeddingFailed,
    ExtractionFailed,
    InputTooLarge,
    RecordInvalid,
    SealBroken,
)
from schemas.keyring import Erased, SubjectKeys
from schemas.log.accounting import RecordUnaccountable, header_in_place, turn_id_of_unaccountable
from schemas.log.sealed import LogRecord, open_record
from schemas.ports import Embedder, Ledger, Vectors
from schemas.proposals import Proposal
from schemas.records import Closing, Outcome, Stage, Turn
from schemas.sealing import Header
from schemas.tree import Punctured, address_for

logger = logging.getLogger(__name__)

_UNEXPECTED_MAX: Final = 3

Result = TypeVar("Result")


class OwnershipLost(Exception):
    """Another worker may hold the partition: nothing more is done until that is known."""


class _Answered(Exception):
    """Another worker's proposal for the turn was found while this one was about to ask."""


class Regains(Protocol):
    """Claims a partition again after its ownership was lost."""

    async def regain(self, state: PartitionState, *, lost: int) -> None:
        """Claim it and catch up with what others did, unless claim ``lost`` was renewed already."""
        ...


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
        takeover: claims a partition again.
        owner: the name of this worker instance.
        generation: the generation that is written.
        partitions: how many partitions the topics have.
        clock: the time, aware.
    """

    keyring: KeySource
    ledger: Ledger
    log: DecisionLog
    proposer: Proposer
    embedder: Embedder
    lease: Lease
    takeover: Regains
    owner: str
    generation: str
    partitions: int
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
            return
        if state.progress.closed(record.position.offset):
            metrics.SKIPPED.labels("closed").inc()
            return
        offset = await self._closed(record, state)
        if offset is not None:
            ledger, partition = self._parts.ledger, record.position.partition
            await persistently(
                lambda: ledger.wait_applied(partition, offset),
                what=f"the outcome of {record.position}",
            )

    async def _closed(self, record: LogRecord, state: PartitionState) -> int | None:
        """Close a turn, however long it takes; see :meth:`_close` for what is returned."""
        unexpected = 0
        while True:
            claim = state.claims
            try:
                return await persistently(
                    lambda: self._close(record, state), what=str(record.position)
                )
            except OwnershipLost:
                metrics.RETRIES.labels("OwnershipLost").inc()
                await self._parts.takeover.regain(state, lost=claim)
            except _Answered:
                continue
            except Exception as error:
                unexpected += 1
                logger.exception("unexpected at %s, attempt %d", record.position, unexpected)
                if unexpected >= _UNEXPECTED_MAX:
                    return await self._give_up(record, state, error)
                await asyncio.sleep(BACKOFF_FIRST_S)

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
            turn = _opened(record, header, keys)
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
        except (ExtractionFailed, InputTooLarge) as error:
            named = error.original if isinstance(error, ExtractorCrashed) else error
            return await self._dead_letter(
                opened.record, state, stage="extract", error=named, keys=opened.keys
            )
        if proposed is None:
            state.closed(self._proposal_id(opened.turn.turn_id))
            return None
        outcome = await self._outcome(opened, state, *proposed)
        try:
            return await self._append_outcome(outcome, opened.keys, opened.header.address, state)
        except InputTooLarge as error:
            # What was decided does not fit into one record: it is given up in the open.
            return await self._dead_letter(
                opened.record, state, stage="reconcile", error=error, keys=opened.keys
            )

    async def _proposal(
        self, opened: _OpenTurn, state: PartitionState
    ) -> tuple[Proposal, int] | None:
        """Return the turn's proposal and where it stands; ``None`` where the turn is closed."""
        parts, turn = self._parts, opened.turn
        proposal_id = self._proposal_id(turn.turn_id)
        paid, standing = state.paid.get(proposal_id), state.standing.get(proposal_id)
        known_max = parts.proposer.known_max if paid is None and standing is None else 0
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
            return open_record(Proposal, standing, opened.keys), standing.position.offset
        if paid is not None:
            return paid

        def allowed() -> None:
            if proposal_id in state.standing:
                raise _Answered
            if parts.lease.remaining_s() <= 0:
                raise OwnershipLost

        proposal = await parts.proposer.propose(turn, context.nearest, allowed=allowed)
        offset = await self._append_proposal(opened, state, proposal)
        state.appended(proposal_id, proposal, offset)
        return proposal, offset

    async def _vector(self, turn: Turn) -> Vectors | None:
        try:
            return await self._parts.embedder.embed([without_injection(turn).user_text])
        except EmbeddingFailed as error:
            # The extractor then sees none of the user's memories; reconciling does without them.
            metrics.RETRIES.labels(type(error).__name__).inc()
            logger.warning("no memories are shown for turn %s: %s", turn.turn_id, error)
            return None

    async def _append_proposal(
        self, opened: _OpenTurn, state: PartitionState, proposal: Proposal
    ) -> int:
        # The answer is paid for: it is appended until it stands, here and not by asking again.
        return await persistently(
            lambda: self._parts.log.append_proposal(
                proposal,
                keys=opened.keys,
                address=opened.header.address,
                partition=state.partition,
            ),
            what=f"the proposal for {opened.record.position}",
        )

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
            proposals_floor=state.known.floor(closing=self._proposal_id(opened.turn.turn_id)),
            related=related,
            embeddings={},
            now=parts.clock(),
        )
        return await with_embeddings(outcome, parts.embedder)

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
    ) -> int:
        logger.error("dead letter at %s (%s): %s", record.position, stage, type(error).__name__)
        await self._parts.log.append_dead_letter(record, stage=stage, error=error)
        turn_id = turn_id_of_unaccountable(record) if keys is None else record.header().record_id
        outcome = self._without_events(record, state, turn_id, Closing.DEAD_LETTERED, error)
        if keys is None:
            return await self._append_for_system(outcome, state)
        return await self._append_outcome(outcome, keys, record.header().address, state)

    def _without_events(
        self,
        record: LogRecord,
        state: PartitionState,
        turn_id: UUID,
        closing: Closing,
        error: BaseException | None = None,
    ) -> Outcome:
        return self._parts.log.closing_without_events(
            record,
            turn_id=turn_id,
            closing=closing,
            proposals_floor=state.known.floor(closing=self._proposal_id(turn_id)),
            error=error,
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


def _opened(record: LogRecord, header: Header, keys: SubjectKeys) -> Turn:
    turn = open_record(Turn, record, keys)
    if turn.turn_id != header.record_id:
        # The projection knows the turn by its header: under another id it would stay open for ever.
        raise RecordInvalid("the turn's id is not the one that its header names")
    return turn
