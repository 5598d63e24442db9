"""What a turn confirmed and withdrew is told by its outcome, or not told without it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from projections.noted import Effect
from projections.touched import Effects, TouchedMemories
from schemas.errors import KeyringUnavailable, LogUnavailable
from schemas.events import MemoryConfirmed, MemoryEnded, MemoryRetracted
from schemas.keyring import Erased, SubjectKeys
from schemas.log.sealed import LogPosition, LogRecord, seal_record
from schemas.records import Closing, Outcome
from schemas.tree import address_for
from tests.support.turns import new_keys

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
KEYS = new_keys()
TURN, OTHER, END = uuid4(), uuid4(), uuid4()
CONFIRMED, WITHDRAWN, ENDED = uuid4(), uuid4(), uuid4()


def _outcome(turn_id: UUID) -> Outcome:
    return Outcome(
        turn_id=turn_id,
        generation="g1",
        turn_partition=0,
        turn_offset=1,
        closing=Closing.STORED,
        proposals_floor=0,
        decided_at=NOON,
        events=(
            MemoryConfirmed(memory_id=CONFIRMED, turn_id=TURN, quote="q", confirmed_at=NOON),
            MemoryRetracted(memory_id=WITHDRAWN, turn_id=TURN, quote="q", retracted_at=NOON),
            MemoryConfirmed(memory_id=uuid4(), turn_id=OTHER, quote="q", confirmed_at=NOON),
            MemoryEnded(memory_id=ENDED, valid_to=NOON, because_of=uuid4(), ended_at=NOON),
        ),
    )


class _Log:
    """One outcome at offset 7, or whatever befell it."""

    def __init__(
        self, turn_id: UUID, *, failure: Exception | None = None, slow: bool = False
    ) -> None:
        sealed = seal_record(
            _outcome(turn_id), keys=KEYS, record_id=turn_id, address=address_for(NOON, turn_id)
        )
        self.record = LogRecord(
            position=LogPosition(topic="memledger.memories.g1", partition=0, offset=7),
            timestamp_ms=0,
            key=sealed.key,
            value=sealed.value,
            headers=sealed.headers,
        )
        self.records: tuple[LogRecord, ...] = (self.record,)
        self._failure = failure
        self._slow = slow

    async def read(self, partition: int, offsets: Sequence[int]) -> tuple[LogRecord, ...]:
        assert (partition, list(offsets)) == (0, [7])
        if self._slow:
            await asyncio.Event().wait()
        if self._failure is not None:
            raise self._failure
        return self.records


def _told(
    log: _Log, turn_id: UUID = TURN, state: SubjectKeys | Erased = KEYS, *, wait_s: float = 5
) -> list[Effects] | None:
    async def keys_of(subjects: Collection[UUID]) -> Mapping[UUID, SubjectKeys | Erased]:
        return dict.fromkeys(subjects, state)

    touched = TouchedMemories(log, keys_of, wait_s=wait_s)
    return asyncio.run(touched.of(KEYS.subject, turn_id, 0, 7))


def test_a_turns_own_outcome_tells_of_the_turn_alone() -> None:
    assert _told(_Log(TURN)) == [
        Effects(effect=Effect.CONFIRMED, memory_id=CONFIRMED),
        Effects(effect=Effect.WITHDRAWN, memory_id=WITHDRAWN),
        Effects(effect=Effect.ENDED, memory_id=ENDED),
    ]


def test_the_outcome_of_a_sessions_end_tells_each_turn_its_own() -> None:
    assert _told(_Log(END)) == [
        Effects(effect=Effect.CONFIRMED, memory_id=CONFIRMED),
        Effects(effect=Effect.WITHDRAWN, memory_id=WITHDRAWN),
    ]
    assert _told(_Log(END), uuid4()) == []


@pytest.mark.parametrize(
    "what", ["gone", "tombstone", "broken", "erased", "other keys", "away", "slow"]
)
def test_where_the_outcome_cannot_be_read_nothing_is_claimed(what: str) -> None:
    log = _Log(
        TURN, failure=LogUnavailable("down") if what == "away" else None, slow=what == "slow"
    )
    record, state, value = log.record, KEYS, log.record.value
    assert value is not None
    if what == "gone":
        log.records = ()
    elif what in ("tombstone", "broken"):
        changed = None if what == "tombstone" else value[:-1] + bytes([value[-1] ^ 1])
        log.records = (
            LogRecord(
                position=record.position,
                timestamp_ms=0,
                key=record.key,
                value=changed,
                headers=record.headers,
            ),
        )
    elif what == "other keys":
        state = new_keys()
    erased = Erased(subject=KEYS.subject, seq=1, destroyed_at=NOON)
    assert _told(log, TURN, erased if what == "erased" else state, wait_s=0.05) is None


def test_a_keyring_that_is_away_is_never_taken_for_nothing() -> None:
    async def keys_of(_subjects: Collection[UUID]) -> Mapping[UUID, SubjectKeys | Erased]:
        raise KeyringUnavailable("down")

    with pytest.raises(KeyringUnavailable):
        asyncio.run(TouchedMemories(_Log(TURN), keys_of).of(KEYS.subject, TURN, 0, 7))
