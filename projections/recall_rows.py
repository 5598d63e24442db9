"""Asking the read model what recall needs: what weighs all memories, and some of them whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from projections import reading
from projections.near_duplicates import Saying
from projections.read_model import ReadModel
from projections.reading import Row, provenance_of
from projections.recall_held import Held, held_of
from projections.recall_question import Question
from projections.recalled import RecalledMemory
from projections.vectors import HalfVectors, halves_of
from schemas.database import load_queries
from schemas.memory import Confidence, MemoryKind, Precision, Source
from schemas.ports import Vectors
from schemas.slots import Slot
from schemas.topics import TURNS

_QUERIES: Final = load_queries("projections", "sql/recall.sql")


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

    async def held(self, vector: Vectors) -> Held:
        """Return what weighs all memories that hold, against the question's vector.

        Raises:
            ReadModelUnavailable: the read model cannot be reached.
        """
        (row,) = await self._read(
            "weigh_now" if self.question.of_now else "weigh_then",
            vectors=HalfVectors([halves_of(vector)]),
            turns_topic=TURNS,
            partition=self.partition,
        )
        return held_of(row)

    async def whole(self, held: Held, places: Sequence[int]) -> dict[int, Saying]:
        """Return the memories at some places; one that is gone or has ended since is missing.

        Raises:
            ReadModelUnavailable: the read model cannot be reached.
        """
        if not places:
            return {}
        at = {held.memory_id(place): place for place in places}
        found: dict[int, Saying] = {}
        statement = "serve_now" if self.question.of_now else "serve_then"
        for row in await self._read(statement, memory_ids=list(at)):
            place = at[row["memory_id"]]
            cosine = float(held.cosine[place])
            score = None if cosine != cosine else cosine  # noqa: PLR0124 - only NaN differs from itself
            found[place] = Saying.of(_memory(row, score), row["embedding"])
        return found

    async def _read(self, statement: str, **parameters: object) -> list[Row]:
        question = self.question
        asked: dict[str, object] = {
            "subject": self.subject,
            "model": self.read_model.embedder,
            **parameters,
        }
        if question.of_now:
            asked["now"] = self.now
        else:
            asked |= {"as_of": question.as_of, "known_at": question.known_at}
        return await reading.read_rows(self.read_model, self.subject, _QUERIES[statement], asked)


def _memory(row: Row, score: float | None) -> RecalledMemory:
    return RecalledMemory(
        memory_id=row["memory_id"],
        lineage_id=row["lineage_id"],
        score=score,
        kind=MemoryKind(row["kind"]),
        content=row["content"],
        slot=Slot(row["slot"]),
        about=row["about"],
        importance=row["importance"],
        confidence=Confidence(row["confidence"]),
        source=Source(row["source"]),
        provenance=provenance_of(row["provenance"]),
        quote=row["quote"],
        turn_id=row["turn_id"],
        valid_from=row["valid_from"].astimezone(UTC),
        valid_from_precision=Precision(row["valid_from_precision"]),
        valid_to=None if row["valid_to"] is None else row["valid_to"].astimezone(UTC),
        recorded_at=row["recorded_at"].astimezone(UTC),
        pinned=row["pinned"],
    )
