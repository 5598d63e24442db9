"""Reading a golden log with today's code."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from projections.batch import BatchReader
from projections.fold import LoggedOutcome, SubjectState
from projections.opening import open_outcomes
from schemas.keyring import SubjectKeys
from schemas.log.sealed import open_record
from schemas.memory import Record
from schemas.registry import SCHEMAS
from schemas.topics import TURNS, memories_topic
from tests.histories.files_folding import fold_files
from tests.histories.golden import GoldenLog, PlainRecord, SealedBytes

_MODELS = {schema.name: schema.model for schema in SCHEMAS}


def fold_log(log: GoldenLog) -> Any:
    """Return what a log means today, as JSON: its turns, and what its outcomes come to."""
    generation, system = log.keys.generation, log.keys.system_subject
    topics = (TURNS, memories_topic(generation))
    reader = BatchReader(
        generation=generation, system_subject=system, partitions=log.keys.partitions
    )
    start = {(topic, partition): 0 for topic in topics for partition in range(log.keys.partitions)}
    records = [stored.record() for stored in log.sealed if stored.topic in topics]
    batch = reader.read(records, start)
    opened = open_outcomes(
        batch.outcomes, log.keys.states(), generation=generation, system_subject=system
    )
    states: dict[str, SubjectState] = {}
    for found in opened.outcomes:
        state = states.setdefault(str(found.subject), SubjectState(subject=found.subject))
        state.apply(LoggedOutcome(offset=found.offset, outcome=found.outcome))
    gone = {erased.outcome_id for erased in opened.erased}
    gone |= {buried.outcome_id for buried in batch.buried_outcomes}
    for state in states.values():
        state.forget(gone)
    return {
        "turns": [
            {
                "subject": str(turn.subject),
                "turn_id": str(turn.turn_id),
                "partition": turn.partition,
                "offset": turn.offset,
            }
            for turn in sorted(batch.turns, key=lambda turn: (turn.partition, turn.offset))
        ],
        "buried_turns": sorted(str(buried.turn_id) for buried in batch.buried_turns),
        "subjects": [_state(states[subject]) for subject in sorted(states)],
        "files": fold_files(log),
        "doubled_outcomes": opened.duplicates,
        "erased_outcomes": sorted(str(erased.outcome_id) for erased in opened.erased),
        "buried_outcomes": sorted(str(buried.outcome_id) for buried in batch.buried_outcomes),
        "poison": [
            {"partition": at.partition, "offset": at.offset, "stage": stage, "error": error}
            for at, stage, error in sorted(
                (
                    (poison.record.position, poison.stage, type(poison.error).__name__)
                    for poison in (*batch.poison, *opened.poison)
                ),
                key=lambda item: (item[0].partition, item[0].offset),
            )
        ],
    }


def opened_records(log: GoldenLog) -> Iterator[tuple[PlainRecord, Record]]:
    """Yield every record that can be read, as it was recorded and as today's code reads it.

    Raises:
        SealBroken, RecordInvalid, Punctured: today's code cannot read it.
    """
    for plain, sealed in readable(log):
        keys = log.keys.states()[plain.subject]
        assert isinstance(keys, SubjectKeys)
        yield plain, open_record(_MODELS[plain.schema_name], sealed.record(), keys)


def readable(log: GoldenLog) -> Iterator[tuple[PlainRecord, SealedBytes]]:
    """Yield the records that nothing is wrong with and whose keys are there."""
    states = log.keys.states()
    for plain, sealed in zip(log.plain, log.sealed, strict=True):
        keys = states[plain.subject]
        if plain.fault is None and isinstance(keys, SubjectKeys) and _has_key(keys, plain):
            yield plain, sealed


def payload_of(record: Record) -> Any:
    """Return a record as the JSON object that its payload is."""
    return record.model_dump(mode="json")


def _has_key(keys: SubjectKeys, plain: PlainRecord) -> bool:
    # By the shape of the seeds, not by trying: a key that cannot be had any more must fail a test.
    address = int.from_bytes(plain.address, "big")
    return any(address >> 64 - 4 * depth == prefix for depth, prefix in keys.seeds.nodes)


def _state(state: SubjectState) -> Any:
    # Spelled here and not dumped: the files keep these names whatever the code's own become.
    return {
        "subject": str(state.subject),
        "memories": [
            {
                "memory": payload_of(row.memory),
                "closed_recorded_at": _moment(row.closed_recorded_at),
                "retracted_at": _moment(row.retracted_at),
                "last_confirmed_at": _moment(row.last_confirmed_at),
                "confirmations": row.confirmations,
                "expiry_confirmed_at": _moment(row.expiry_confirmed_at),
                "merged": None
                if row.merged is None
                else {
                    "into": str(row.merged.merged_into),
                    "valid_from": _moment(row.merged.merged_valid_from),
                    "at": _moment(row.merged.merged_at),
                },
                "pinned_at": _moment(row.pinned_at),
            }
            for _, row in sorted(state.memories.items(), key=lambda item: item[0])
        ],
        "closed": [
            {
                "turn_id": str(turn_id),
                "closing": closed.closing.value,
                "offset": closed.offset,
                "settled_offset": closed.settled_offset,
            }
            for turn_id, closed in sorted(state.closed.items(), key=lambda item: item[0])
        ],
        "waiting": [
            {"turn_id": str(turn_id), "offset": turn.turn_offset} | payload_of(turn.deferral)
            for turn_id, turn in sorted(state.waiting.items(), key=lambda item: item[0])
        ],
        "flags": [
            {
                "flag_id": str(flag_id),
                "state": row.state.value,
                "raised": None if row.raised is None else payload_of(row.raised),
                "decided": None if row.decided is None else payload_of(row.decided.decision),
                "decided_by_turn": None if row.decided is None else str(row.decided.turn_id),
            }
            for flag_id, row in sorted(state.flags.items(), key=lambda item: item[0])
        ],
        "suppressed": [
            {"key": key.hex(), "suppressed_at": _moment(suppressed_at)}
            for key, suppressed_at in sorted(state.suppressed.items())
        ],
        "summaries": [
            {
                "record_id": str(row.record_id),
                "conversation_id": row.conversation_id,
                "summary": row.summary,
                "reason": None if row.reason is None else row.reason.value,
                "turn_ids": [str(turn_id) for turn_id in row.turn_ids],
            }
            for _, row in sorted(state.summaries.items())
        ],
        "rejected": [
            {
                "record_id": str(rejection.record_id),
                "place": rejection.place,
                "turn_id": None if rejection.turn_id is None else str(rejection.turn_id),
                "reasons": [reason.value for reason in rejection.reasons],
                "rejected_at": _moment(rejection.rejected_at),
            }
            for _, rejection in sorted(state.rejected.items(), key=lambda item: item[0])
        ],
        "spent": [
            {
                "day": on.day.isoformat(),
                "extractor": on.extractor,
                "model": on.model,
                "closings": spent.closings,
                "turns": spent.turns,
                "usage": payload_of(spent.usage),
            }
            for on, spent in sorted(state.spent.items())
        ],
    }


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
