"""Recall: the memories of one subject that bear on a question.

What is served whatever is asked comes first: what a person pinned, the user's safety, how the
assistant should behave. Then what the question brings, by meaning and by words. All memories that
hold are weighed, over the rows of the subject alone, so nothing is missed. The threshold is
absolute: a best hit that is not near enough is no hit, and nothing is scaled to look like one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cache, partial
from typing import Final
from uuid import UUID, uuid4

import numpy as np

from projections.near_duplicates import Saying
from projections.positions import TurnPosition
from projections.read_model import ReadModel
from projections.reading import Row
from projections.recall_explaining import explain as explained
from projections.recall_explaining import listed
from projections.recall_explanation import Candidate, Explanation, Verdict
from projections.recall_held import NOTHING_HELD, Held
from projections.recall_policies import Policies
from projections.recall_question import (
    BUDGET_TOKENS_MAX,
    LIMIT_DEFAULT,
    LIMIT_MAX,
    QUERY_CHARACTERS_MAX,
    Question,
)
from projections.recall_rows import SubjectRows
from projections.recall_selection import Selected, rank, select, tokens_of_frame
from projections.recall_threshold import threshold_for
from projections.recall_waiting import WAIT_S, wait_closed
from projections.recall_weights import MEANING_WEIGHT, Weighed, weigh
from projections.recalled import (
    EmptyReason,
    LeftOut,
    RecalledMemory,
    RecallResult,
    TokenUse,
)
from projections.slot_topics import SlotTopics
from projections.tokens import EstimatedTokens
from projections.words.analysis import question_words
from schemas.clock import utc_now
from schemas.errors import EmbedderMismatch
from schemas.partitioning import partition_for
from schemas.ports import Embedder, TokenCounter
from schemas.slots import Slot

__all__ = [
    "BUDGET_TOKENS_MAX",
    "LIMIT_DEFAULT",
    "LIMIT_MAX",
    "QUERY_CHARACTERS_MAX",
    "WAIT_S",
    "Candidate",
    "EmptyReason",
    "Explanation",
    "LeftOut",
    "Recall",
    "RecallResult",
    "RecalledMemory",
    "TokenUse",
    "Verdict",
]

_POLICIES: Final = Policies()
_TOKENS: Final = EstimatedTokens()


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
        policies: Policies = _POLICIES,
        tokens: TokenCounter = _TOKENS,
        meaning_weight: float = MEANING_WEIGHT,
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
            policies: how memories are chosen, for each tenant.
            tokens: counts the tokens of the block of notes.
            meaning_weight: what meaning counts for in relevance; words count for the rest.

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
        self._policies = policies
        self._tokens = tokens
        self._frame_tokens = tokens_of_frame(tokens)
        self._meaning_weight = meaning_weight
        self._topics = SlotTopics(embedder)

    async def recall(
        self,
        subject: UUID | None,
        query: str,
        *,
        tenant: str | None = None,
        limit: int = LIMIT_DEFAULT,
        min_similarity: float | None = None,
        budget_tokens: int | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        at_least: str | None = None,
        explain: bool = False,
    ) -> RecallResult:
        """Return the subject's memories that bear on ``query``.

        Without ``as_of`` and ``known_at``, what holds now: never what was superseded, retracted or
        has expired.

        Args:
            subject: whose memories; ``None`` for a user of whom nothing was ever heard.
            query: the question, not blank, at most ``QUERY_CHARACTERS_MAX`` characters.
            tenant: whose policy chooses; ``None`` for the default one.
            limit: the most memories that the question may bring, 1 to ``LIMIT_MAX``; what is served
                whatever is asked comes on top, within the policy's caps.
            min_similarity: the cosine from which meaning is near enough, -1 to 1.
            budget_tokens: the most tokens of the block of notes; ``None`` takes the policy's.
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
        name, policy = self._policies.of(tenant)
        question = Question.checked(
            query,
            limit=limit,
            min_similarity=self._threshold(query) if min_similarity is None else min_similarity,
            budget_tokens=policy.budget_tokens if budget_tokens is None else budget_tokens,
            as_of=as_of,
            known_at=known_at,
        )
        position = None if at_least is None else TurnPosition.parse("at_least", at_least)
        partition = 0 if subject is None else partition_for(subject, self._partitions)
        if subject is not None and position is not None:
            await wait_closed(
                self._read_model, subject, position, partition=partition, wait_s=self._wait_s
            )
        now = self._clock()
        rows: SubjectRows | None = None
        held: Held = NOTHING_HELD
        probable: Sequence[Row] = ()
        topics: dict[Slot, float] = {}
        words = cache(partial(question_words, question.text))
        if subject is not None:
            rows = SubjectRows(
                read_model=self._read_model,
                subject=subject,
                partition=partition,
                question=question,
                now=now,
            )
            vector = (await self._embedder.embed([question.text]))[0]
            topics = await self._topics.asked_for(vector, min_similarity=question.min_similarity)
            # While Postgres works: what awaits its answer lets the event loop go on.
            asyncio.get_running_loop().call_soon(words)
            held, probable = await rows.held(vector, topics)
        weighed = weigh(
            held,
            words(),
            policy,
            min_similarity=question.min_similarity,
            topics=topics,
            now_s=(as_of or known_at or now).timestamp(),
            meaning_weight=self._meaning_weight,
        )
        ranked = rank(weighed, policy, limit=limit)
        sayings: dict[int, Saying] = {}
        while True:
            if rows is not None:
                wanted = [*ranked.always, *ranked.wanted]
                wanted += listed(weighed, ranked) if explain else []
                unread = [place for place in dict.fromkeys(wanted) if place not in sayings]
                sayings |= await rows.whole(held, unread, probable)
            selected = select(
                ranked,
                sayings,
                weighed,
                policy,
                limit=limit,
                budget_tokens=question.budget_tokens,
                frame_tokens=self._frame_tokens,
                counter=self._tokens,
            )
            further = ranked.reading_on() if selected.crowded else None
            if further is None:
                break
            ranked = further
        return RecallResult(
            recall_id=uuid4(),
            memories=selected.memories,
            reason=_reason(weighed, selected),
            unsearchable=len(held) - held.searched,
            policy=name,
            generation=self._read_model.generation,
            position=_position(partition, held.turns_next, held.first_open),
            left_out=selected.left_out,
            tokens=selected.tokens,
            explanation=explained(
                question,
                weighed,
                ranked,
                selected,
                sayings,
                policy=policy,
                embedder=self._embedder.name,
            )
            if explain
            else None,
        )

    def _threshold(self, query: str) -> float:
        return threshold_for(query, embedder=self._embedder.name, usual=self._min_similarity)


_SERVED: Final = frozenset(
    {Verdict.PINNED, Verdict.SAFETY, Verdict.RULE, Verdict.SIMILAR, Verdict.WORDS, Verdict.TOPIC}
)


def _reason(weighed: Weighed, selected: Selected) -> EmptyReason | None:
    """Return why the question brought nothing, whatever else is served."""
    held = weighed.held
    near = np.flatnonzero(weighed.near).tolist()
    if any(selected.verdicts.get(place) in _SERVED for place in near):
        return None
    if not len(held):
        return EmptyReason.NONE_STORED
    if near:
        return EmptyReason.NONE_WITHIN_BUDGET
    return EmptyReason.NONE_ABOVE_THRESHOLD if held.searched else EmptyReason.NONE_SEARCHABLE


def _position(partition: int, turns_next: int | None, first_open: int | None) -> str | None:
    """Return the last position before the first turn that this answer may lack."""
    bounds = [offset for offset in (turns_next, first_open) if offset is not None]
    if turns_next is None or min(bounds) == 0:
        return None
    return str(TurnPosition(partition=partition, offset=min(bounds) - 1))
