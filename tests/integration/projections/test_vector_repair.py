"""Vectors that memories lack are made later: the good ones, once, and never a neighbour's."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection
from uuid import UUID, uuid4

import numpy as np
import pytest

from projections.embedders import CheckedEmbedder
from projections.read_model import name_every_subject
from projections.recall import EmptyReason
from projections.vector_repair import BATCH_MAX, Pace, VectorRepair
from schemas.queries import load_queries
from tests.support.log_writer import NOON
from tests.support.scripted_embedder import BAD_ROWS, ScriptedEmbedder, vector_of
from tests.support.stored import QUESTION, Stored, settled, stored
from tests.support.waiting import eventually

FAST = Pace(poll_s=0.02, pause_max_s=0.05, backoff_first_s=0.05, backoff_max_s=0.1, call_s=0.05)
NEVER_AGAIN = Pace(backoff_first_s=3600)


class _Scene:
    """A read model whose memories lack vectors, and an embedder that could make them."""

    def __init__(self, tables: Stored) -> None:
        self.tables = tables
        self.embedder = ScriptedEmbedder()
        self.erased: set[UUID] = set()

    def repair(self, pace: Pace = NEVER_AGAIN) -> VectorRepair:
        async def erased_among(subjects: Collection[UUID]) -> set[UUID]:
            return self.erased & set(subjects)

        return VectorRepair(
            self.tables.read_model,
            CheckedEmbedder(self.embedder),
            erased_among=erased_among,
            pace=pace,
        )

    async def lacking(self, subject: UUID, *contents: str) -> None:
        for content in contents:
            await self.tables.add(subject, cosine=None, content=content)

    async def rows(self) -> dict[str, tuple[list[float] | None, int | None, str | None]]:
        """Return vector, attempts and fault of every memory, by its content."""
        query = "SELECT content, embedding, vector_attempts, vector_fault FROM memories"
        async with (
            self.tables.read_model.connection() as connection,
            connection.transaction(),
        ):
            await name_every_subject(connection)
            found = await (await connection.execute(query, binary=True)).fetchall()
        return {
            content: (
                None if halves is None else np.frombuffer(halves, "<f2").tolist(),
                attempts,
                fault,
            )
            for content, halves, attempts, fault in found
        }

    async def made(self) -> set[str]:
        return {content for content, (vector, _, _) in (await self.rows()).items() if vector}


def _play(postgres_url: str, act: Callable[[_Scene], Awaitable[None]]) -> None:
    async def play() -> None:
        async with stored(postgres_url) as tables:
            await act(_Scene(tables))

    asyncio.run(play())


def _halves(content: str) -> list[float]:
    halves: list[float] = vector_of(content).astype(np.float16).tolist()
    return halves


def test_good_vectors_are_stored_and_each_bad_one_waits_with_its_fault(postgres_url: str) -> None:
    async def act(scene: _Scene) -> None:
        subject, other = uuid4(), uuid4()
        good = [f"good {'x' * number}" for number in range(6)]
        await scene.lacking(subject, *good[:3], *BAD_ROWS, "refused")
        await scene.lacking(other, *good[3:], "fatal")
        scene.embedder.rows |= BAD_ROWS
        scene.embedder.refused.add("refused")
        scene.embedder.fatal.add("fatal")

        assert await scene.repair().round() == len(good)

        rows = await scene.rows()
        for content in good:
            assert rows[content] == (_halves(content), None, None)
        for content in BAD_ROWS:
            assert rows[content] == (None, 1, content)
        assert rows["refused"] == (None, 1, "refused")
        assert rows["fatal"] == (None, 1, "unavailable")
        assert await scene.repair().waiting() == len(BAD_ROWS) + 2
        # None of them is due, so nobody is asked.
        before = len(scene.embedder.calls)
        assert await scene.repair().round() == 0
        assert len(scene.embedder.calls) == before

        found = await scene.tables.recall.recall(subject, QUESTION)
        assert {memory.content for memory in found.memories} == set(good[:3])
        assert found.unsearchable == len(BAD_ROWS) + 1

    _play(postgres_url, act)


def test_what_waits_is_tried_again_later_and_found_without_a_restart(postgres_url: str) -> None:
    async def act(scene: _Scene) -> None:
        subject = uuid4()
        await scene.lacking(subject, "fact", "zero")
        scene.embedder.down = True
        scene.embedder.rows["zero"] = BAD_ROWS["zero"]
        stop = asyncio.Event()
        running = asyncio.create_task(scene.repair(FAST).run(stop))

        async def asked() -> bool:
            return scene.embedder.probes >= 3

        await eventually(asked, what="the embedder to be asked whether it is there")
        # Texts are not used up by an outage: after the first time, only the embedder is asked.
        assert len(scene.embedder.calls) == 1
        assert {attempts for _, attempts, _ in (await scene.rows()).values()} == {0}
        nothing = await scene.tables.recall.recall(subject, QUESTION)
        assert (nothing.reason, nothing.unsearchable) == (EmptyReason.NONE_SEARCHABLE, 2)

        scene.embedder.down = False

        async def fact_made() -> bool:
            return await scene.made() == {"fact"}

        await eventually(fact_made, what="the vector of the good text")
        scene.embedder.rows.clear()

        async def all_made() -> bool:
            return await scene.made() == {"fact", "zero"}

        await eventually(all_made, what="the vector of the text that was bad")
        assert (await scene.tables.recall.recall(subject, QUESTION)).unsearchable == 0
        stop.set()
        await running

    _play(postgres_url, act)


def test_a_memory_is_embedded_once_however_many_workers_there_are(postgres_url: str) -> None:
    async def act(scene: _Scene) -> None:
        contents = [f"fact {number}" for number in range(3 * BATCH_MAX)]
        await scene.lacking(uuid4(), *contents)
        stop = asyncio.Event()
        running = [asyncio.create_task(scene.repair(FAST).run(stop)) for _ in range(3)]

        async def all_made() -> bool:
            return await scene.made() == set(contents)

        try:
            await eventually(all_made, what="every vector")
        finally:
            stop.set()
            for task in running:
                await settled(task)
        asked = Counter(text for call in scene.embedder.calls for text in call)
        assert set(asked.values()) == {1}
        assert max(map(len, scene.embedder.calls)) <= BATCH_MAX

    _play(postgres_url, act)


def test_a_memory_that_another_worker_took_meanwhile_is_left_to_it(postgres_url: str) -> None:
    async def act(scene: _Scene) -> None:
        await scene.lacking(uuid4(), "fact")
        one, other = scene.repair(), scene.repair()
        due = await other._due()
        assert await one.round() == 1
        assert await other._claim(due) == []

        await scene.lacking(uuid4(), "later")
        due = await other._due()
        assert len(await one._claim(due)) == 1
        assert await other._claim(due) == [], "it was taken, and is not due again yet"

    _play(postgres_url, act)


def test_what_needs_no_vector_keeps_nothing_else_waiting(postgres_url: str) -> None:
    async def act(scene: _Scene) -> None:
        subject = uuid4()
        for number in range(BATCH_MAX + 1):
            wrong = await scene.tables.add(subject, cosine=None, content=f"wrong {number}")
            await scene.tables.retract(subject, wrong, recorded_at=NOON)
        await scene.lacking(subject, "fact")
        assert await scene.repair().round() == 1
        assert await scene.made() == {"fact"}

    _play(postgres_url, act)


def test_what_needs_no_vector_is_not_even_read_in_looking_for_what_is_due(
    postgres_url: str,
) -> None:
    async def act(scene: _Scene) -> None:
        due = load_queries("projections", "sql/vector_repair.sql")
        counted = load_queries("projections", "sql/read_model.sql")["count_waiting"]
        async with scene.tables.read_model.connection() as connection, connection.transaction():
            await name_every_subject(connection)
            await connection.execute(due["plan_by_order"])
            await connection.execute(
                "SET LOCAL enable_seqscan = off"
            )  # so small a table is read whole
            for query in (due["find_due"], counted):
                explained = await connection.execute("EXPLAIN " + query, {"limit": BATCH_MAX})
                plan = "\n".join(str(line) for (line,) in await explained.fetchall())
                assert "using memories_without_vector" in plan
                assert "retracted_at" not in plan, "the index holds none of what is retracted"

    _play(postgres_url, act)


def test_what_is_retracted_or_erased_is_not_embedded_and_history_is(postgres_url: str) -> None:
    async def act(scene: _Scene) -> None:
        subject, erased = uuid4(), uuid4()
        past = await scene.tables.add(subject, cosine=None, content="past")
        await scene.tables.close(subject, past, valid_to=NOON, recorded_at=NOON)
        wrong = await scene.tables.add(subject, cosine=None, content="wrong")
        await scene.tables.retract(subject, wrong, recorded_at=NOON)
        await scene.lacking(erased, "erased")
        scene.erased.add(erased)

        repair = scene.repair()
        assert await repair.round() == 1
        assert scene.embedder.calls == [("past",)]
        assert await scene.made() == {"past"}
        assert await repair.waiting() == 1, "the row of the erased user, until it is deleted"

    _play(postgres_url, act)


def test_a_round_that_outlasts_its_lease_leaves_what_another_worker_took_alone(
    postgres_url: str,
) -> None:
    async def act(scene: _Scene) -> None:
        subject = uuid4()
        await scene.lacking(subject, "slow", "zero")
        scene.embedder.rows["zero"] = BAD_ROWS["zero"]
        embed, other = scene.embedder.embed, scene.repair()
        slow = scene.repair(Pace(backoff_first_s=0))
        taken: list[object] = []

        async def outlasting(texts: list[str]) -> object:
            assert await other._due() == [], "the lease is above what the calls may take"
            past = "UPDATE memories SET vector_due_at = now() - interval '1 s'"
            await scene.tables.run(subject, past, {})
            taken.extend(await other._claim(await other._due()))
            return await embed(texts)

        scene.embedder.embed = outlasting  # type: ignore[method-assign,assignment] # for this scene
        assert await slow.round() == 0
        assert len(taken) == 2
        assert set((await scene.rows()).values()) == {(None, 2, None)}, "they are the other's"

    _play(postgres_url, act)


def test_what_a_worker_had_taken_when_it_was_ended_is_due_at_once(postgres_url: str) -> None:
    async def act(scene: _Scene) -> None:
        await scene.lacking(uuid4(), "fact")
        embed, asked = scene.embedder.embed, asyncio.Event()

        async def endless(_: list[str]) -> object:
            asked.set()
            return await asyncio.Event().wait()

        scene.embedder.embed = endless  # type: ignore[method-assign,assignment] # for this scene
        running = asyncio.create_task(scene.repair().round())
        await asked.wait()
        await settled(running)
        scene.embedder.embed = embed  # type: ignore[method-assign] # as it was
        assert await scene.repair().round() == 1

    _play(postgres_url, act)


def test_a_memory_that_goes_while_it_is_embedded_does_not_come_back(postgres_url: str) -> None:
    async def act(scene: _Scene) -> None:
        subject = uuid4()
        await scene.lacking(subject, "stays", "goes")
        embed = scene.embedder.embed

        async def deleting(texts: list[str]) -> object:
            await scene.tables.run(subject, "DELETE FROM memories WHERE content = 'goes'", {})
            return await embed(texts)

        scene.embedder.embed = deleting  # type: ignore[method-assign,assignment] # for this scene
        assert await scene.repair().round() == 1
        assert set(await scene.rows()) == {"stays"}

    _play(postgres_url, act)


@pytest.mark.parametrize("failing", ["_due", "_claim", "_note", "_fill"])
def test_an_unforeseen_failure_ends_nothing(
    postgres_url: str, failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def act(scene: _Scene) -> None:
        await scene.lacking(uuid4(), "fact")
        repair = scene.repair(FAST)
        step = getattr(repair, failing)
        failures = [RuntimeError("a bug")]

        async def failing_once(*arguments: object) -> object:
            if failures:
                raise failures.pop()
            return await step(*arguments)

        monkeypatch.setattr(repair, failing, failing_once)
        stop = asyncio.Event()
        running = asyncio.create_task(repair.run(stop))

        async def made() -> bool:
            return await scene.made() == {"fact"}

        await eventually(made, what="the vector")
        assert failures == []
        stop.set()
        await running

    _play(postgres_url, act)
