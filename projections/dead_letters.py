"""Setting aside records that cannot be projected, whole and sealed."""

from __future__ import annotations

from datetime import UTC, datetime

from projections.batch import Poison
from schemas import ids
from schemas.keyring import Keyring
from schemas.log.dead_letters import dead_letter_of
from schemas.log.producer import LogProducer
from schemas.log.sealed import LogPosition, seal_record
from schemas.records import DeadLetter
from schemas.topics import DEAD_LETTERS, memories_topic
from schemas.tree import address_for


def refused_position(letter: DeadLetter, *, generation: str) -> LogPosition | None:
    """Return where an outcome stands that Postgres refused; ``None`` for any other dead letter.

    Such an outcome can be opened: that it closed its turn as dead-lettered only its letter tells.
    """
    at = LogPosition(topic=letter.topic, partition=letter.partition, offset=letter.offset)
    ours = letter.generation == generation and at.topic == memories_topic(generation)
    return at if ours and letter.stage == "project" else None


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
        at, now = poison.record.position, datetime.now(UTC)
        letter = dead_letter_of(
            poison.record,
            stage=poison.stage,
            error=poison.error,
            generation=self._generation,
            now=now,
        )
        letter_id = ids.dead_letter_id(at.topic, at.partition, at.offset, self._generation)
        sealed = seal_record(
            letter,
            keys=await self._keyring.system_subject(),
            record_id=letter_id,
            address=address_for(now, letter_id),
        )
        await self._producer.append(DEAD_LETTERS, at.partition, sealed)
