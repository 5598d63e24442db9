"""Setting aside records that cannot be projected, whole and sealed."""

from __future__ import annotations

from datetime import UTC, datetime

from projections.batch import Poison
from schemas import ids
from schemas.keyring import Keyring
from schemas.log.producer import LogProducer
from schemas.log.sealed import seal_record
from schemas.records import DEAD_LETTER_VALUE_BYTES_MAX, DeadLetter
from schemas.topics import DEAD_LETTERS
from schemas.tree import address_for


class DeadLetterBox:
    """Appends dead letters under the system's own subject.

    Args:
        producer: appends to the log.
        keyring: knows the system's keys.
        generation: the generation that could not process the records.
    """

    def __init__(self, producer: LogProducer, keyring: Keyring, *, generation: str) -> None:
        self._producer = producer
        self._keyring = keyring
        self._generation = generation

    async def append(self, poison: Poison) -> None:
        """Append the dead letter of a record and wait until the broker has it.

        Appending it again is harmless: its id is that of the record's position.

        Raises:
            LogUnavailable: the broker did not acknowledge.
            KeyringUnavailable: the system's keys cannot be had.
        """
        at, value = poison.record.position, poison.record.value
        now = datetime.now(UTC)
        letter = DeadLetter(
            topic=at.topic,
            partition=at.partition,
            offset=at.offset,
            generation=self._generation,
            stage=poison.stage,
            error=type(poison.error).__name__,
            detail=_detail(poison.error),
            value=None if value is None else value[:DEAD_LETTER_VALUE_BYTES_MAX],
            value_bytes=0 if value is None else len(value),
            headers=tuple(poison.record.headers),
            occurred_at=now,
        )
        letter_id = ids.dead_letter_id(at.topic, at.partition, at.offset, self._generation)
        sealed = seal_record(
            letter,
            keys=await self._keyring.system_subject(),
            record_id=letter_id,
            address=address_for(now, letter_id),
        )
        await self._producer.append(DEAD_LETTERS, at.partition, sealed)


def _detail(error: Exception) -> str:
    # The database's own messages may repeat what was sent; its error class and code do not.
    state = getattr(error, "sqlstate", None)
    return f"refused by Postgres with SQLSTATE {state}" if state is not None else str(error)
