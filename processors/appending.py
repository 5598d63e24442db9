"""Appending what a worker decides: proposals, outcomes and dead letters, sealed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from processors import metrics
from processors.losses import NO_LOSS, Loss
from processors.ports import Appends, KeySource
from schemas import ids
from schemas.errors import SealBroken
from schemas.events import ProposalFlagged, ProposalRejected
from schemas.keyring import SubjectKeys
from schemas.log.dead_letters import dead_letter_of
from schemas.log.sealed import LogRecord, seal_record
from schemas.proposals import Proposal
from schemas.records import Closes, Closing, Outcome, Stage
from schemas.topics import DEAD_LETTERS, memories_topic, proposals_topic
from schemas.tree import address_for

_CONSOLIDATIONS: Final[Mapping[Closing, str]] = {
    Closing.DEFERRED: "held_back",
    Closing.DEAD_LETTERED: "given_up",
    Closing.ERASED: "erased",
}
"""What became of consolidations that looked at nothing."""


class DecisionLog:
    """Appends to the topics that processors write, and returns where it stands."""

    def __init__(
        self,
        producer: Appends,
        keyring: KeySource,
        *,
        generation: str,
        clock: Callable[[], datetime],
    ) -> None:
        """Wire the parts.

        Args:
            producer: an idempotent producer.
            keyring: gives the system subject, under which dead letters are sealed.
            generation: the generation that is written.
            clock: the time, aware.
        """
        self._producer = producer
        self._keyring = keyring
        self._generation = generation
        self._clock = clock

    async def append_proposal(
        self, proposal: Proposal, *, keys: SubjectKeys, address: int, partition: int
    ) -> int:
        """Append a proposal under the address of its turn and return its offset.

        Raises:
            LogUnavailable: no acknowledgement; appending it again is harmless.
        """
        record_id = ids.proposal_id(self._generation, proposal.turn_id)
        record = seal_record(proposal, keys=keys, record_id=record_id, address=address)
        return await self._producer.append(proposals_topic(self._generation), partition, record)

    async def append_outcome(
        self, outcome: Outcome, *, keys: SubjectKeys, address: int, partition: int
    ) -> int:
        """Append an outcome under the address of its turn and return its offset.

        Raises:
            LogUnavailable: no acknowledgement; appending it again is harmless.
        """
        record_id = ids.outcome_id(self._generation, outcome.turn_id)
        record = seal_record(outcome, keys=keys, record_id=record_id, address=address)
        offset = await self._producer.append(memories_topic(self._generation), partition, record)
        _count(outcome)
        return offset

    async def append_dead_letter(
        self, record: LogRecord, *, stage: Stage, error: BaseException
    ) -> None:
        """Keep a record that is given up, sealed under the system subject.

        Raises:
            LogUnavailable: no acknowledgement; appending it again is harmless.
            KeyringUnavailable: the system subject's keys cannot be had.
        """
        position, now = record.position, self._clock()
        letter = dead_letter_of(
            record, stage=stage, error=error, generation=self._generation, now=now
        )
        record_id = ids.dead_letter_id(
            position.topic, position.partition, position.offset, self._generation
        )
        sealed = seal_record(
            letter,
            keys=await self._keyring.system_subject(),
            record_id=record_id,
            address=address_for(now.date(), record_id),
        )
        await self._producer.append(DEAD_LETTERS, position.partition, sealed)
        metrics.DEAD_LETTERS.labels(stage, letter.error).inc()

    def closing_without_events(
        self,
        record: LogRecord,
        *,
        turn_id: UUID,
        closing: Closing,
        proposals_floor: int,
        error: BaseException | None = None,
        loss: Loss = NO_LOSS,
    ) -> Outcome:
        """Return the outcome of a record that brings forth no memory event.

        Args:
            record: the record.
            turn_id: its id.
            closing: how it closes.
            proposals_floor: no turn that is still open has a proposal below this offset.
            error: what it was given up for.
            loss: what goes with it.
        """
        return Outcome(
            turn_id=turn_id,
            generation=self._generation,
            turn_partition=record.position.partition,
            turn_offset=record.position.offset,
            closing=closing,
            proposals_floor=proposals_floor,
            decided_at=self._clock(),
            error=None if error is None else type(error).__name__,
            settled=loss.settled,
            closes=_closes(record),
            extractor=loss.extractor,
            model=loss.model,
            usage=loss.usage,
        )


def _count(outcome: Outcome) -> None:
    metrics.CLOSED.labels(outcome.closing.value).inc()
    if outcome.deferral is not None:
        metrics.DEFERRED.labels(outcome.deferral.cause.value).inc()
    if outcome.closes == "session-end":
        metrics.SESSIONS_ENDED.labels(_session_result(outcome)).inc()
    if outcome.closes == "consolidation":
        result = _CONSOLIDATIONS.get(outcome.closing, "looked_through")
        metrics.CONSOLIDATIONS.labels(result).inc()
    for event in outcome.events:
        metrics.EVENTS.labels(event.event).inc()
        match event:
            case ProposalRejected():
                for reason in event.reasons:
                    metrics.REJECTIONS.labels(reason.value).inc()
            case ProposalFlagged():
                for reason in event.reasons:
                    metrics.FLAGS.labels(reason.value).inc()
            case _:
                continue


def _session_result(outcome: Outcome) -> str:
    """Return what became of a session that is over, in a word."""
    match outcome.closing:
        case Closing.DEAD_LETTERED:
            return "given_up"
        case Closing.ERASED:
            return "erased"
    return "settled" if outcome.settled else "settled_nothing"


def _closes(record: LogRecord) -> Closes:
    """Return what sort of record an outcome closes; one that cannot be told counts as a turn."""
    try:
        name = record.header().schema_name
    except SealBroken:
        return "turn"
    match name:
        case "curation" | "session-end" | "consolidation":
            return name
    return "turn"
