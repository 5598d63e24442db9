"""Recall: the memories of one subject that are near to a question.

Distances are exact, over the rows of the subject alone. The threshold is absolute: a best hit that
is not near enough is no hit, and nothing is scaled to look like one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final
from uuid import UUID, uuid4

from projections.positions import TurnPosition
from projections.read_model import ReadModel
from projections.reading import Row, provenance_of, read_rows
from projections.vectors import HalfVectors, halves_of
from schemas.clock import utc_now
from schemas.database import load_queries
from schemas.errors import EmbedderMismatch, InvalidInput, NotCaughtUp
from schemas.memory import Confidence, MemoryKind, Precision, Provenance, Source
from schemas.partitioning import partition_for
from schemas.ports import Embedder, Vectors
from schemas.slots import Slot
from schemas.text import clean_text
from schemas.topics import TURNS

POLICY: Final = "similarity-1"
"""Serves what is at or above the threshold, the nearest first."""

LIMIT_DEFAULT: Final = 10
LIMIT_MAX: Final = 100
QUERY_CHARACTERS_MAX: Final = 8_192
WAIT_S: Final = 5.0
"""How long ``at_least`` waits before it gives up."""

_QUERIES: Final = load_queries("projections", "sql/recall.sql")
_POLL_FIRST_S: Final = 0.01
_POLL_MAX_S: Final = 0.03
"""A turn is projected within 50 to 100 ms: a longer pause would be felt, a shorter one costs."""


class EmptyReason(StrEnum):
    """Why a recall served nothing."""

    NONE_STORED = "none_stored"
    """Nothing of this user is held to be true (at the moment asked for)."""
    NONE_ABOVE_THRESHOLD = "none_above_threshold"
    """Something is, but nothing near enough to the question."""
    NONE_SEARCHABLE = "none_searchable"
    """Something is, but all of it still waits for its vector, so that nothing was compared."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RecalledMemory:
    """One memory that was served.

    Attributes:
        memory_id: the version.
        lineage_id: the ``memory_id`` of the lineage's first version.
        score: cosine similarity of question and content, at most 1.
        kind, slot, about, content, importance, confidence, source, provenance: as in a memory.
        quote: the exact words that caused it; empty where no turn did.
        turn_id: the turn they were said in, or the record that caused it.
        valid_from: since when it is true.
        valid_from_precision: how exactly that was told.
        valid_to: until when it was true, as far as it was known at the moment asked for.
        recorded_at: when the ledger learnt it.
    """

    memory_id: UUID
    lineage_id: UUID
    score: float
    kind: MemoryKind
    content: str
    slot: Slot
    about: str
    importance: int
    confidence: Confidence
    source: Source
    provenance: Provenance | None
    quote: str
    turn_id: UUID
    valid_from: datetime
    valid_from_precision: Precision
    valid_to: datetime | None
    recorded_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """Why a recall served what it served.

    Attributes:
        embedder: the model that the scores are cosines of; they hold within it alone.
        min_similarity: the threshold that was applied.
        limit: the most memories that could be served.
        stored: memories held to be true at the moment asked for.
        searched: those of them that have a vector of this model.
        nearest: the best score of all, served or not; ``None`` where nothing was searched.
    """

    embedder: str
    min_similarity: float
    limit: int
    stored: int
    searched: int
    nearest: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallResult:
    """What a recall served.

    Attributes:
        recall_id: names this answer; a turn may say which one it was answered with.
        memories: nearest first; equal scores by id.
        reason: why ``memories`` is empty; ``None`` where it is not.
        unsearchable: memories held to be true that wait for a vector of this embedder, so that no
            question finds them yet; 0 unless the embedder failed when they were stored.
        policy: the name of the rule that chose.
        generation: the generation that was asked.
        position: every turn of the subject at or below it had closed; comparable with the position
            that ``POST /v1/turns`` answers. ``None`` before the first turn.
        explanation: if it was asked for.
    """

    recall_id: UUID
    memories: tuple[RecalledMemory, ...]
    reason: EmptyReason | None
    unsearchable: int
    policy: str
    generation: str
    position: str | None
    explanation: Explanation | None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Question:
    """A recall's arguments, after they were checked."""

    text: str
    limit: int
    min_similarity: float
    as_of: datetime | None
    known_at: datetime | None


