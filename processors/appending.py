"""Appending what a worker decides: proposals, outcomes and dead letters, sealed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final
from uuid import UUID

from processors import metrics
from processors.ports import Appends, KeySource
from schemas import ids
from schemas.errors import MemledgerError
from schemas.keyring import SubjectKeys
from schemas.log.sealed import Headers, LogRecord, seal_record
from schemas.records import (
    DEAD_LETTER_VALUE_BYTES_MAX,
    Closing,
    DeadLetter,
    Outcome,
    Proposal,
    Stage,
)
from schemas.topics import DEAD_LETTERS, memories_topic, proposals_topic
from schemas.tree import address_for

_DETAIL_CHARACTERS_MAX: Final = 1000


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
        metrics.CLOSED.labels(outcome.closing.value).inc()
        for event in outcome.events:
            metrics.EVENTS.labels(event.event).inc()
        return offset

    async def append_dead_letter(
        self, record: LogRecord, *, stage: Stage, error: Exception
    ) -> None:
        """Keep a record that is given up, sealed under the system subject.

        Raises:
            LogUnavailable: no acknowledgement; appending it again is harmless.
            KeyringUnavailable: the system subject's keys cannot be had.
        """
        position = record.position
        now = self._clock()
        letter = DeadLetter(
            topic=position.topic,
            partition=position.partition,
            offset=position.offset,
            generation=self._generation,
            stage=stage,
            error=type(error).__name__,
            detail=_detail(error),
            value=None if record.value is None else record.value[:DEAD_LETTER_VALUE_BYTES_MAX],
            value_bytes=len(record.value or b""),
            headers=tuple(_bounded(record.headers)),
            occurred_at=now,
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
        error: Exception | None = None,
    ) -> Outcome:
        """Return the outcome of a turn that brings forth no memory event."""
        return Outcome(
            turn_id=turn_id,
            generation=self._generation,
            turn_partition=record.position.partition,
            turn_offset=record.position.offset,
            closing=closing,
            proposals_floor=proposals_floor,
            decided_at=self._clock(),
            error=None if error is None else type(error).__name__,
        )


def _detail(error: Exception) -> str:
    # Our own errors are written without content. Any other message may quote a user's words, which
    # must not outlive the user under the system's key.
    if not isinstance(error, MemledgerError):
        return "an error that nobody foresaw; the worker's log of that time shows where"
    return str(error)[:_DETAIL_CHARACTERS_MAX]


def _bounded(headers: Headers) -> Headers:
    """Return headers that a dead letter can carry; those that are too long lose their value."""
    bounded = []
    room = DEAD_LETTER_VALUE_BYTES_MAX
    for name, value in headers:
        kept = value if len(name) + len(value) <= room else b""
        room -= len(name) + len(kept)
        if room < 0:
            break
        bounded.append((name, kept))
    return bounded
