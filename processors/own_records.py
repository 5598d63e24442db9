"""Records of the turns topic that workers append themselves: ends of sessions, consolidations."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from processors.ports import Appends, Budget, KeySource
from schemas.commands import ConsolidationStart, SessionEnd
from schemas.keyring import Erased, SubjectKeys
from schemas.log.sealed import SealedRecord, seal_record
from schemas.topics import TURNS
from schemas.tree import Punctured, address_for

logger = logging.getLogger(__name__)

_AT_ONCE: Final = 100
"""How many are sealed and appended together: some 10 ms, in which nothing else is done, and few
enough that keys are used well within their lease."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnRecord:
    """A record to be appended.

    Attributes:
        record: the record; its id follows from what it is for.
        subject: whose it is.
        partition: the subject's.
    """

    record: SessionEnd | ConsolidationStart
    subject: UUID
    partition: int


class OwnRecords:
    """Appends records whose ids follow from what they are for, each once as far as it remembers.

    It remembers those of the hour: the ids of sessions' ends change with it. Where it does not, a
    second append of an id changes nothing: the lowest offset wins.
    """

    def __init__(
        self,
        *,
        keyring: KeySource,
        producer: Appends,
        budget: Budget,
        clock: Callable[[], datetime],
    ) -> None:
        """Wire the parts.

        Args:
            keyring: gives keys.
            producer: appends.
            budget: tells whether a tenant may ask a model: what asks for nothing is not appended.
            clock: the time, aware.
        """
        self._keyring = keyring
        self._producer = producer
        self._budget = budget
        self._clock = clock
        self._hour = 0
        self._appended: set[UUID] = set()

    def look(self) -> Look:
        """Return what appends the records of one look for what is due."""
        return Look(self)

    async def _append(self, records: Sequence[OwnRecord], held_back: dict[str | None, bool]) -> int:
        appended = self._remembered()
        new = [one for one in records if one.record.turn_id not in appended]
        if not new:
            return 0
        keys = await self._keyring.keys({one.subject for one in new})
        sealed: list[tuple[OwnRecord, SealedRecord]] = []
        for one in new:
            theirs = keys[one.subject]
            if isinstance(theirs, Erased):
                continue
            if theirs.tenant not in held_back:
                exhausted = await self._budget.exhausted(theirs.tenant)
                held_back[theirs.tenant] = exhausted is not None
            record = None if held_back[theirs.tenant] else self._sealed(one, theirs)
            if record is not None:
                sealed.append((one, record))
        results = await asyncio.gather(
            *(self._append_one(one, record) for one, record in sealed), return_exceptions=True
        )
        for result in results:
            if isinstance(result, BaseException):
                raise result
        return len(sealed)

    def _remembered(self) -> set[UUID]:
        hour = int(self._clock().timestamp() // 3600)
        if hour != self._hour:
            self._hour, self._appended = hour, set()
        return self._appended

    def _sealed(self, one: OwnRecord, keys: SubjectKeys) -> SealedRecord | None:
        record_id = one.record.turn_id
        address = address_for(self._clock().date(), record_id)
        try:
            return seal_record(one.record, keys=keys, record_id=record_id, address=address)
        except Punctured:
            logger.warning("today's keys of a subject were forgotten: nothing of it is looked at")
            return None

    async def _append_one(self, one: OwnRecord, record: SealedRecord) -> None:
        await self._producer.append(TURNS, one.partition, record)
        self._appended.add(one.record.turn_id)


class Look:
    """One look for what is due: of each tenant it is asked once whether its budget is exhausted."""

    def __init__(self, records: OwnRecords) -> None:
        """Begin a look."""
        self._records = records
        self._held_back: dict[str | None, bool] = {}

    async def append(self, records: Sequence[OwnRecord]) -> int:
        """Append records and return how many were.

        One is not where it was before, where the subject is erased or where the tenant's budget is
        exhausted. Others of the process have their turn after every hundred.

        Raises:
            KeyMissing, KeyringUnavailable, LogUnavailable, ReadModelUnavailable: try again later.
        """
        appended = 0
        for start in range(0, len(records), _AT_ONCE):
            together = records[start : start + _AT_ONCE]
            appended += await self._records._append(together, self._held_back)  # noqa: SLF001 - its own look
            await asyncio.sleep(0)
        return appended
