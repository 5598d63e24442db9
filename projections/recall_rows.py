"""Asking the read model what recall needs: what weighs all memories, and some of them whole."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from projections import reading
from projections.near_duplicates import Saying
from projections.read_model import ReadModel
from projections.reading import Row, provenance_of
from projections.recall_held import Held, held_of, wanted_marks
from projections.recall_question import Question
from projections.recalled import RecalledMemory
from projections.vectors import HalfVectors, halves_of
from schemas.memory import Confidence, MemoryKind, Precision, Source
from schemas.ports import Vectors
from schemas.queries import load_queries
from schemas.slots import Slot
from schemas.topics import TURNS

PROBABLE_BEYOND_LIMIT: Final = 20
"""How many more are read at once than a question may bring: what is served whatever is asked, and
what is near in meaning, of which words may lift some above others."""

_QUERIES: Final = load_queries("projections", "sql/recall.sql")

# By what a row says: making a member out of its value takes ten times as long as looking it up.
_KINDS: Final = {kind.value: kind for kind in MemoryKind}
_SLOTS: Final = {slot.value: slot for slot in Slot}
_CONFIDENCES: Final = {confidence.value: confidence for confidence in Confidence}
_SOURCES: Final = {source.value: source for source in Source}
_PRECISIONS: Final = {precision.value: precision for precision in Precision}


@dataclass(frozen=True, kw_only=True, slots=True)
class SubjectRows:
    """One subject's rows at the moment that a question asks for.

    Attributes:
        read_model: the tables.
        subject: the subject.
        partition: its partition.
        question: the question.
        now: the moment at which it is asked.
    """

    read_model: ReadModel
    subject: UUID
    partition: int
    question: Question
    now: datetime

    async def held(
        self, vector: Vectors, topics: Collection[Slot] = ()
    ) -> tuple[Held, Sequence[Row]]:
        """Return what weighs all memories that hold, against the question's vector.

        Args:
            vector: the question's, of shape ``(dimension,)``.
            topics: the slots whose topic is asked for.

        Returns:
            What weighs them, and the rows of those that are most probably served.

        Raises:
            ReadModelUnavailable: the read model cannot be reached.
        """
        asked = self._asked() | {
            "vectors": HalfVectors([halves_of(vector)]),
            "turns_topic": TURNS,
            "partition": self.partition,
        }
        if not self.question.of_now:
            (first,) = await self._read("weigh_then", asked)
            return held_of(first), ()
        marks = wanted_marks(topics)
        asked |= {
            "min_similarity": self.question.min_similarity,
            "wanted_low": marks & 0xFF,
            "wanted_high": marks >> 8,
            "probable": self.question.limit + PROBABLE_BEYOND_LIMIT,
        }
        first, *probable = await reading.read_self_named_rows(
            self.read_model, _QUERIES["weigh_now"], asked
        )
        return held_of(first), probable

    async def whole(
        self, held: Held, places: Sequence[int], probable: Sequence[Row]
    ) -> dict[int, Saying]:
        """Return the memories at some places; one that is gone or has ended since is missing.

        Args:
            held: what weighs them.
            places: the places.
            probable: rows that :meth:`held` returned; others are read.

        Raises:
            ReadModelUnavailable: the read model cannot be reached.
        """
        at = {held.memory_id(place): place for place in places}
        rows = [row for row in probable if row["memory_id"] in at]
        lacking = at.keys() - {row["memory_id"] for row in rows}
        if lacking:
            statement = "serve_now" if self.question.of_now else "serve_then"
            rows += await self._read(statement, self._asked() | {"memory_ids": list(lacking)})
        return {
            at[row["memory_id"]]: _saying(row, float(held.cosine[at[row["memory_id"]]]))
            for row in rows
        }

    def _asked(self) -> dict[str, object]:
        question = self.question
        asked: dict[str, object] = {"subject": self.subject, "model": self.read_model.embedder}
        if question.of_now:
            return asked | {"now": self.now}
        return asked | {"as_of": question.as_of, "known_at": question.known_at}

    async def _read(self, statement: str, asked: dict[str, object]) -> list[Row]:
        return await reading.read_rows(self.read_model, self.subject, _QUERIES[statement], asked)


def _saying(row: Row, cosine: float) -> Saying:
    score = None if math.isnan(cosine) else cosine
    return Saying(memory=_memory(row, score), vector=row["embedding"])


def _memory(row: Row, score: float | None) -> RecalledMemory:
    return RecalledMemory(
        memory_id=row["memory_id"],
        lineage_id=row["lineage_id"],
        score=score,
        kind=_KINDS[row["kind"]],
        content=row["content"],
        slot=_SLOTS[row["slot"]],
        about=row["about"],
        importance=row["importance"],
        confidence=_CONFIDENCES[row["confidence"]],
        source=_SOURCES[row["source"]],
        provenance=provenance_of(row["provenance"]),
        quote=row["quote"],
        turn_id=row["turn_id"],
        valid_from=row["valid_from"].astimezone(UTC),
        valid_from_precision=_PRECISIONS[row["valid_from_precision"]],
        valid_to=None if row["valid_to"] is None else row["valid_to"].astimezone(UTC),
        recorded_at=row["recorded_at"].astimezone(UTC),
        pinned=row["pinned"],
    )
