"""Turns of made-up subjects, sealed as a producer would."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random, SystemRandom
from uuid import UUID, uuid4

from schemas.keyring import SubjectKeys
from schemas.log.sealed import SealedRecord, seal_record
from schemas.partitioning import partition_for
from schemas.records import Origin, Turn
from schemas.tree import SeedSet, address_for

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class SealedTurn:
    """A turn that can be appended.

    Attributes:
        turn: what it says.
        partition: where it belongs.
        record: its record.
    """

    turn: Turn
    partition: int
    record: SealedRecord


def new_keys(
    *, partition: int | None = None, partitions: int = 1, chance: Random | None = None
) -> SubjectKeys:
    """Return the keys of a new subject, in a partition of one's choice."""
    chance = chance or SystemRandom()
    while True:
        subject = UUID(bytes=chance.randbytes(16), version=4)
        if partition is None or partition_for(subject, partitions) == partition:
            return SubjectKeys(
                subject=subject,
                tenant="test",
                id_secret=chance.randbytes(32),
                seeds=SeedSet.root(chance.randbytes(16)),
            )


def sealed_turn(
    keys: SubjectKeys,
    text: str,
    *,
    partitions: int,
    turn_id: UUID | None = None,
    assistant_text: str | None = None,
    minute: int = 0,
    conversation_id: str = "conversation",
    recall_id: UUID | None = None,
) -> SealedTurn:
    """Return a turn of a subject, said ``minute`` minutes after a fixed noon."""
    turn_id = turn_id or uuid4()
    turn = Turn(
        turn_id=turn_id,
        conversation_id=conversation_id,
        user_text=text,
        assistant_text=assistant_text,
        occurred_at=NOON + timedelta(minutes=minute),
        utc_offset_minutes=0,
        received_at=NOON + timedelta(minutes=minute),
        origin=Origin.HTTP,
        recall_id=recall_id,
    )
    record = seal_record(
        turn, keys=keys, record_id=turn_id, address=address_for(NOON.date(), turn_id)
    )
    return SealedTurn(turn=turn, partition=partition_for(keys.subject, partitions), record=record)
