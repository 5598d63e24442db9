"""Recording what recalls served, behind their backs.

A recall answers a chat that waits. So nothing of this is waited for, and nothing of it fails a
recall: what cannot be recorded is counted and told in the process' own log.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol
from uuid import UUID

from projections.injection import block, line_of
from projections.recall_log_metrics import RECORDED, UNRECORDED
from projections.recalled import RecallResult
from schemas.clock import utc_now
from schemas.errors import MemledgerError
from schemas.injection import TEMPLATE, InjectionForm
from schemas.keyring import Erased, SubjectKeys
from schemas.log.sealed import SealedRecord, seal_record
from schemas.partitioning import partition_for
from schemas.recalls import ServedMemory, ServedRecall, block_digest
from schemas.tasks import end_tasks
from schemas.topics import RECALLS
from schemas.tree import Punctured, address_for

_LOG: Final = logging.getLogger(__name__)

PENDING_MAX: Final = 1_000
"""The most records that wait for their acknowledgement: a fiftieth of what the producer holds, so
that a broker that is away is never kept from taking turns by what was served."""

_TELL_EVERY_S: Final = 30.0
_CLOSE_S: Final = 5.0

KeysOf = Callable[[Collection[UUID]], Awaitable[Mapping[UUID, SubjectKeys | Erased]]]
"""Returns the keys of subjects, or that they are destroyed."""


class RecallTopic(Protocol):
    """The part of the log's producer that this needs."""

    def submit(self, topic: str, partition: int, record: SealedRecord) -> asyncio.Future[int]:
        """Queue one record and return the future of its offset.

        Raises:
            LogUnavailable: it cannot be queued.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What a recall was asked beside the question, of which nothing is kept.

    Attributes:
        form: how its notes were handed over.
        as_of, known_at: the moments that were asked for.
    """

    form: InjectionForm = InjectionForm.TEXT
    as_of: datetime | None = None
    known_at: datetime | None = None


class RecallLog:
    """Appends what was served to the log, each recall in a task of its own."""

    def __init__(
        self,
        producer: RecallTopic,
        keys_of: KeysOf,
        *,
        partitions: int,
        pending_max: int = PENDING_MAX,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        """Wire the parts.

        Args:
            producer: appends to the log.
            keys_of: gives the subjects' keys.
            partitions: number of partitions of the topics of subjects' data.
            pending_max: the most records that wait at one time; what comes on top is not recorded.
            clock: the current time, aware.
        """
        self._producer = producer
        self._keys_of = keys_of
        self._partitions = partitions
        self._pending_max = pending_max
        self._clock = clock
        self._tasks: set[asyncio.Task[None]] = set()
        self._told_at = -_TELL_EVERY_S
        self._untold = 0

    def note(self, subject: UUID | None, result: RecallResult, asked: Asked) -> None:
        """Record what a recall served, some time soon; return at once, whatever happens.

        Args:
            subject: whose memories; of a user of whom nothing was ever heard nothing is recorded.
            result: what was served.
            asked: what it was asked.
        """
        if subject is None:
            return
        if len(self._tasks) >= self._pending_max:
            self._lost("busy", f"{self._pending_max} records wait for the broker")
            return
        task = asyncio.get_running_loop().create_task(
            self._record(subject, result, asked, self._clock()), name="recording a recall"
        )
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Wait a little for what is under way; what is left then is counted as not recorded."""
        if not self._tasks:
            return
        _, left = await asyncio.wait(self._tasks, timeout=_CLOSE_S)
        if left:
            self._lost("busy", "the process ends", count=len(left))
            await end_tasks(left)

    async def _record(
        self, subject: UUID, result: RecallResult, asked: Asked, served_at: datetime
    ) -> None:
        try:
            keys = (await self._keys_of([subject]))[subject]
            if isinstance(keys, Erased):
                return  # nothing of an erased user is kept, so nothing is lost
            partition = partition_for(subject, self._partitions)
            sealed = _sealed(keys, result, asked, served_at)
            await self._producer.submit(RECALLS, partition, sealed)
        except Punctured:
            return  # a day that was forgotten while it went on
        except MemledgerError as error:
            self._lost(type(error).__name__, str(error))
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not come up in a recall: it is logged and counted
            self._lost(type(error).__name__, "a fault of our own")
            _LOG.exception("a recall could not be recorded")
        else:
            RECORDED.inc()

    def _lost(self, cause: str, why: str, *, count: int = 1) -> None:
        """Count recalls that are not recorded; tell so now and then, since they come in floods."""
        UNRECORDED.labels(cause).inc(count)
        self._untold += count
        now = time.monotonic()
        if now - self._told_at >= _TELL_EVERY_S:
            _LOG.warning(
                "%d recalls were answered and not recorded, the last one since %s: %s",
                self._untold,
                cause,
                why,
            )
            self._told_at, self._untold = now, 0


def _sealed(
    keys: SubjectKeys, result: RecallResult, asked: Asked, served_at: datetime
) -> SealedRecord:
    record = record_of(keys, result, asked, served_at)
    return seal_record(
        record,
        keys=keys,
        record_id=result.recall_id,
        address=address_for(served_at, result.recall_id),
    )


def record_of(
    keys: SubjectKeys, result: RecallResult, asked: Asked, served_at: datetime
) -> ServedRecall:
    """Return the record of what a recall served."""
    return ServedRecall(
        recall_id=result.recall_id,
        served_at=served_at,
        generation=result.generation,
        policy=result.policy,
        reason=None if result.reason is None else result.reason.value,
        form=asked.form,
        template=TEMPLATE,
        budget_tokens=result.tokens.budget,
        as_of=asked.as_of,
        known_at=asked.known_at,
        memories=tuple(
            ServedMemory(
                memory_id=memory.memory_id, score=memory.score, until=line_of(memory).until
            )
            for memory in result.memories
        ),
        digest=block_digest(keys.id_secret, result.recall_id, block(result.memories, asked.form)),
    )
