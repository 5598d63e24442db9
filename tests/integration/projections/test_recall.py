"""What recall serves, what it never serves, and why, on a real Postgres."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import pytest

from projections.read_model import ReadModel
from projections.recall import EmptyReason, Recall, RecallResult
from schemas.errors import EmbedderMismatch, InputTooLarge, InvalidInput, NotCaughtUp
from schemas.memory import Memory, MemoryKind
from schemas.slots import Slot
from tests.support.log_writer import NOON, at
from tests.support.stored import (
    QUESTION,
    AngleEmbedder,
    Stored,
    settled,
    stored,
    subject_in,
)


def _play(database_url: str, act: Callable[[Stored], Awaitable[None]], **options: Any) -> None:
    async def play() -> None:
        async with stored(database_url, **options) as tables:
            await act(tables)

    asyncio.run(play())


def _ids(memories: Iterable[Any]) -> list[UUID]:
    return [memory.memory_id for memory in memories]


class TestThreshold:
    def test_is_absolute_and_the_best_of_bad_hits_is_none(self, postgres_url: str) -> None:
        async def act(tables: Stored) -> None:
            subject = uuid4()
            await tables.add(subject, cosine=0.49)
            lone = await tables.recall.recall(subject, QUESTION)
            assert (lone.memories, lone.reason) == ((), EmptyReason.NONE_ABOVE_THRESHOLD)

            at_threshold = await tables.add(subject, cosine=0.51)
            best = await tables.add(subject, cosine=0.9)
            result = await tables.recall.recall(subject, QUESTION)
            assert _ids(result.memories) == _ids([best, at_threshold])
            # Scores are cosines, not shares of the best one; halves round by 5e-4.
            scores = [memory.score for memory in result.memories]
            assert scores == pytest.approx([0.9, 0.51], abs=1e-3)
            assert result.reason is None

        _play(postgres_url, act)

    def test_of_the_question_wins_over_the_embedders(self, postgres_url: str) -> None:
        async def act(tables: Stored) -> None:
            subject = uuid4()
            for cosine in (-0.9, 0.1, 0.6):
                await tables.add(subject, cosine=cosine)
            for threshold, served in ((-1, 3), (0, 2), (0.55, 1), (0.7, 0)):
                result = await tables.recall.recall(subject, QUESTION, min_similarity=threshold)
                assert len(result.memories) == served

        _play(postgres_url, act)

    def test_that_is_no_cosine_is_refused(self, postgres_url: str) -> None:
        async def act(tables: Stored) -> None:
            for threshold in (1.01, -2, float("nan"), float("inf")):
                with pytest.raises(InvalidInput, match="min_similarity"):
                    await tables.recall.recall(uuid4(), QUESTION, min_similarity=threshold)

        _play(postgres_url, act)


class TestReason:
    def test_tells_nothing_stored_from_nothing_near(self, postgres_url: str) -> None:
        async def act(tables: Stored) -> None:
            subject = uuid4()
            for nobody in (subject, None):
                result = await tables.recall.recall(nobody, QUESTION, explain=True)
                assert result.reason is EmptyReason.NONE_STORED
                assert result.explanation is not None
                assert (result.explanation.stored, result.explanation.nearest) == (0, None)

            await tables.add(subject, cosine=0.2)
            result = await tables.recall.recall(subject, QUESTION, explain=True)
            assert result.reason is EmptyReason.NONE_ABOVE_THRESHOLD
            assert result.explanation is not None
            assert result.explanation.nearest == pytest.approx(0.2, abs=1e-3)
            assert result.explanation.min_similarity == 0.5
            assert (result.explanation.stored, result.explanation.searched) == (1, 1)

        _play(postgres_url, act)

    def test_a_vector_that_cannot_be_compared_is_counted_and_never_served(
        self, postgres_url: str
    ) -> None:
        async def act(tables: Stored) -> None:
            subject = uuid4()
            await tables.add(subject, model="another-model")
            await tables.add(subject, cosine=None)
            await tables.add(subject, vector=np.zeros(4, dtype=np.float32))
            result = await tables.recall.recall(subject, QUESTION, min_similarity=-1)
            assert result.memories == ()
            assert result.reason is EmptyReason.NONE_SEARCHABLE
            assert result.unsearchable == 3

            best = await tables.add(subject)
            result = await tables.recall.recall(subject, QUESTION, min_similarity=-1)
            assert _ids(result.memories) == [best.memory_id]
            assert result.unsearchable == 3

        _play(postgres_url, act)


class TestServing:
    def test_carries_where_a_memory_came_from(self, postgres_url: str) -> None:
        async def act(tables: Stored) -> None:
            subject = uuid4()
            version = await tables.add(
                subject,
                content="Lives in Zürich.",
                quote="I live in Zürich",
                slot=Slot.RESIDENCE,
                kind=MemoryKind.SEMANTIC,
                about="sister",
                importance=4,
                valid_from=at(-10),
                recorded_at=at(-5),
            )
            (served,) = (await tables.recall.recall(subject, QUESTION)).memories
            for name in (
                "memory_id", "lineage_id", "content", "quote", "slot", "kind", "about",
                "importance", "confidence", "source", "turn_id", "valid_from", "valid_to",
                "recorded_at",
            ):  # fmt: skip
                assert getattr(served, name) == getattr(version, name), name
            assert served.score == pytest.approx(1)
            assert served.score is not None
            assert served.score <= 1

        _play(postgres_url, act)

    def test_is_limited_and_ordered_by_score_then_id(self, postgres_url: str) -> None:
        async def act(tables: Stored) -> None:
            subject = uuid4()
            equal = [await tables.add(subject, cosine=0.8) for _ in range(5)]
            best = await tables.add(subject, cosine=0.95)
            expected = [best.memory_id, *sorted(_ids(equal))]
            assert _ids((await tables.recall.recall(subject, QUESTION)).memories) == expected
            limited = await tables.recall.recall(subject, QUESTION, limit=3)
            assert _ids(limited.memories) == expected[:3]
            for limit in (0, 101, -1):
                with pytest.raises(InvalidInput, match="limit"):
                    await tables.recall.recall(subject, QUESTION, limit=limit)

        _play(postgres_url, act)

    def test_never_brings_back_what_ceased_to_hold(self, postgres_url: str) -> None:
        async def act(tables: Stored) -> None:
            subject = uuid4()
            superseded = await tables.add(subject)
            await tables.close(subject, superseded, valid_to=at(-1), recorded_at=NOON)
            # Also where the end lies ahead: the clock that set it may run fast.
            ahead = await tables.add(subject)
            await tables.close(subject, ahead, valid_to=at(3), recorded_at=NOON)
            retracted = await tables.add(subject)
            await tables.retract(subject, retracted, recorded_at=NOON)
            await tables.add(subject, expires_at=NOON)
            await tables.add(subject, valid_from=at(-9), valid_to=at(-2))
            gone = await tables.recall.recall(subject, QUESTION, min_similarity=-1)
            assert (gone.memories, gone.reason) == ((), EmptyReason.NONE_STORED)

            holds = [
                await tables.add(subject, expires_at=at(1)),
                await tables.add(subject, valid_from=at(2)),
            ]
            result = await tables.recall.recall(subject, QUESTION)
            assert sorted(_ids(result.memories)) == sorted(_ids(holds))

        _play(postgres_url, act)

    def test_refuses_a_question_that_is_none_or_too_long(self, postgres_url: str) -> None:
        async def act(tables: Stored) -> None:
            for subject in (uuid4(), None):
                for query in ("", " \n", "a\0b", "\ud800"):
                    with pytest.raises(InvalidInput, match="query"):
                        await tables.recall.recall(subject, query)
                with pytest.raises(InputTooLarge, match="query"):
                    await tables.recall.recall(subject, "x" * 8193)

        _play(postgres_url, act)

    def test_refuses_an_embedder_that_the_tables_were_not_built_with(
        self, postgres_url: str
    ) -> None:
        class Other(AngleEmbedder):
            name = "other"

        async def act(tables: Stored) -> None:
            with pytest.raises(EmbedderMismatch, match=r"'angle'.*'other'"):
                Recall(tables.read_model, Other(), partitions=4)

        _play(postgres_url, act)


class _Lineage:
    """One residence over the years: A, then B, then a late word on what was between (X).

    ====  ==========  ========  ===========  ==================
    is    true from   until     recorded at  end recorded at
    ====  ==========  ========  ===========  ==================
    A     0           20        1            31 (before: 40, at 41, then moved by X)
    X     20          40        51
    B     40          open      41
    R     0           open      2            retracted at 60
    E     0           open      3            expires at 30
    S     5           open      6            M stands for it from 70 on, N from 80 on
    M     50          open      70           N stands for it from 80 on
    N     55          open      80
    ====  ==========  ========  ===========  ==================
    """

    def __init__(self, subject: UUID) -> None:
        self.subject = subject
        self.names: dict[UUID, str] = {}

    async def store(self, tables: Stored) -> None:
        first = await self._add(tables, "A", valid_from=at(0), recorded_at=at(1))
        await tables.close(self.subject, first, valid_to=at(40), recorded_at=at(41))
        later = {"lineage_id": first.lineage_id}
        await self._add(tables, "B", valid_from=at(40), recorded_at=at(41), **later)
        await self._add(
            tables, "X", valid_from=at(20), valid_to=at(40), recorded_at=at(51), **later
        )
        await tables.close(self.subject, first, valid_to=at(20), recorded_at=at(51))
        wrong = await self._add(tables, "R", valid_from=at(0), recorded_at=at(2))
        await tables.retract(self.subject, wrong, recorded_at=at(60))
        await self._add(tables, "E", valid_from=at(0), recorded_at=at(3), expires_at=at(30))
        source = await self._add(tables, "S", valid_from=at(5), recorded_at=at(6))
        merged = await self._add(tables, "M", valid_from=at(50), recorded_at=at(70))
        await tables.merge(self.subject, source, into=merged, recorded_at=at(70))
        newer = await self._add(tables, "N", valid_from=at(55), recorded_at=at(80))
        for version in (source, merged):
            await tables.merge(self.subject, version, into=newer, recorded_at=at(80))

    async def _add(self, tables: Stored, name: str, **fields: Any) -> Memory:
        version = await tables.add(self.subject, **fields)
        self.names[version.memory_id] = name
        return version

    def named(self, result: RecallResult) -> str:
        return "".join(sorted(self.names[memory.memory_id] for memory in result.memories))


def _minutes(minutes: int | None) -> datetime | None:
    return None if minutes is None else at(minutes)


_SERVED: list[tuple[int | None, int | None, str]] = [
    (None, None, "BN"),
    # What was true then, with all that is known now.
    (-1, None, ""),
    (0, None, "AE"),
    (19, None, "AES"),
    (20, None, "ESX"),
    (29, None, "ESX"),
    (30, None, "SX"),
    (39, None, "SX"),
    (40, None, "BS"),
    (49, None, "BS"),
    (50, None, "BM"),
    (54, None, "BM"),
    (55, None, "BN"),
    (90, None, "BN"),
    # What was held to be true then.
    (None, 0, ""),
    (None, 1, "A"),
    (None, 2, "AR"),
    (None, 3, "AER"),
    (None, 30, "ARS"),
    (None, 40, "ARS"),
    (None, 41, "BRS"),
    (None, 51, "BRS"),
    (None, 59, "BRS"),
    (None, 60, "BS"),
    (None, 69, "BS"),
    (None, 70, "BM"),
    (None, 79, "BM"),
    (None, 80, "BN"),
    # What was thought, at the second time, to have been true at the first.
    (25, 3, "AER"),
    (25, 41, "AERS"),
    (25, 50, "AERS"),
    (25, 51, "ERSX"),
    (25, 60, "ESX"),
    (45, 40, "ARS"),
    (45, 41, "BRS"),
    (30, 50, "ARS"),
    (60, 75, "BM"),
]
"""What of :class:`_Lineage` is served, by ``as_of`` and ``known_at`` in minutes."""


class TestOtherTimes:
    def test_serve_what_was_true_and_what_was_known(self, postgres_url: str) -> None:
        async def act(tables: Stored) -> None:
            lineage = _Lineage(uuid4())
            await lineage.store(tables)
            served = []
            for as_of, known_at, names in _SERVED:
                result = await tables.recall.recall(
                    lineage.subject, QUESTION, as_of=_minutes(as_of), known_at=_minutes(known_at)
                )
                assert result.reason is (None if names else EmptyReason.NONE_STORED)
                served.append((as_of, known_at, lineage.named(result)))
            assert served == _SERVED

        _play(postgres_url, act, now=at(100))

    def test_do_not_show_an_end_that_was_learnt_later(self, postgres_url: str) -> None:
        async def act(tables: Stored) -> None:
            lineage = _Lineage(uuid4())
            await lineage.store(tables)
            for known_at, valid_to in ((1, None), (100, at(20))):
                result = await tables.recall.recall(
                    lineage.subject, QUESTION, as_of=at(10), known_at=at(known_at)
                )
                ends = {lineage.names[m.memory_id]: m.valid_to for m in result.memories}
                assert ends["A"] == valid_to

        _play(postgres_url, act, now=at(100))

    def test_without_a_zone_are_refused(self, postgres_url: str) -> None:
        async def act(tables: Stored) -> None:
            naive = NOON.replace(tzinfo=None)
            with pytest.raises(InvalidInput, match="as_of"):
                await tables.recall.recall(uuid4(), QUESTION, as_of=naive)
            with pytest.raises(InvalidInput, match="known_at"):
                await tables.recall.recall(uuid4(), QUESTION, known_at=naive)

        _play(postgres_url, act)


class TestIsolation:
    def test_a_connection_keeps_no_subject_after_an_answer(self, postgres_url: str) -> None:
        async def act(tables: Stored) -> None:
            subject = uuid4()
            await tables.add(subject)
            await tables.recall.recall(subject, QUESTION)
            assert await _visible(tables.read_model) == 0

        _play(postgres_url, act)


class TestCost:
    def test_of_an_answer_is_one_round_trip(self, postgres_url: str, tmp_path: Path) -> None:
        async def act(tables: Stored) -> None:
            subject = uuid4()
            await tables.add(subject)
            with (tmp_path / "trace").open("w+") as trace:
                async with tables.read_model.pool.connection() as connection:
                    connection.pgconn.trace(trace.fileno())
                await tables.recall.recall(subject, QUESTION)
                async with tables.read_model.pool.connection() as connection:
                    connection.pgconn.untrace()
                trace.seek(0)
                messages = trace.read()
            assert messages.count("ReadyForQuery") == 1
            # What weighs all that is held, and what is served of it.
            assert messages.count("DataRow") == 2

        _play(postgres_url, act)


async def _visible(read_model: ReadModel) -> int:
    async with read_model.connection() as connection:
        row = await (await connection.execute("SELECT count(*) FROM memories")).fetchone()
    assert row is not None
    return int(row[0])


class TestPosition:
    def test_is_the_last_one_before_the_first_open_turn(self, postgres_url: str) -> None:
        async def act(tables: Stored) -> None:
            subject = subject_in(2)
            assert (await tables.recall.recall(subject, QUESTION)).position is None
            await tables.turn(subject, 3, closing="stored")
            assert (await tables.recall.recall(subject, QUESTION)).position == "2:3"
            await tables.turn(subject, 7, closing=None)
            await tables.turn(subject, 9, closing="stored")
            assert (await tables.recall.recall(subject, QUESTION)).position == "2:6"
            await tables.turn(subject_in(2), 11, closing=None)
            await tables.close_turn(subject, 7)
            assert (await tables.recall.recall(subject, QUESTION)).position == "2:11"

        _play(postgres_url, act)

    def test_is_none_while_the_very_first_turn_is_open(self, postgres_url: str) -> None:
        async def act(tables: Stored) -> None:
            subject = subject_in(1)
            await tables.turn(subject, 0, closing=None)
            assert (await tables.recall.recall(subject, QUESTION)).position is None

        _play(postgres_url, act)


class TestAtLeast:
    def test_waits_until_the_turn_is_read_and_closed(self, postgres_url: str) -> None:
        async def act(tables: Stored) -> None:
            subject = subject_in(2)
            await tables.turn(subject, 1, closing="stored")
            asked = asyncio.create_task(
                tables.recall.recall(subject, QUESTION, at_least="2:5", explain=True)
            )
            try:
                await _stays_pending(asked)  # the turn at 5 was not read
                await tables.turn(subject, 5, closing=None)
                await _stays_pending(asked)  # it is open
                await tables.add(subject)
                await tables.close_turn(subject, 5)
                result = await asyncio.wait_for(asked, 10)
            finally:
                await settled(asked)
            assert len(result.memories) == 1
            assert result.position == "2:5"

        _play(postgres_url, act, wait_s=30)

    def test_is_not_held_up_by_others_or_by_later_turns(self, postgres_url: str) -> None:
        async def act(tables: Stored) -> None:
            subject = subject_in(2)
            await tables.turn(subject_in(2), 4, closing=None)
            await tables.turn(subject, 5, closing="stored")
            await tables.turn(subject, 6, closing=None)
            result = await tables.recall.recall(subject, QUESTION, at_least="2:5")
            assert result.position == "2:5"

        _play(postgres_url, act, wait_s=0)

    def test_gives_up_at_its_deadline_and_says_so(self, postgres_url: str) -> None:
        async def act(tables: Stored) -> None:
            subject = subject_in(2)
            await tables.turn(subject, 5, closing=None)
            with pytest.raises(
                NotCaughtUp, match=r"position 2:5 were not processed within 0\.05 s"
            ):
                await tables.recall.recall(subject, QUESTION, at_least="2:5")

        _play(postgres_url, act, wait_s=0.05)

    def test_refuses_a_position_of_another_partition(self, postgres_url: str) -> None:
        async def act(tables: Stored) -> None:
            for position in ("1:5", "", "2:x"):
                with pytest.raises(InvalidInput, match="at_least"):
                    await tables.recall.recall(subject_in(2), QUESTION, at_least=position)

        _play(postgres_url, act)


async def _stays_pending(task: asyncio.Task[Any]) -> None:
    """Assert that a task that polls every tenth of a second at most does not end meanwhile."""
    done, _ = await asyncio.wait([task], timeout=0.3)
    assert not done
