"""Writing a golden log: appending made-up records, sealed as the log's writers seal them."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2s
from typing import Any, Final
from uuid import UUID

from schemas import ids
from schemas.commands import ConsolidationStart, Curation, SessionEnd
from schemas.events import MemoryEvent
from schemas.files import FileChange, FileCommand
from schemas.keyring import SubjectKeys
from schemas.log.sealed import LogRecord, SealedRecord, seal_record
from schemas.memory import Record
from schemas.partitioning import partition_for
from schemas.proposals import InvalidItem, Operation, Proposal, Usage
from schemas.recalls import ServedRecall
from schemas.records import Closes, Closing, DeadLetter, Origin, Outcome, Turn
from schemas.registry import schema_of
from schemas.topics import DEAD_LETTERS, FILES, RECALLS, TURNS, memories_topic, proposals_topic
from schemas.tree import SeedSet, address_for
from tests.histories.folding import payload_of
from tests.histories.golden import (
    Fault,
    KeyMaterial,
    PlainRecord,
    SealedBytes,
    StoredDestruction,
    StoredSubject,
)

GENERATION = "g1"
PARTITIONS = 4
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SYSTEM = UUID(int=0xFFFF)
_USAGE: Final = Usage(calls=1, input_tokens=812, output_tokens=96)
_CLOSES: Final[dict[type[Record], Closes]] = {
    Curation: "curation",
    SessionEnd: "session-end",
    ConsolidationStart: "consolidation",
}


def at(minutes: float) -> datetime:
    """Return a moment that many minutes after the log's first noon."""
    return NOON + timedelta(minutes=minutes)


