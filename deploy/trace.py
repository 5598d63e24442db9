"""Following one turn through the log: what was proposed for it and what became of it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from schemas import ids
from schemas.errors import SealBroken
from schemas.keyring import SubjectKeys
from schemas.log import reader
from schemas.log.sealed import LogRecord, open_record
from schemas.memory import Record
from schemas.proposals import Proposal
from schemas.records import Outcome, Turn
from schemas.topics import TURNS, memories_topic, proposals_topic

RecordType = TypeVar("RecordType", bound=Record)


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnTrace:
    """What the log holds of one turn.

    Attributes:
        turn: the turn; its record is the first of its id.
        turn_record: where it stands.
        proposal, proposal_offset: what was proposed, or ``None``.
        outcome, outcome_offset: what became of it, or ``None`` while it is open.
    """

    turn: Turn
    turn_record: LogRecord
    proposal: Proposal | None
    proposal_offset: int | None
    outcome: Outcome | None
    outcome_offset: int | None


async def trace_turn(
    bootstrap: str, *, keys: SubjectKeys, generation: str, turn_id: UUID, partition: int
) -> TurnTrace | None:
    """Return what the log holds of a turn, or ``None`` where it holds no such turn.

    Reads the partition's topics from their start: for looking at single turns, not for many.

    Raises:
        LogUnavailable: the broker does not answer.
    """
    turn = await _first(bootstrap, TURNS, partition, turn_id)
    if turn is None:
        return None
    proposal = await _first(
        bootstrap, proposals_topic(generation), partition, ids.proposal_id(generation, turn_id)
    )
    outcome = await _first(
        bootstrap, memories_topic(generation), partition, ids.outcome_id(generation, turn_id)
    )
    return TurnTrace(
        turn=open_record(Turn, turn, keys),
        turn_record=turn,
        proposal=_opened(Proposal, proposal, keys),
        proposal_offset=None if proposal is None else proposal.position.offset,
        outcome=_opened(Outcome, outcome, keys),
        outcome_offset=None if outcome is None else outcome.position.offset,
    )


async def _first(bootstrap: str, topic: str, partition: int, record_id: UUID) -> LogRecord | None:
    return await asyncio.to_thread(_find_first, bootstrap, topic, partition, record_id)


def _find_first(bootstrap: str, topic: str, partition: int, record_id: UUID) -> LogRecord | None:
    records = reader.read_to_end(bootstrap, topic, partition, start=0, client_id="memledger-trace")
    for record in records:
        if record.value is None:
            continue
        try:
            if record.header().record_id == record_id:
                return record
        except SealBroken:
            continue  # somebody else's record; the audit counts it
    return None


def _opened(
    expected: type[RecordType], record: LogRecord | None, keys: SubjectKeys
) -> RecordType | None:
    return None if record is None else open_record(expected, record, keys)
