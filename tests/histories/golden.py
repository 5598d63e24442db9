"""Golden logs: what was once written, as it lies in the log and as anybody can read it.

A log is a directory of four files. ``plain.jsonl`` is for people: one record a line, with its
header's fields and its payload. ``sealed.jsonl`` holds the same records as the bytes that the
broker kept. ``keys.json`` is the key material that opens them. ``folded.json`` is what the log
means. None of them is ever changed: it stands for logs that lie on somebody's disks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, PlainSerializer, PlainValidator

from schemas.keyring import Erased, SubjectKeys
from schemas.log.sealed import LogPosition, LogRecord
from schemas.registry import JsonObject
from schemas.tree import SeedSet

LOGS = Path(__file__).parent / "logs"

Hex = Annotated[bytes, PlainValidator(bytes.fromhex), PlainSerializer(bytes.hex, return_type=str)]
Line = TypeVar("Line", bound=BaseModel)


class _Stored(BaseModel):
    # Not the base of the log's own records: how these files are written changes with none of them.
    model_config = ConfigDict(
        frozen=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64"
    )


class Fault(StrEnum):
    """What is wrong with a record, on purpose."""

    TOMBSTONE = "tombstone"
    ALTERED = "altered"
    """A bit of its sealed bytes was flipped."""
    NO_HEADER = "no header"


class PlainRecord(_Stored):
    """A record as people read it.

    Attributes:
        note: what it is there for.
        topic, partition, offset: where it stands.
        timestamp_ms: when the broker appended it.
        subject, record_id, address, schema_name, schema_version: its header; the address in 16
            hexadecimal digits.
        client_turn_id: what a turn's id was derived from.
        fault: what is wrong with it.
        payload: what was sealed; ``None`` for a tombstone.
    """

    note: str
    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    subject: UUID
    record_id: UUID
    address: Hex
    schema_name: str
    schema_version: int
    client_turn_id: str | None = None
    fault: Fault | None = None
    payload: JsonObject | None

    @property
    def position(self) -> LogPosition:
        """Where it stands."""
        return LogPosition(topic=self.topic, partition=self.partition, offset=self.offset)


class SealedBytes(_Stored):
    """A record as the broker kept it, bytes in base64."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]

    def record(self) -> LogRecord:
        """Return the record as a consumer reads it."""
        return LogRecord(
            position=LogPosition(topic=self.topic, partition=self.partition, offset=self.offset),
            timestamp_ms=self.timestamp_ms,
            key=self.key,
            value=self.value,
            headers=list(self.headers),
        )


class StoredSubject(_Stored):
    """A living subject's key material, in hexadecimal digits."""

    subject: UUID
    tenant: str | None
    id_secret: Hex
    seeds: Hex

    def keys(self) -> SubjectKeys:
        """Return the keys."""
        return SubjectKeys(
            subject=self.subject,
            tenant=self.tenant,
            id_secret=self.id_secret,
            seeds=SeedSet.from_bytes(self.seeds),
        )


class StoredDestruction(_Stored):
    """The record of a subject's end."""

    subject: UUID
    seq: int
    destroyed_at: datetime


class KeyMaterial(_Stored):
    """What opens a log.

    Attributes:
        generation: the generation that wrote it.
        partitions: how many partitions its topics have.
        system_subject: the subject that speaks for erased ones.
        living: the subjects that have keys.
        destroyed: the subjects that have none any more.
    """

    generation: str
    partitions: int
    system_subject: UUID
    living: tuple[StoredSubject, ...]
    destroyed: tuple[StoredDestruction, ...]

    def states(self) -> dict[UUID, SubjectKeys | Erased]:
        """Return the state of every subject, as a keyring tells it."""
        states: dict[UUID, SubjectKeys | Erased] = {
            stored.subject: stored.keys() for stored in self.living
        }
        for gone in self.destroyed:
            states[gone.subject] = Erased(
                subject=gone.subject, seq=gone.seq, destroyed_at=gone.destroyed_at
            )
        return states


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldenLog:
    """A log with all that is known of it.

    Attributes:
        name: the directory's name.
        plain: its records as people read them.
        sealed: the same as the broker kept them, in the same order.
        keys: what opens them.
        folded: what the log means, as it was recorded.
    """

    name: str
    plain: tuple[PlainRecord, ...]
    sealed: tuple[SealedBytes, ...]
    keys: KeyMaterial
    folded: Any


def golden_logs(directory: Path = LOGS) -> list[GoldenLog]:
    """Return every golden log, oldest first."""
    return [read_log(path) for path in sorted(directory.iterdir()) if path.is_dir()]


def read_log(directory: Path) -> GoldenLog:
    """Return the log of a directory."""
    return GoldenLog(
        name=directory.name,
        plain=tuple(_lines(PlainRecord, directory / "plain.jsonl")),
        sealed=tuple(_lines(SealedBytes, directory / "sealed.jsonl")),
        keys=KeyMaterial.model_validate_json((directory / "keys.json").read_text("utf-8")),
        folded=json.loads((directory / "folded.json").read_text("utf-8")),
    )


def write_log(directory: Path, log: GoldenLog) -> None:
    """Write a log into a new directory.

    Raises:
        FileExistsError: the directory is there: a golden log is never changed.
    """
    directory.mkdir(parents=True)
    _write(directory / "plain.jsonl", (line.model_dump_json() for line in log.plain))
    _write(directory / "sealed.jsonl", (line.model_dump_json() for line in log.sealed))
    _write(directory / "keys.json", [log.keys.model_dump_json(indent=2)])
    _write(directory / "folded.json", [json.dumps(log.folded, indent=2, ensure_ascii=False)])


def differences(recorded: object, found: object, path: str = "") -> Iterator[str]:
    """Yield where something is not as it was recorded.

    A list has the same length and order. An object has what was recorded; what a later version
    knows beyond that is no difference.
    """
    match recorded, found:
        case dict(), dict():
            for key, value in recorded.items():
                if key in found:
                    yield from differences(value, found[key], f"{path}/{key}")
                else:
                    yield f"{path}/{key}: is missing, was {value!r}"
        case list(), list():
            if len(recorded) != len(found):
                yield f"{path}: has {len(found)} entries, had {len(recorded)}"
            for place, (was, value) in enumerate(zip(recorded, found, strict=False)):
                yield from differences(was, value, f"{path}/{place}")
        case _ if type(recorded) is not type(found) or recorded != found:
            yield f"{path}: is {found!r}, was {recorded!r}"


def _lines(kind: type[Line], path: Path) -> list[Line]:
    # Split at newlines alone: a text may hold other characters that end a line.
    return [kind.model_validate_json(line) for line in path.read_text("utf-8").split("\n") if line]


def _write(path: Path, lines: Sequence[str] | Iterator[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
