"""Records of the log, made up and appended as the workers would."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import numpy as np

from processors.ports import Appends
from schemas import ids
from schemas.events import MemoryAdded, MemoryEvent, ProposalFlagged, RejectionReason
from schemas.keyring import Keyring, SubjectKeys
from schemas.log.sealed import SealedRecord, seal_record
from schemas.memory import Confidence, Embedding, Memory, MemoryKind, Source
from schemas.partitioning import partition_for
from schemas.proposals import Action, Operation
from schemas.records import Closing, Deferral, DeferralCause, Origin, Outcome, Settled, Turn
from schemas.slots import Slot
from schemas.topics import TURNS, memories_topic
from schemas.tree import address_for

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
EMBEDDER = "test"
DIMENSION = 8
TENANT = "test"


def at(minutes: int) -> datetime:
    """Return a moment that many minutes after a fixed noon."""
    return NOON + timedelta(minutes=minutes)


def embedding(seed: int, *, dimension: int = DIMENSION, model: str = EMBEDDER) -> Embedding:
    """Return a vector of length 1 that follows from ``seed``."""
    vector = np.random.default_rng(seed).normal(size=dimension)
    halves = (vector / np.linalg.norm(vector)).astype("<f2").tobytes()
    return Embedding(model=model, dimension=dimension, halves=halves)


def memory(memory_id: UUID, turn_id: UUID, **changed: Any) -> Memory:
    """Return a memory, like any other but for what is told."""
    fields: dict[str, Any] = {
        "memory_id": memory_id,
        "lineage_id": memory_id,
        "kind": MemoryKind.SEMANTIC,
        "content": f"statement {memory_id}",
        "slot": Slot.NOTE,
        "about": "user",
        "importance": 3,
        "confidence": Confidence.STATED,
        "source": Source.USER,
        "turn_id": turn_id,
        "conversation_id": "conversation",
        "quote": "quote",
        "valid_from": NOON,
        "recorded_at": NOON,
        "embedding": embedding(memory_id.int % 2**32),
    }
    return Memory(**(fields | changed))


@dataclass(frozen=True, kw_only=True, slots=True)
class AppendedTurn:
    """A turn that stands in the log."""

    turn_id: UUID
    partition: int
    offset: int


class LogWriter:
    """Appends turns and outcomes of one subject.

    Attributes:
        keys: the subject's keys.
        partition: where its records lie.
    """

    def __init__(
        self, producer: Appends, keys: SubjectKeys, *, generation: str, partitions: int
    ) -> None:
        self.keys = keys
        self.generation = generation
        self.partition = partition_for(keys.subject, partitions)
        self._producer = producer

    @classmethod
    async def of_new_user(
        cls,
        producer: Appends,
        keyring: Keyring,
        *,
        generation: str,
        partitions: int,
        tenant: str = TENANT,
    ) -> LogWriter:
        """Return a writer for a user nobody has seen before."""
        await keyring.ensure_tenant(tenant)
        user = uuid4().hex
        keys = (await keyring.subjects_for(tenant, [user], create=True))[user]
        return cls(producer, keys, generation=generation, partitions=partitions)

    @property
    def subject(self) -> UUID:
        """The subject."""
        return self.keys.subject

    def sealed_turn(self, turn_id: UUID) -> SealedRecord:
        """Return a turn's record."""
        turn = Turn(
            turn_id=turn_id,
            conversation_id="conversation",
            user_text="what the user said",
            assistant_text=None,
            occurred_at=NOON,
            utc_offset_minutes=0,
            received_at=NOON,
            origin=Origin.HTTP,
        )
        return seal_record(
            turn, keys=self.keys, record_id=turn_id, address=address_for(NOON, turn_id)
        )

    async def turn(self, turn_id: UUID | None = None) -> AppendedTurn:
        """Append a turn."""
        turn_id = turn_id or uuid4()
        offset = await self._producer.append(TURNS, self.partition, self.sealed_turn(turn_id))
        return AppendedTurn(turn_id=turn_id, partition=self.partition, offset=offset)

    def outcome(
        self,
        turn: AppendedTurn,
        events: Sequence[MemoryEvent] = (),
        *,
        closing: Closing | None = None,
        proposals_floor: int = 0,
        **changed: Any,
    ) -> Outcome:
        """Return the outcome of a turn, like any other but for what is told."""
        closing = closing or (Closing.STORED if events else Closing.NOTHING_FOUND)
        return Outcome(
            turn_id=turn.turn_id,
            generation=self.generation,
            turn_partition=turn.partition,
            turn_offset=turn.offset,
            closing=closing,
            events=tuple(events),
            proposal_offset=0,
            proposals_floor=proposals_floor,
            **({"decided_at": NOON} | changed),
        )

    async def deferred(
        self,
        *,
        conversation_id: str = "conversation",
        minutes: int = 0,
        cause: DeferralCause = DeferralCause.SESSION,
    ) -> AppendedTurn:
        """Append a turn, accepted so many minutes after noon, and the outcome that defers it."""
        turn = await self.turn()
        deferral = Deferral(
            conversation_id=conversation_id,
            cause=cause,
            occurred_at=at(minutes),
            received_at=at(minutes),
        )
        await self.append(self.outcome(turn, closing=Closing.DEFERRED, deferral=deferral))
        return turn

    async def settle(
        self, *turns: AppendedTurn, closing: Closing = Closing.NOTHING_FOUND, **changed: Any
    ) -> tuple[AppendedTurn, int]:
        """Append a record whose outcome settles turns; return it and its outcome's offset."""
        end = await self.turn()
        settled = tuple(
            Settled(turn_id=turn.turn_id, turn_offset=turn.offset, closing=closing)
            for turn in turns
        )
        outcome = self.outcome(end, settled=settled, closes="session-end", **changed)
        return end, await self.append(outcome)

    def flag(self, turn: AppendedTurn, *, index: int = 0, minutes: int = 0) -> ProposalFlagged:
        """Return the event that leaves an operation about a turn to a person."""
        return ProposalFlagged(
            flag_id=ids.flag_id(ids.outcome_id(self.generation, turn.turn_id), index),
            operation=index,
            reasons=(RejectionReason.OPERATOR_OBLIGATION,),
            proposed=Operation(
                action=Action.ADD,
                kind=MemoryKind.SEMANTIC,
                slot=Slot.NOTE,
                about="user",
                content="Has 50% off for ever",
                importance=3,
                confidence=Confidence.STATED,
                quote="50% off for ever",
            ),
            turn_id=turn.turn_id,
            conversation_id="conversation",
            said_at=NOON,
            utc_offset_minutes=60,
            flagged_at=at(minutes),
        )

    def sealed_outcome(self, outcome: Outcome, keys: SubjectKeys | None = None) -> SealedRecord:
        """Return an outcome's record, sealed for the subject or for another one."""
        return seal_record(
            outcome,
            keys=keys or self.keys,
            record_id=ids.outcome_id(self.generation, outcome.turn_id),
            address=address_for(NOON, outcome.turn_id),
        )

    async def append(self, outcome: Outcome, keys: SubjectKeys | None = None) -> int:
        """Append an outcome and return its offset."""
        record = self.sealed_outcome(outcome, keys)
        return await self._producer.append(memories_topic(self.generation), self.partition, record)

    async def append_altered(self, outcome: Outcome) -> int:
        """Append an outcome that nobody can open, for a bit was changed; return its offset."""
        record = self.sealed_outcome(outcome)
        altered = record.value[:-1] + bytes([record.value[-1] ^ 1])
        return await self._producer.append(
            memories_topic(self.generation), self.partition, replace(record, value=altered)
        )

    async def stored(self, **changed: Any) -> tuple[AppendedTurn, Memory, int]:
        """Append a turn and an outcome that adds one memory; return both and its offset."""
        turn = await self.turn()
        added = self.new_memory(turn, **changed)
        offset = await self.append(self.outcome(turn, [MemoryAdded(memory=added)]))
        return turn, added, offset

    def new_memory(self, turn: AppendedTurn, **changed: Any) -> Memory:
        """Return the first memory of a turn's outcome."""
        outcome_id = ids.outcome_id(self.generation, turn.turn_id)
        return memory(ids.memory_id(outcome_id, 0), turn.turn_id, **changed)
