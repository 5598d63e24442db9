"""Records of the turns topic that workers append themselves: ends of sessions, consolidations."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime
from typing import Final
from uuid import UUID

from processors.ports import Appends, Budget, KeySource
from schemas.commands import ConsolidationStart, SessionEnd
from schemas.keyring import Erased
from schemas.log.sealed import seal_record
from schemas.topics import TURNS
from schemas.tree import Punctured, address_for

logger = logging.getLogger(__name__)

_REMEMBERED: Final = 10_000


class OwnRecords:
    """Appends records whose ids follow from what they are for, each once as far as it remembers.

    Where it does not, a second append of an id changes nothing: the lowest offset wins.
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
        self._appended: OrderedDict[UUID, None] = OrderedDict()

    async def append(
        self, record: SessionEnd | ConsolidationStart, *, subject: UUID, partition: int
    ) -> bool:
        """Append a record of a subject and tell whether that was done.

        It is not where it was done before, where the subject is erased or where the tenant's budget
        is exhausted.

        Raises:
            KeyMissing, KeyringUnavailable, LogUnavailable, ReadModelUnavailable: try again later.
        """
        record_id = record.turn_id
        if record_id in self._appended:
            return False
        keys = (await self._keyring.keys([subject]))[subject]
        if isinstance(keys, Erased) or await self._budget.exhausted(keys.tenant) is not None:
            return False
        address = address_for(self._clock().date(), record_id)
        try:
            sealed = seal_record(record, keys=keys, record_id=record_id, address=address)
        except Punctured:
            logger.warning("today's keys of a subject were forgotten: nothing of it is looked at")
            return False
        await self._producer.append(TURNS, partition, sealed)
        self._appended[record_id] = None
        while len(self._appended) > _REMEMBERED:
            self._appended.popitem(last=False)
        return True
