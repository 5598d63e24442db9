"""One sealed record, as it is handed to the broker and as it is read back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeVar
from uuid import UUID

from schemas import ids, registry
from schemas.errors import SealBroken
from schemas.keyring import SubjectKeys
from schemas.memory import Record
from schemas.sealing import Header, open_sealed, seal

HEADER_NAME: Final = "memledger"
"""The one Kafka header of a record; its bytes are the associated data of the seal."""

Headers = list[tuple[str, bytes]]
RecordType = TypeVar("RecordType", bound=Record)


@dataclass(frozen=True, kw_only=True, slots=True)
class LogPosition:
    """Where a record stands."""

    topic: str
    partition: int
    offset: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SealedRecord:
    """A record that is ready to be appended.

    Attributes:
        key: record id and append nonce.
        value: nonce, ciphertext and tag.
        headers: the one header.
    """

    key: bytes
    value: bytes
    headers: Headers


@dataclass(frozen=True, kw_only=True, slots=True)
class LogRecord:
    """A record as it was read, still sealed.

    Attributes:
        position: where it stands.
        timestamp_ms: when the broker appended it, in milliseconds since 1970.
        key: its Kafka key.
        value: its value; ``None`` for a tombstone.
        headers: its headers.
    """

    position: LogPosition
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: Headers

    @property
    def header_bytes(self) -> bytes:
        """The bytes of the record's own header.

        Raises:
            SealBroken: there is none, or more than one.
        """
        found = [value for name, value in self.headers if name == HEADER_NAME]
        if len(found) != 1:
            raise SealBroken(f"expected one {HEADER_NAME!r} header, found {len(found)}")
        return found[0]

    def header(self) -> Header:
        """Return the header, decoded but not yet authenticated.

        Raises:
            SealBroken: it is missing or malformed.
        """
        return Header.decode(self.header_bytes)


def seal_record(
    record: Record, *, keys: SubjectKeys, record_id: UUID, address: int
) -> SealedRecord:
    """Seal a record under the leaf of its subject at ``address``, with a fresh append key."""
    schema = registry.schema_of(type(record))
    header = Header(
        subject=keys.subject,
        record_id=record_id,
        address=address,
        schema_name=schema.name,
        schema_version=schema.version,
    ).encode()
    value = seal(keys.leaf_key(address), header, registry.encode(record))
    return SealedRecord(key=ids.append_key(record_id), value=value, headers=[(HEADER_NAME, header)])


def open_record(expected: type[RecordType], record: LogRecord, keys: SubjectKeys) -> RecordType:
    """Open a record and read it as ``expected``.

    Raises:
        SealBroken: the header or the value is not what was sealed, or the value is a tombstone.
        RecordInvalid: it opened, but does not fit its schema.
    """
    header = record.header()
    if record.value is None:
        raise SealBroken("a tombstone holds nothing to open")
    if header.subject != keys.subject:
        raise SealBroken("the header names another subject than the keys")
    payload = open_sealed(keys.leaf_key(header.address), record.header_bytes, record.value)
    return registry.decode(expected, header.schema_name, header.schema_version, payload)