def keys_of(subject: UUID, tenant: str | None = "acme") -> SubjectKeys:
    """Return a subject's whole key material, which follows from its number."""
    return SubjectKeys(
        subject=subject,
        tenant=tenant,
        id_secret=blake2s(subject.bytes, person=b"secret").digest(),
        seeds=SeedSet.root(blake2s(subject.bytes, digest_size=16, person=b"root").digest()),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """A record of the turns topic, with its subject's keys."""

    keys: SubjectKeys
    turn_id: UUID
    occurred_at: datetime
    received_at: datetime
    closes: Closes
    partition: int
    offset: int

    @property
    def outcome_id(self) -> UUID:
        """The id of the outcome that closes it."""
        return ids.outcome_id(GENERATION, self.turn_id)

    @property
    def address(self) -> int:
        """Where the key of all its records lies."""
        return address_for(self.occurred_at, self.turn_id)

    def memory_id(self, index: int = 0) -> UUID:
        """Return the id of the memory that its event at ``index`` brings forth."""
        return ids.memory_id(self.outcome_id, index)

    def flag_id(self, index: int = 0) -> UUID:
        """Return the id of the flag on its operation at ``index``."""
        return ids.flag_id(self.outcome_id, index)


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenTurn(Written):
    """A turn that stands in the log."""

    turn: Turn
    client_turn_id: str


class GoldenWriter:
    """Appends records, a second apart, and keeps them in both forms."""

    def __init__(self) -> None:
        self.plain: list[PlainRecord] = []
        self.sealed: list[SealedBytes] = []
        self._ends: Counter[tuple[str, int]] = Counter()
        self._system = keys_of(SYSTEM, tenant=None)

    def turn(
        self,
        note: str,
        keys: SubjectKeys,
        client_turn_id: str,
        text: str,
        *,
        said_at: datetime,
        received_at: datetime | None = None,
        assistant_text: str | None = "I see.",
        origin: Origin = Origin.HTTP,
        utc_offset_minutes: int = 0,
        recall_id: UUID | None = None,
    ) -> WrittenTurn:
        """Append a turn."""
        turn = Turn(
            turn_id=ids.turn_id(keys.id_secret, client_turn_id),
            conversation_id="conversation 1",
            user_text=text,
            assistant_text=assistant_text,
            occurred_at=said_at,
            utc_offset_minutes=utc_offset_minutes,
            received_at=received_at or said_at,
            origin=origin,
            recall_id=recall_id,
        )
        partition = partition_for(keys.subject, PARTITIONS)
        written = WrittenTurn(
            keys=keys,
            turn_id=turn.turn_id,
            occurred_at=turn.occurred_at,
            received_at=turn.received_at,
            closes="turn",
            turn=turn,
            client_turn_id=client_turn_id,
            partition=partition,
            offset=self._ends[TURNS, partition],
        )
        self.append_again(note, written)
        return written

    def command(
        self, note: str, keys: SubjectKeys, record: Curation | SessionEnd | ConsolidationStart
    ) -> Written:
        """Append what else changes a subject."""
        partition = partition_for(keys.subject, PARTITIONS)
        written = Written(
            keys=keys,
            turn_id=record.turn_id,
            occurred_at=record.occurred_at,
            received_at=record.occurred_at,
            closes=_CLOSES[type(record)],
            partition=partition,
            offset=self._ends[TURNS, partition],
        )
        self._append(
            note,
            (TURNS, partition),
            record,
            keys=keys,
            record_id=record.turn_id,
            address=written.address,
        )
        return written

    def file_command(
        self, note: str, keys: SubjectKeys, client_id: str, change: FileChange, *, minutes: float
    ) -> int:
        """Append a command on a subject's files and return its offset."""
        command = FileCommand(
            command_id=ids.file_command_id(keys.id_secret, client_id),
            change=change,
            received_at=at(minutes),
        )
        return self._append(
            note,
            (FILES, partition_for(keys.subject, PARTITIONS)),
            command,
            keys=keys,
            record_id=command.command_id,
            address=address_for(command.received_at, command.command_id),
        )

    def recall(self, note: str, keys: SubjectKeys, record: ServedRecall) -> int:
        """Append what a recall served and return its offset."""
        return self._append(
            note,
            (RECALLS, partition_for(keys.subject, PARTITIONS)),
            record,
            keys=keys,
            record_id=record.recall_id,
            address=address_for(record.served_at, record.recall_id),
        )

    def append_again(self, note: str, written: WrittenTurn, fault: Fault | None = None) -> None:
        """Append a turn's record, for the first time or once more."""
        self._append(
            note,
            (TURNS, written.partition),
            written.turn,
            keys=written.keys,
            record_id=written.turn_id,
            address=written.address,
            client_turn_id=written.client_turn_id,
            fault=fault,
        )

    def proposal(
        self,
        note: str,
        written: Written,
        operations: Sequence[Operation],
        invalid: Sequence[InvalidItem] = (),
        *,
        usage: Usage = _USAGE,
        **beside: Any,
    ) -> int:
        """Append the proposal for a turn and return its offset."""
        proposal = Proposal(
            turn_id=written.turn_id,
            generation=GENERATION,
            extractor="openai",
            model="model-1",
            prompt_hash="0123456789abcdef",
            operations=tuple(operations),
            invalid=tuple(invalid),
            usage=usage,
            proposed_at=written.received_at + timedelta(seconds=2),
            **beside,
        )
        return self._append(
            note,
            (proposals_topic(GENERATION), written.partition),
            proposal,
            keys=written.keys,
            record_id=ids.proposal_id(GENERATION, written.turn_id),
            address=written.address,
        )

    def outcome(
        self,
        note: str,
        written: Written,
        closing: Closing,
        events: Sequence[MemoryEvent] = (),
        *,
        proposal_offset: int | None = None,
        error: str | None = None,
        by_system: bool = False,
        fault: Fault | None = None,
        **beside: Any,
    ) -> int:
        """Append the outcome of a turn, or of another record, and return its offset."""
        outcome = Outcome(
            turn_id=written.turn_id,
            generation=GENERATION,
            turn_partition=written.partition,
            turn_offset=written.offset,
            closing=closing,
            events=tuple(events),
            proposal_offset=proposal_offset,
            proposals_floor=0,
            decided_at=written.received_at + timedelta(seconds=3),
            error=error,
            closes=written.closes,
            **beside,
        )
        return self._append(
            note,
            (memories_topic(GENERATION), written.partition),
            outcome,
            keys=self._system if by_system else written.keys,
            record_id=written.outcome_id,
            address=written.address,
            fault=fault,
        )

    def dead_letter(self, note: str, given_up: LogRecord, letter: DeadLetter) -> int:
        """Append the dead letter of a record and return its offset."""
        position = given_up.position
        record_id = ids.dead_letter_id(
            position.topic, position.partition, position.offset, GENERATION
        )
        return self._append(
            note,
            (DEAD_LETTERS, position.partition),
            letter,
            keys=self._system,
            record_id=record_id,
            address=address_for(letter.occurred_at, record_id),
        )

    def last(self) -> LogRecord:
        """Return the record that was appended last, as a consumer reads it."""
        return self.sealed[-1].record()

    def _append(
        self,
        note: str,
        place: tuple[str, int],
        record: Record,
        *,
        keys: SubjectKeys,
        record_id: UUID,
        address: int,
        client_turn_id: str | None = None,
        fault: Fault | None = None,
    ) -> int:
        sealed = seal_record(record, keys=keys, record_id=record_id, address=address)
        value, headers = _damaged(sealed, fault)
        topic, partition = place
        offset = self._ends[place]
        timestamp_ms = round(NOON.timestamp() * 1000) + 1000 * len(self.plain)
        self._ends[place] += 1
        self.plain.append(
            PlainRecord(
                note=note,
                topic=topic,
                partition=partition,
                offset=offset,
                timestamp_ms=timestamp_ms,
                subject=keys.subject,
                record_id=record_id,
                address=address.to_bytes(8, "big").hex(),
                schema_name=schema_of(type(record)).name,
                schema_version=schema_of(type(record)).version,
                client_turn_id=client_turn_id,
                fault=fault,
                payload=None if value is None else payload_of(record),
            )
        )
        self.sealed.append(
            SealedBytes(
                topic=topic,
                partition=partition,
                offset=offset,
                timestamp_ms=timestamp_ms,
                key=sealed.key,
                value=value,
                headers=tuple(headers),
            )
        )
        return offset


def _damaged(
    sealed: SealedRecord, fault: Fault | None
) -> tuple[bytes | None, list[tuple[str, bytes]]]:
    match fault:
        case None:
            return sealed.value, sealed.headers
        case Fault.TOMBSTONE:
            return None, sealed.headers
        case Fault.ALTERED:
            return sealed.value[:-1] + bytes([sealed.value[-1] ^ 1]), sealed.headers
        case Fault.NO_HEADER:
            return sealed.value, []


def key_material(
    living: Sequence[SubjectKeys], destroyed: Sequence[tuple[UUID, datetime]]
) -> KeyMaterial:
    """Return the key material of a log, the system's own included."""
    return KeyMaterial(
        generation=GENERATION,
        partitions=PARTITIONS,
        system_subject=SYSTEM,
        living=tuple(_stored(keys) for keys in (*living, keys_of(SYSTEM, tenant=None))),
        destroyed=tuple(
            StoredDestruction(subject=subject, seq=seq, destroyed_at=destroyed_at)
            for seq, (subject, destroyed_at) in enumerate(destroyed, start=1)
        ),
    )


def forgotten(written: WrittenTurn) -> SubjectKeys:
    """Return a turn's subject's keys without that of the turn."""
    return dataclasses.replace(written.keys, seeds=written.keys.seeds.puncture(written.address))


def _stored(keys: SubjectKeys) -> StoredSubject:
    return StoredSubject.model_validate(
        {
            "subject": keys.subject,
            "tenant": keys.tenant,
            "id_secret": keys.id_secret.hex(),
            "seeds": keys.seeds.to_bytes().hex(),
        }
    )
