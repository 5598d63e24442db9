"""Making the vectors that memories lack, beside the turns: after an outage, or under a new model.

The log is not touched: a vector follows from a memory's words and the model, so one that is made
later lies in the read model alone, and a rebuild makes it again. What waits is told by the rows
themselves, so nothing is lost with a process, and several workers share it out by taking rows.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import psycopg

from projections import canary
from projections import vector_metrics as metrics
from projections.canary import SENTENCE, ErasedAmong
from projections.read_model import ReadModel, count_waiting, name_every_subject, name_subjects
from projections.vectors import HalfVectors, Halves, halves_of
from schemas.embedding import EachEmbedded, EmbeddingFault, embed_each
from schemas.errors import EmbeddingFailed, MemledgerError
from schemas.ports import Embedder
from schemas.queries import load_queries

_LOG: Final = logging.getLogger(__name__)
_QUERIES: Final = load_queries("projections", "sql/vector_repair.sql")

BATCH_MAX: Final = 32
"""Texts of one call: an embedder in the worker's own process keeps a turn waiting for one such."""

_FILL_TRIES: Final = 5
_FILL_PAUSE_S: Final = 0.05


@dataclass(frozen=True, kw_only=True, slots=True)
class Pace:
    """When vectors are tried, in seconds.

    Attributes:
        poll_s: how often a worker looks for what is due.
        pause_max_s: the longest pause, which doubles while the embedder does not answer.
        backoff_first_s: after how long a memory is tried a second time; each time twice as long.
        backoff_max_s: after how long at most.
        call_s: how long one call of the embedder may take.
    """

    poll_s: float = 5.0
    pause_max_s: float = 60.0
    backoff_first_s: float = 30.0
    backoff_max_s: float = 3600.0
    call_s: float = 10.0

    def lease_s(self, calls_max: int) -> float:
        """Return for how long a batch is taken: longer than its calls can last.

        Half of it is theirs and a comparison's of the model; the other half is for the statements,
        and for what else the process does meanwhile.
        """
        return 2 * (calls_max + canary.CALLS_MAX) * self.call_s


@dataclass(frozen=True, kw_only=True, slots=True)
class _Lacking:
    subject: UUID
    memory_id: UUID
    content: str
    due_at: datetime
    """Until when it is taken: whoever takes it after that moves this on."""