class Recall:
    """Answers questions from the read model of one generation."""

    def __init__(
        self,
        read_model: ReadModel,
        embedder: Embedder,
        *,
        partitions: int,
        min_similarity: float | None = None,
        wait_s: float = WAIT_S,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        """Wire a recall.

        Args:
            read_model: the generation's tables.
            embedder: the embedder they were built with.
            partitions: number of partitions of the topics of subjects' data.
            min_similarity: the threshold where a question names none; ``None`` takes the
                embedder's.
            wait_s: how long ``at_least`` waits, in seconds.
            clock: the current time, aware.

        Raises:
            EmbedderMismatch: the read model was built with another embedder.
        """
        if (embedder.name, embedder.dimension) != (read_model.embedder, read_model.dimension):
            raise EmbedderMismatch(
                f"the read model was built with {read_model.embedder!r}, questions would be "
                f"embedded with {embedder.name!r}: use the embedder it was built with"
            )
        self._read_model = read_model
        self._embedder = embedder
        self._partitions = partitions
        self._min_similarity = embedder.min_similarity if min_similarity is None else min_similarity
        self._wait_s = wait_s
        self._clock = clock

    async def recall(
        self,
        subject: UUID | None,
        query: str,
        *,
        limit: int = LIMIT_DEFAULT,
        min_similarity: float | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        at_least: str | None = None,
        explain: bool = False,
    ) -> RecallResult:
        """Return the subject's memories that are near to ``query``.

        Without ``as_of`` and ``known_at``, what holds now: never what was superseded, retracted or
        has expired.

        Args:
            subject: whose memories; ``None`` for a user of whom nothing was ever heard.
            query: the question, not blank, at most ``QUERY_CHARACTERS_MAX`` characters.
            limit: the most memories to serve, 1 to ``LIMIT_MAX``.
            min_similarity: the cosine from which a memory is near enough, -1 to 1.
            as_of: what was true then: begun at or before it, not yet ended, not retracted.
            known_at: only what the ledger had recorded then; ends and retractions that it learnt
                later are not known.
            at_least: a position; wait until the subject's own turns up to it are closed.
            explain: tell why.

        Raises:
            InvalidInput: an argument cannot be used.
            NotCaughtUp: the turns up to ``at_least`` were not closed in time.
            EmbeddingFailed: the question could not be embedded.
            ReadModelUnavailable: the read model cannot be reached.
        """
        question = _Question(
            text=clean_text("query", query, max_characters=QUERY_CHARACTERS_MAX),
            limit=_checked_limit(limit),
            min_similarity=self._threshold(min_similarity),
            as_of=_checked_moment("as_of", as_of),
            known_at=_checked_moment("known_at", known_at),
        )
        position = None if at_least is None else TurnPosition.parse("at_least", at_least)
        if subject is None:
            return self._result(question, [_NOTHING], partition=0, explain=explain)
        partition = partition_for(subject, self._partitions)
        if position is not None:
            await self._wait_closed(subject, partition, position)
        vector = (await self._embedder.embed([question.text]))[0]
        rows = await self._search(subject, partition, question, vector)
        return self._result(question, rows, partition=partition, explain=explain)

    async def _search(
        self, subject: UUID, partition: int, question: _Question, vector: Vectors
    ) -> list[Row]:
        now = question.as_of is None and question.known_at is None
        parameters = {
            "subject": subject,
            "model": self._embedder.name,
            "vectors": HalfVectors([halves_of(vector)]),
            "min_similarity": question.min_similarity,
            "limit": question.limit,
            "turns_topic": TURNS,
            "partition": partition,
        }
        if now:
            parameters["now"] = self._clock()
        else:
            parameters |= {"as_of": question.as_of, "known_at": question.known_at}
        query = _QUERIES["recall_now" if now else "recall_then"]
        return await read_rows(self._read_model, subject, query, parameters)

    async def _wait_closed(self, subject: UUID, partition: int, position: TurnPosition) -> None:
        if position.partition != partition:
            raise InvalidInput(
                field="at_least",
                problem=f"is a position in partition {position.partition}, where this user has "
                "no turns",
                remedy="send the position of a turn of the same user",
            )
        deadline = time.monotonic() + self._wait_s
        pause_s = _POLL_FIRST_S
        while not await self._turns_closed(subject, position):
            if time.monotonic() + pause_s > deadline:
                raise NotCaughtUp(
                    f"the turns up to position {position} were not processed within "
                    f"{self._wait_s:g} s: ask again, or leave out at_least"
                )
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, _POLL_MAX_S)

    async def _turns_closed(self, subject: UUID, position: TurnPosition) -> bool:
        parameters = {
            "subject": subject,
            "turns_topic": TURNS,
            "partition": position.partition,
            "offset": position.offset,
        }
        rows = await read_rows(self._read_model, subject, _QUERIES["turns_closed"], parameters)
        return bool(rows[0]["closed"])

    def _threshold(self, min_similarity: float | None) -> float:
        if min_similarity is None:
            return self._min_similarity
        if not -1 <= min_similarity <= 1:  # NaN is not, either
            raise InvalidInput(
                field="min_similarity",
                problem=f"is {min_similarity}, which no cosine can be",
                remedy="send a number from -1 to 1, or leave it out",
            )
        return min_similarity

    def _result(
        self,
        question: _Question,
        rows: list[Row],
        *,
        partition: int,
        explain: bool,
    ) -> RecallResult:
        first = rows[0]
        memories = tuple(_memory(row) for row in rows if row["memory_id"] is not None)
        return RecallResult(
            recall_id=uuid4(),
            memories=memories,
            reason=_reason(first, served=len(memories)),
            unsearchable=first["stored"] - first["searched"],
            policy=POLICY,
            generation=self._read_model.generation,
            position=_position(partition, first["turns_next"], first["first_open"]),
            explanation=Explanation(
                embedder=self._embedder.name,
                min_similarity=question.min_similarity,
                limit=question.limit,
                stored=first["stored"],
                searched=first["searched"],
                nearest=first["nearest"],
            )
            if explain
            else None,
        )


