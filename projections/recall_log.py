"""Recording what recalls served, behind their backs.

A recall answers a chat that waits. So nothing of this is waited for, and nothing of it fails a
recall: what cannot be recorded is counted and told in the process' own log.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol
from uuid import UUID

from projections.injection import block, line_of
from projections.recall_log_metrics import RECORDED, UNRECORDED
from projections.recalled import RecallResult
from schemas.clock import utc_now
from schemas.errors import KeyMissing, LogUnavailable, MemledgerError
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

GATHER_S: Final = 0.05
"""For how long what was served is gathered before it is appended, since the broker and the
projector take almost as long for one record alone as for ten. Longer rounds spare them a little
more, and make the slowest recalls no faster."""

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


@dataclass(frozen=True, kw_only=True, slots=True)
class _Served:
    """One recall that is to be recorded.

    Attributes:
        subject: whose memories.
        result: what was served.
        asked: what was asked beside the question.
        at: when it was served.
    """

    subject: UUID
    result: RecallResult
    asked: Asked
    at: datetime


class RecallLog:
    """Appends what was served to the log, in rounds that do not wait for each other's reports."""

    def __init__(
        self,
        producer: RecallTopic,
        keys_of: KeysOf,
        *,
        partitions: int,
        pending_max: int = PENDING_MAX,
        gather_s: float = GATHER_S,
        close_s: float = _CLOSE_S,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        """Wire the parts.

        Args:
            producer: appends to the log.
            keys_of: gives the subjects' keys.
            partitions: number of partitions of the topics of subjects' data.
            pending_max: the most records that wait at one time; what comes on top is not recorded.
            gather_s: how long the records of a round are gathered, in seconds.
            close_s: how long closing waits for what is under way, in seconds.
            clock: the current time, aware.
        """
        self._producer = producer
        self._keys_of = keys_of
        self._partitions = partitions
        self._pending_max = pending_max
        self._gather_s = gather_s
        self._close_s = close_s
        self._clock = clock
        self._gathered: list[_Served] = []
        self._reports: set[asyncio.Future[int]] = set()
        self._pending = 0
        self._recording: asyncio.Task[None] | None = None
        self._closing, self._idle = asyncio.Event(), asyncio.Event()
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
        if self._pending >= self._pending_max:
            self._lost("busy", f"{self._pending_max} records wait for the broker")
            return
        self._pending += 1
        self._idle.clear()
        self._gathered.append(
            _Served(subject=subject, result=result, asked=asked, at=self._clock())
        )
        if self._recording is None or self._recording.done():
            self._recording = asyncio.get_running_loop().create_task(
                self._record_rounds(), name="recording recalls"
            )

    async def close(self) -> None:
        """Wait a little for what is under way; what is left then is counted as not recorded."""
        self._closing.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._close_s):
                await self._idle.wait()
        if not self._pending:
            return
        if self._recording is not None:
            await end_tasks([self._recording])
        for report in self._reports:
            report.remove_done_callback(self._reported)  # it counts as lost now, whatever comes
        self._lost("busy", "the process ends", count=self._pending)
        self._reports.clear()
        self._gathered.clear()
        self._pending = 0
        self._idle.set()

    async def _record_rounds(self) -> None:
        while self._gathered:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._gather_s):
                    await self._closing.wait()
            served, self._gathered = self._gathered, []
            await self._submit(served)

    async def _submit(self, served: Sequence[_Served]) -> None:
        states = await self._states({one.subject for one in served})
        sealed: list[tuple[UUID, SealedRecord]] = []
        for one in served:
            record = self._sealed(one, states[one.subject])
            if record is not None:
                sealed.append((one.subject, record))
            await asyncio.sleep(0)  # recalls that wait go first
        # Now in one go: with recalls between them each would become a batch of its own, which costs
        # the broker and the projector most where there are most recalls.
        for subject, record in sealed:
            self._append(subject, record)

    async def _states(
        self, subjects: Collection[UUID]
    ) -> Mapping[UUID, SubjectKeys | Erased | Exception]:
        """Return each subject's keys, the record of their end, or why they cannot be had."""
        try:
            return await self._keys_of(subjects)
        except KeyMissing as error:
            if len(subjects) == 1:
                return dict.fromkeys(subjects, error)
        except Exception as error:  # noqa: BLE001 - told for each record, which then counts as lost
            return dict.fromkeys(subjects, error)
        # One has none, which says nothing of the others.
        states: dict[UUID, SubjectKeys | Erased | Exception] = {}
        for subject in subjects:
            states |= await self._states([subject])
        return states

    def _sealed(
        self, served: _Served, state: SubjectKeys | Erased | Exception
    ) -> SealedRecord | None:
        """Return one record; ``None`` where nothing is to be kept, or it could not be sealed."""
        if isinstance(state, Exception):
            self._settle(state)
            return None
        try:
            # Nothing of an erased user is kept, so nothing is lost.
            record = None if isinstance(state, Erased) else _seal(state, served)
        except Exception as error:  # noqa: BLE001 - a fault of one record must not stop the others: it is logged and counted
            self._settle(error)
            return None
        if record is None:
            self._settle(None)
        return record

    def _append(self, subject: UUID, record: SealedRecord) -> None:
        """Hand one record to the producer, which reports what became of it."""
        partition = partition_for(subject, self._partitions)
        try:
            report = self._producer.submit(RECALLS, partition, record)
        except Exception as error:  # noqa: BLE001 - one that cannot be queued must not stop the others: it is logged and counted
            self._settle(error)
            return
        self._reports.add(report)
        report.add_done_callback(self._reported)

    def _reported(self, report: asyncio.Future[int]) -> None:
        self._reports.discard(report)
        if report.cancelled():
            self._settle(LogUnavailable("the producer gave it up"))
            return
        error = report.exception()
        if error is None:
            RECORDED.inc()
        self._settle(error)

    def _settle(self, error: BaseException | None) -> None:
        """Take one record off those that wait, and count it if it failed."""
        if error is not None:
            self._failed(error)
        self._pending -= 1
        if not self._pending:
            self._idle.set()

    def _failed(self, error: BaseException) -> None:
        if isinstance(error, MemledgerError):
            self._lost(type(error).__name__, str(error))
            return
        self._lost(type(error).__name__, "a fault of our own")
        _LOG.error("a recall could not be recorded", exc_info=error)

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


def _seal(keys: SubjectKeys, served: _Served) -> SealedRecord | None:
    """Return the record of what was served; ``None`` for a day that was forgotten meanwhile."""
    record = record_of(keys, served.result, served.asked, served.at)
    try:
        return seal_record(
            record,
            keys=keys,
            record_id=record.recall_id,
            address=address_for(served.at, record.recall_id),
        )
    except Punctured:
        return None


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