class VectorRepair:
    """Makes lacking vectors, in batches, as long as there are any.

    Args:
        read_model: the tables.
        embedder: the embedder they were built with.
        erased_among: tells whose words may not be read any more.
        pace: when.
    """

    def __init__(
        self,
        read_model: ReadModel,
        embedder: Embedder,
        *,
        erased_among: ErasedAmong,
        pace: Pace | None = None,
    ) -> None:
        self._read_model = read_model
        self._generation: Final = read_model.generation
        self._embedder = embedder
        self._erased_among = erased_among
        self._pace = pace or Pace()
        self._down = False
        self._count_at = 0.0
        self._pause_s = self._pace.poll_s

    async def run(self, stop: asyncio.Event) -> None:
        """Make vectors until ``stop`` is set; no failure ends it."""
        while not stop.is_set():
            try:
                made = await self.round()
                await self._count()
            except (psycopg.Error, MemledgerError) as error:
                _LOG.warning("making vectors later: %s; trying again", error)
                made = 0
            except Exception:  # noqa: BLE001 - whatever it is, ending here would leave vectors lacking until a restart
                _LOG.exception("making vectors later failed unexpectedly; trying again")
                made = 0
            if not made:
                await self._pause(stop)

    async def round(self) -> int:
        """Try one batch of what is due, and return how many vectors were stored.

        Raises:
            ReadModelUnavailable, KeyringUnavailable: a store cannot be reached.
        """
        due = await self._due()
        if not due or (self._down and not await self._answers()):
            return 0
        claimed = await self._claim(due)
        erased = await self._erased_among({lacking.subject for lacking in claimed})
        wanted = [lacking for lacking in claimed if lacking.subject not in erased]
        if not wanted:
            return 0
        try:
            found = await embed_each(
                self._embedder,
                [lacking.content for lacking in wanted],
                calls_max=_calls_max(wanted),
                alive=self._answers,
            )
        except asyncio.CancelledError:
            # The process ends: the next one need not wait until the lease is over.
            untried = [EmbeddingFault.NOT_TRIED] * len(wanted)
            await self._put_back(wanted, untried, [False] * len(wanted))
            raise
        filled = await self._fill(wanted, found)
        await self._note(wanted, found)
        return filled

    async def waiting(self) -> int:
        """Count the memories that wait for a vector, as :func:`count_waiting` does.

        Raises:
            ReadModelUnavailable: the read model cannot be reached.
        """
        async with self._read_model.connection() as connection, connection.transaction():
            await name_every_subject(connection)
            return await count_waiting(connection)

    async def _due(self) -> list[tuple[UUID, UUID]]:
        async with self._read_model.connection() as connection, connection.transaction():
            await name_every_subject(connection)
            await connection.execute(_QUERIES["plan_by_order"])
            cursor = await connection.execute(_QUERIES["find_due"], {"limit": BATCH_MAX})
            return [(subject, memory_id) for subject, memory_id in await cursor.fetchall()]

    async def _claim(self, due: Sequence[tuple[UUID, UUID]]) -> list[_Lacking]:
        subjects = [subject for subject, _ in due]
        asked = {
            "subjects": subjects,
            "memory_ids": [memory_id for _, memory_id in due],
            "lease_s": self._pace.lease_s(_calls_max(due)),
            "backoff_first_s": self._pace.backoff_first_s,
            "backoff_max_s": self._pace.backoff_max_s,
        }
        async with self._read_model.connection() as connection, connection.transaction():
            await name_subjects(connection, subjects)
            cursor = await connection.execute(_QUERIES["claim"], asked)
            return [
                _Lacking(subject=subject, memory_id=memory_id, content=content, due_at=due_at)
                for subject, memory_id, content, due_at in await cursor.fetchall()
            ]

    async def _answers(self) -> bool:
        """Tell whether the embedder answers for a text that is known to be good."""
        try:
            await self._embedder.embed([SENTENCE])
        except EmbeddingFailed as error:
            if not self._down:
                _LOG.warning("vectors that are lacking wait for the embedder: %s", error)
            self._down = True
        else:
            self._down = False
        return not self._down

    async def _note(self, wanted: Sequence[_Lacking], found: EachEmbedded) -> None:
        """Note why vectors are still lacking."""
        if not found.faults:
            return
        if EmbeddingFault.MISMATCH in found.faults.values():
            self._down = True
        lacking = [wanted[position] for position in found.faults]
        faults = list(found.faults.values())
        # With an embedder that is down no text was tried, whatever it was sent.
        tried = [not self._down and fault is not EmbeddingFault.NOT_TRIED for fault in faults]
        for fault in faults:
            metrics.FAILED.labels(self._generation, fault.value).inc()
        _LOG.warning("%d vectors are still lacking: %s", len(faults), "; ".join(found.problems))
        await self._put_back(lacking, faults, tried)

    async def _put_back(
        self, lacking: Sequence[_Lacking], faults: Sequence[EmbeddingFault], tried: Sequence[bool]
    ) -> None:
        """Let memories wait again: those that were tried for a while, the others not at all."""
        subjects = [one.subject for one in lacking]
        asked = {
            "subjects": subjects,
            "memory_ids": [one.memory_id for one in lacking],
            "due_at": [one.due_at for one in lacking],
            "faults": [fault.value for fault in faults],
            "tried": list(tried),
            "backoff_first_s": self._pace.backoff_first_s,
            "backoff_max_s": self._pace.backoff_max_s,
        }
        async with self._read_model.connection() as connection, connection.transaction():
            await name_subjects(connection, subjects)
            await connection.execute(_QUERIES["note_faults"], asked)

    async def _fill(self, wanted: Sequence[_Lacking], found: EachEmbedded) -> int:
        """Store the vectors that were made; return how many rows took one."""
        made: list[tuple[_Lacking, Halves]] = [
            (lacking, halves_of(vector))
            for lacking, vector in zip(wanted, found.vectors, strict=True)
            if vector is not None
        ]
        if not made:
            return 0
        subjects = [lacking.subject for lacking, _ in made]
        asked = {
            "subjects": subjects,
            "memory_ids": [lacking.memory_id for lacking, _ in made],
            "due_at": [lacking.due_at for lacking, _ in made],
            "vectors": HalfVectors([halves for _, halves in made]),
            "model": self._read_model.embedder,
        }
        filled = 0
        for attempt in range(_FILL_TRIES):
            async with self._read_model.connection() as connection, connection.transaction():
                await name_subjects(connection, subjects)
                cursor = await connection.execute(_QUERIES["fill"], asked)
                filled += cursor.rowcount
            # The projector may hold a row just now; one that is gone is never filled.
            if filled == len(made) or attempt == _FILL_TRIES - 1:
                break
            await asyncio.sleep(_FILL_PAUSE_S)
        metrics.MADE.labels(self._generation).inc(filled)
        _LOG.info("made %d vectors that were lacking", filled)
        return filled

    async def _count(self) -> None:
        now = time.monotonic()
        if now < self._count_at:
            return
        self._count_at = now + self._pace.poll_s
        metrics.WAITING.labels(self._generation).set(await self.waiting())

    async def _pause(self, stop: asyncio.Event) -> None:
        if self._down:
            self._pause_s = min(2 * self._pause_s, self._pace.pause_max_s)
        else:
            self._pause_s = self._pace.poll_s
        try:
            async with asyncio.timeout(self._pause_s):
                await stop.wait()
        except TimeoutError:
            return


def _calls_max(texts: Sequence[object]) -> int:
    """Return the most calls for a batch: they tell of one text at least, whatever fails."""
    return 2 * len(texts)