_NOTHING: Final[Row] = {
    "stored": 0,
    "searched": 0,
    "nearest": None,
    "turns_next": None,
    "first_open": None,
    "memory_id": None,
}
"""The row that is found of a user of whom nothing was ever heard."""


def _reason(totals: Row, *, served: int) -> EmptyReason | None:
    if served:
        return None
    if not totals["stored"]:
        return EmptyReason.NONE_STORED
    return EmptyReason.NONE_ABOVE_THRESHOLD if totals["searched"] else EmptyReason.NONE_SEARCHABLE


def _position(partition: int, turns_next: int | None, first_open: int | None) -> str | None:
    """Return the last position before the first turn that this answer may lack."""
    bounds = [offset for offset in (turns_next, first_open) if offset is not None]
    if turns_next is None or min(bounds) == 0:
        return None
    return str(TurnPosition(partition=partition, offset=min(bounds) - 1))


def _memory(row: Row) -> RecalledMemory:
    return RecalledMemory(
        memory_id=row["memory_id"],
        lineage_id=row["lineage_id"],
        score=min(row["score"], 1.0),
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
    )


def _checked_limit(limit: int) -> int:
    if not 1 <= limit <= LIMIT_MAX:
        raise InvalidInput(
            field="limit", problem=f"is {limit}", remedy=f"send a number from 1 to {LIMIT_MAX}"
        )
    return limit


def _checked_moment(field: str, moment: datetime | None) -> datetime | None:
    if moment is not None and moment.tzinfo is None:
        raise InvalidInput(
            field=field,
            problem="names no time zone",
            remedy="append Z for UTC or an offset such as +01:00",
        )
    return moment
