"""Records of the turns topic that nobody should have written."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from uuid import UUID, uuid4

from confluent_kafka import KafkaError, Producer

from schemas import ids
from schemas.keyring import SubjectKeys
from schemas.log.sealed import HEADER_NAME, Headers
from schemas.records import Origin, Turn
from schemas.registry import encode
from schemas.sealing import Header, seal
from schemas.topics import TURNS
from schemas.tree import address_for


class HostileProducer:
    """Appends to one partition, without a thought for those who read it.

    Attributes:
        garbage: a text that lies in the log in the clear because this producer put it there.
    """

    garbage = "plainly-visible-garbage"

    def __init__(self, bootstrap: str, keys: SubjectKeys, partition: int) -> None:
        self._producer = Producer({"bootstrap.servers": bootstrap, "log_level": 3})
        self._keys = keys
        self._partition = partition

    def without_header(self) -> None:
        """Append bytes that are nothing."""
        self._append(self.garbage.encode(), headers=[])

    def with_a_garbage_header(self) -> None:
        """Append bytes under a header that is nothing."""
        self._append(os.urandom(200), headers=[(HEADER_NAME, b"\xff\x00garbage")])

    def with_a_bit_of_the_payload_flipped(self) -> None:
        """Append a turn of which one bit was changed on the way."""
        header, value = self._sealed()
        self._append(value[:-1] + bytes([value[-1] ^ 1]), headers=[(HEADER_NAME, header)])

    def with_a_bit_of_the_record_id_flipped(self) -> None:
        """Append a turn of whose header one bit was changed on the way."""
        header, value = self._sealed()
        flipped = Header.decode(header)
        other = UUID(int=flipped.record_id.int ^ 1)
        self._append(
            value, headers=[(HEADER_NAME, header.replace(flipped.record_id.bytes, other.bytes))]
        )

    def with_an_unknown_field(self) -> None:
        """Append a turn of a producer that knows more than the readers."""
        header, value = self._sealed(extra={"mood": "curious"})
        self._append(value, headers=[(HEADER_NAME, header)])

    def of_a_later_version(self) -> None:
        """Append a turn of a producer that is ahead."""
        header, value = self._sealed(version=999)
        self._append(value, headers=[(HEADER_NAME, header)])

    def to_another_partition(self) -> None:
        """Append a good turn where its subject's turns do not stand."""
        header, value = self._sealed()
        self._append(value, headers=[(HEADER_NAME, header)], partition=self._partition ^ 1)

    def tombstones(self) -> None:
        """Append tombstones of nothing: under a key of ours, and under a strange one."""
        for key in (ids.append_key(uuid4()), b"strange"):
            self._append(None, headers=[], key=key)

    def _sealed(
        self, *, extra: Mapping[str, str] | None = None, version: int = 1
    ) -> tuple[bytes, bytes]:
        turn_id, now = uuid4(), datetime.now(UTC)
        turn = Turn(
            turn_id=turn_id,
            conversation_id="conversation",
            user_text="a turn that is good but for its clothes",
            assistant_text=None,
            occurred_at=now,
            utc_offset_minutes=0,
            received_at=now,
            origin=Origin.HTTP,
        )
        payload = json.dumps({**json.loads(encode(turn)), **(extra or {})}).encode()
        address = address_for(now, turn_id)
        header = Header(
            subject=self._keys.subject,
            record_id=turn_id,
            address=address,
            schema_name="turn",
            schema_version=version,
        ).encode()
        return header, seal(self._keys.leaf_key(address), header, payload)

    def _append(
        self,
        value: bytes | None,
        *,
        headers: Headers,
        key: bytes = b"whoever",
        partition: int | None = None,
    ) -> None:
        refused: list[KafkaError] = []
        self._producer.produce(
            TURNS,
            value,
            key,
            partition=self._partition if partition is None else partition,
            headers=list(headers),
            on_delivery=lambda error, _: refused.append(error) if error is not None else None,
        )
        assert self._producer.flush(30) == 0
        assert not refused
