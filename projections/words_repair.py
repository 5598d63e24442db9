"""Making the words that memories lack: of rows that an earlier release wrote.

Until then such a memory is found by meaning alone. Words follow from what a memory says, so nothing
is asked, and nothing can fail but Postgres.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

import psycopg

from projections.read_model import ReadModel, name_every_subject, name_subjects
from projections.words.postings import packed_words
from schemas.errors import ReadModelUnavailable
from schemas.queries import load_queries

_LOG: Final = logging.getLogger(__name__)
_QUERIES: Final = load_queries("projections", "sql/words_repair.sql")

BATCH_MAX: Final = 200
"""Memories of one transaction, whose rows the projector waits for: some 50 ms."""

_POLL_S: Final = 60.0
"""A projector of an earlier release may run beside this one for a while, and write such rows."""


class WordsRepair:
    """Makes lacking words, in batches, as long as there are any.

    Args:
        read_model: the tables.
        poll_s: how often to look for lacking ones, in seconds.
    """

    def __init__(self, read_model: ReadModel, *, poll_s: float = _POLL_S) -> None:
        self._read_model = read_model
        self._poll_s = poll_s

    async def run(self, stop: asyncio.Event) -> None:
        """Make words until ``stop`` is set; no failure of the store ends it."""
        while not stop.is_set():
            try:
                made = await self.round()
            except (psycopg.Error, ReadModelUnavailable) as error:
                _LOG.warning("making words that are lacking: %s; trying again", error)
                made = 0
            if not made:
                await self._pause(stop)

    async def round(self) -> int:
        """Make the words of one batch, and return of how many memories.

        Raises:
            ReadModelUnavailable: the read model cannot be reached.
        """
        async with self._read_model.connection() as connection, connection.transaction():
            await name_every_subject(connection)
            cursor = await connection.execute(_QUERIES["find_wordless"], {"limit": BATCH_MAX})
            subjects = sorted({subject for (subject,) in await cursor.fetchall()})
            if not subjects:
                return 0
            await name_subjects(connection, subjects)
            asked = {"subjects": subjects, "limit": BATCH_MAX}
            cursor = await connection.execute(_QUERIES["take_wordless"], asked)
            taken = await cursor.fetchall()
            made = {
                "subjects": [subject for subject, _, _ in taken],
                "memory_ids": [memory_id for _, memory_id, _ in taken],
                "words": [
                    packed_words(content, self._read_model.dimension) for _, _, content in taken
                ],
            }
            await connection.execute(_QUERIES["give_words"], made)
        if taken:
            _LOG.info("made the words of %d memories", len(taken))
        return len(taken)

    async def _pause(self, stop: asyncio.Event) -> None:
        try:
            async with asyncio.timeout(self._poll_s):
                await stop.wait()
        except TimeoutError:
            return
