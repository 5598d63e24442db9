"""What was served, as rows: projected from its topic, and taken away after its days."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import psycopg

from projections.columns import array_text
from projections.read_model import ReadModel, name_every_subject
from projections.side_topics import OpenedBeside
from schemas.clock import utc_now
from schemas.database import Connection
from schemas.errors import MemledgerError, RecordInvalid
from schemas.queries import load_queries
from schemas.recalls import ServedRecall
from schemas.topics import RECALLS

_LOG: Final = logging.getLogger(__name__)

SWEEP_EVERY_S: Final = 3_600.0
"""How often rows past their days are taken away; none of them is told meanwhile."""

_SWEEP_ROWS_MAX: Final = 10_000
"""The most rows of one transaction of a sweep."""

_QUERIES: Final = load_queries("projections", "sql/recalls.sql")


class RecallRecords:
    """The side topic of what was served, see :class:`~projections.side_topics.SideTopic`."""

    @property
    def topic(self) -> str:
        """Its name."""
        return RECALLS

    @property
    def model(self) -> type[ServedRecall]:
        """What its records are."""
        return ServedRecall

    def check(self, opened: OpenedBeside[ServedRecall]) -> None:
        """Refuse a record that lies under another id, or holds what Postgres has no room for.

        Raises:
            RecordInvalid: it is of no use.
        """
        record = opened.record
        if record.recall_id != opened.record_id:
            raise RecordInvalid("recall: its id is not the one of its header")
        texts = (record.generation, record.policy, record.reason or "")
        until = tuple(memory.until or "" for memory in record.memories)
        if any("\0" in text for text in (*texts, *until)):
            raise RecordInvalid("recall: a text holds a NUL character")
        if not all(map(_is_date, filter(None, until))):
            raise RecordInvalid("recall: a date that a note ended with is none")

    async def apply(
        self, connection: Connection, opened: Sequence[OpenedBeside[ServedRecall]]
    ) -> None:
        """Write the rows of some records; one that is there already stays as it is."""
        await connection.execute(_QUERIES["insert_recalls"], _columns(opened))


def _is_date(text: str) -> bool:
    return all(
        character.isascii() and (character.isdigit() or character == "-") for character in text
    )


def _columns(opened: Sequence[OpenedBeside[ServedRecall]]) -> dict[str, list[Any]]:
    first: dict[tuple[object, object], OpenedBeside[ServedRecall]] = {}
    for item in opened:
        first.setdefault((item.subject, item.record_id), item)
    items = list(first.values())
    records = [item.record for item in items]
    return {
        "subjects": [item.subject for item in items],
        "recall_ids": [record.recall_id for record in records],
        "served_at": [record.served_at for record in records],
        "generations": [record.generation for record in records],
        "policies": [record.policy for record in records],
        "reasons": [record.reason for record in records],
        "forms": [record.form.value for record in records],
        "templates": [record.template for record in records],
        "budget_tokens": [record.budget_tokens for record in records],
        "as_of": [record.as_of for record in records],
        "known_at": [record.known_at for record in records],
        "memory_ids": [array_text(one.memory_id for one in record.memories) for record in records],
        "scores": [_array(one.score for one in record.memories) for record in records],
        "until": [_array(one.until for one in record.memories) for record in records],
        "digests": [record.digest for record in records],
    }


def _array(elements: Iterable[object]) -> str:
    return array_text("NULL" if element is None else element for element in elements)


class RecallSweeper:
    """Takes away what was served longer ago than it is kept."""

    def __init__(
        self,
        read_model: ReadModel,
        *,
        days: int,
        every_s: float = SWEEP_EVERY_S,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        """Wire a sweeper.

        Args:
            read_model: the generation's tables, opened for writing.
            days: for how many days it is kept what was served.
            every_s: how long to wait between two sweeps, in seconds.
            clock: the current time, aware.
        """
        self._read_model = read_model
        self._days = days
        self._every_s = every_s
        self._clock = clock

    async def run(self, stop: asyncio.Event) -> None:
        """Sweep until ``stop`` is set; a failure is told and tried again at the next time."""
        while not stop.is_set():
            try:
                swept = await self.sweep()
            except (MemledgerError, psycopg.Error) as error:
                _LOG.warning("what was served is not swept: %s", error)
            else:
                if swept:
                    _LOG.info("%d recalls were past their %d days", swept, self._days)
            try:
                async with asyncio.timeout(self._every_s):
                    await stop.wait()
            except TimeoutError:
                continue

    async def sweep(self) -> int:
        """Take away what is past its days and return how many recalls that were.

        Raises:
            ReadModelUnavailable: the read model cannot be reached.
        """
        before = kept_from(self._clock(), self._days)
        swept = 0
        while True:
            async with self._read_model.connection() as connection, connection.transaction():
                await name_every_subject(connection)
                asked = {"before": before, "limit": _SWEEP_ROWS_MAX}
                cursor = await connection.execute(_QUERIES["delete_past"], asked)
            swept += cursor.rowcount
            if cursor.rowcount < _SWEEP_ROWS_MAX:
                return swept


def kept_from(now: datetime, days: int) -> datetime:
    """Return the moment from which it is kept what was served."""
    return now - timedelta(days=days)
