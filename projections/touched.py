"""What a turn did to memories that it did not cause: told by its outcome in the log.

The read model keeps of a confirmation or a withdrawal only what it came to. Which turn it was
stands in the turn's outcome alone, which is read again where somebody asks.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol
from uuid import UUID

from projections.noted import Effect
from schemas.errors import LogUnavailable, RecordInvalid, SealBroken
from schemas.events import MemoryConfirmed, MemoryEnded, MemoryRetracted, MemoryVouched
from schemas.keyring import Erased, SubjectKeys
from schemas.log.sealed import LogRecord, open_record
from schemas.records import Outcome
from schemas.tree import Punctured

WAIT_S: Final = 2.0
"""How long an answer waits for the log; without it, it says less and is right all the same."""

_LOGGER: Final = logging.getLogger(__name__)

KeysOf = Callable[[Collection[UUID]], Awaitable[Mapping[UUID, SubjectKeys | Erased]]]
"""Returns each subject's keys, or the record of their destruction."""


class OutcomeRecords(Protocol):
    """Reads single records of the generation's memories topic, by where they stand."""

    async def read(self, partition: int, offsets: Sequence[int]) -> tuple[LogRecord, ...]:
        """Return the records at some offsets; those that are gone are left out.

        Raises:
            LogUnavailable: the broker does not answer.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Effects:
    """What an outcome did to a memory: see :class:`~projections.noted.Effect`."""

    effect: Effect
    memory_id: UUID


class TouchedMemories:
    """Tells what turns did to memories that they did not cause.

    Args:
        outcomes: reads outcomes.
        keys_of: opens them.
        wait_s: how long one reading may take, in seconds.
    """

    def __init__(
        self, outcomes: OutcomeRecords, keys_of: KeysOf, *, wait_s: float = WAIT_S
    ) -> None:
        self._outcomes = outcomes
        self._keys_of = keys_of
        self._wait_s = wait_s

    async def of(
        self, subject: UUID, turn_id: UUID, partition: int, offset: int
    ) -> list[Effects] | None:
        """Return what a turn did; ``None`` where that cannot be told now.

        Args:
            subject: whose turn it is.
            turn_id: the turn, or another record of the turns topic.
            partition: the partition of the outcome that settled it.
            offset: where that stands there.

        Raises:
            KeyMissing, KeyringUnavailable: as the keyring does.
        """
        try:
            async with asyncio.timeout(self._wait_s):
                records = await self._outcomes.read(partition, [offset])
        except (LogUnavailable, TimeoutError) as error:
            _LOGGER.warning("an outcome was not read again: %s", str(error) or "not in time")
            return None
        keys = (await self._keys_of([subject]))[subject]
        if not records or not isinstance(keys, SubjectKeys):
            return None
        try:
            outcome = open_record(Outcome, records[0], keys)
        except (SealBroken, RecordInvalid, Punctured):
            return None
        return list(_effects(outcome, turn_id))


def _effects(outcome: Outcome, turn_id: UUID) -> list[Effects]:
    """Return the effects of one turn; the outcome of a session's end tells of several turns."""
    found = []
    for event in outcome.events:
        match event:
            case MemoryConfirmed() | MemoryVouched() if event.turn_id == turn_id:
                found.append(Effects(effect=Effect.CONFIRMED, memory_id=event.memory_id))
            case MemoryRetracted() if event.turn_id == turn_id:
                found.append(Effects(effect=Effect.WITHDRAWN, memory_id=event.memory_id))
            case MemoryEnded() if outcome.turn_id == turn_id:
                found.append(Effects(effect=Effect.ENDED, memory_id=event.memory_id))
            case _:
                pass
    return found
