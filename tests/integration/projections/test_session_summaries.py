"""A summary stands only while every turn that it was made from does, in whatever order."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from projections.apply import Applier
from projections.read_model import name_subjects
from projections.summaries import NoSummaries, PostgresSummaries
from schemas import ids
from schemas.events import MemoriesDeleted
from schemas.log.reader import read_to_end
from schemas.log.sealed import LogRecord
from schemas.summaries import TurnToSummarise, WithoutSummary
from schemas.topics import TURNS, memories_topic
from tests.conftest import TestStores
from tests.support.compaction import bury
from tests.support.log_writer import AppendedTurn, LogWriter
from tests.support.projection import Projection, opened
from tests.support.summaries import (
    CONVERSATION,
    ended,
    not_summarised,
    said,
    source_of,
    summarised,
)

_FAR = 1 << 40
_TABLES = (
    "turns, open_turns, memories, session_summaries, summary_sources, forgotten_sources, "
    "due_summaries, erased_outcomes, refused_outcomes, suppressions, spending"
)


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A projection with two users of one conversation each.

    Attributes:
        projection: the projection.
        ann, ben: the users.
        first, second, third: Ann's turns.
    """

    projection: Projection
    ann: LogWriter
    ben: LogWriter
    first: AppendedTurn
    second: AppendedTurn
    third: AppendedTurn

    @property
    def summaries(self) -> PostgresSummaries:
        """What is tested."""
        return PostgresSummaries(self.projection.read_model)

    async def told(self, writer: LogWriter) -> list[str | None]:
        """Return a user's summaries, the latest first."""
        found = await self.summaries.latest(writer.subject, conversation_id=CONVERSATION)
        return [one.summary for one in found.summaries]

    async def untold(self, writer: LogWriter) -> list[UUID]:
        """Return the turns of a user's conversation that no summary tells of."""
        found = (
            await self.summaries.turns_without(
                subject=writer.subject, conversation_id=CONVERSATION, below=_FAR, limit=1
            ),
            await self.summaries.turns_without(
                subject=writer.subject, conversation_id=CONVERSATION, below=_FAR, limit=100
            ),
        )
        assert found[1][:1] == found[0]
        return [turn.turn_id for turn in found[1]]

    async def due(self, writer: LogWriter) -> bool:
        """Tell whether a user's conversation is to be summed up again."""
        found = await self.summaries.due(partition=writer.partition, after=None, limit=10)
        return writer.subject in {one.subject for one in found}

    def records(self, topic: str) -> list[LogRecord]:
        """Return everything that a topic holds."""
        stores = self.projection.stores
        return [
            record
            for partition in range(stores.partitions)
            for record in read_to_end(
                stores.kafka_bootstrap, topic, partition, start=0, client_id="test"
            )
        ]

    async def bury(self, topic: str, turn: AppendedTurn) -> None:
        """Put tombstones on what a topic holds of a turn."""
        keys = {turn.turn_id}
        if topic != TURNS:
            keys = {ids.outcome_id(self.ann.generation, turn.turn_id)}
        records = await asyncio.to_thread(self.records, topic)
        found = [one for one in records if one.value is not None and one.header().record_id in keys]
        assert found
        await asyncio.to_thread(bury, self.projection.stores.kafka_bootstrap, found)

    async def rebuild(self, topics: Sequence[str]) -> None:
        """Empty the tables and read topics whole, one after the other."""
        async with self.projection.read_model.connection() as connection:
            await connection.execute(f"TRUNCATE {_TABLES}")
        await self.projection.reset_positions()
        applier: Applier = await self.projection.applier()
        for topic in topics:
            records = await asyncio.to_thread(self.records, topic)
            await applier.apply(records, await self.projection.positions())


def test_summaries_go_with_their_turns_in_whatever_order(stores: TestStores) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection:
            ann, ben = await projection.writer(), await projection.writer()
            scene = Scene(
                projection=projection,
                ann=ann,
                ben=ben,
                first=await said(ann),
                second=await said(ann),
                third=await said(ann),
            )
            await _made_and_listed(scene)
            await _seen_by_their_user_alone(scene)
            await _gone_with_a_turn(scene)
            await _made_again(scene)
            await _the_same_when_it_is_read_again(scene)
            await _gone_with_an_outcome(scene)
            await _gone_with_a_deleted_memory(scene)
            await _untold_where_a_turn_is_not_known(scene)

    asyncio.run(scenario())


async def _made_and_listed(scene: Scene) -> None:
    ann, ben = scene.ann, scene.ben
    theirs = await said(ben)
    await said(ben, "another conversation")
    await ended(ann, not_summarised(WithoutSummary.FAILED))
    await scene.projection.catch_up()
    nothing = await scene.summaries.latest(ann.subject)
    assert (nothing.reason, nothing.injection) == (WithoutSummary.FAILED, "")
    assert await scene.untold(ann) == [
        turn.turn_id for turn in (scene.first, scene.second, scene.third)
    ]
    assert not await scene.due(ann)

    sources = [source_of(scene.first), source_of(scene.second)]
    await ended(ann, summarised(sources, "Wants <b>tea</b> & a refund."))
    await ended(ben, summarised([source_of(theirs)], "Wants coffee."))
    await scene.projection.catch_up()

    found = await scene.summaries.latest(ann.subject)
    assert [(one.summary, one.turns) for one in found.summaries] == [
        ("Wants <b>tea</b> & a refund.", 2)
    ]
    assert "2026-03-01: Wants &lt;b&gt;tea&lt;/b&gt; & a refund." in found.injection
    assert await scene.untold(ann) == [scene.third.turn_id]
    assert await scene.told(ben) == ["Wants coffee."]
    assert (await scene.projection.compare()).equal


async def _seen_by_their_user_alone(scene: Scene) -> None:
    async with scene.projection.read_model.connection() as connection:
        for table in ("session_summaries", "summary_sources"):
            # No condition on the subject: the wall has to hold by itself.
            query = f"SELECT DISTINCT subject FROM {table}"  # noqa: S608 - one of these names
            assert await (await connection.execute(query)).fetchall() == []
            async with connection.transaction():
                await name_subjects(connection, [scene.ben.subject])
                rows = await (await connection.execute(query)).fetchall()
                assert rows == [(scene.ben.subject,)]


async def _gone_with_a_turn(scene: Scene) -> None:
    await scene.bury(TURNS, scene.first)
    await scene.projection.catch_up()

    found = await scene.summaries.latest(scene.ann.subject, conversation_id=CONVERSATION)
    assert (found.summaries, found.injection) == ((), "")
    assert (found.reason, found.remaking) == (NoSummaries.BEING_MADE, True)
    assert await scene.untold(scene.ann) == [scene.second.turn_id, scene.third.turn_id]
    assert await scene.due(scene.ann)
    assert not await scene.due(scene.ben)
    assert await scene.told(scene.ben) == ["Wants coffee."]
    assert (await scene.projection.compare()).equal


async def _made_again(scene: Scene) -> None:
    # One that was under way meanwhile still names the turn that is gone.
    late = [source_of(scene.first), source_of(scene.third)]
    await ended(scene.ann, summarised(late, "Wants tea."))
    await scene.projection.catch_up()
    assert await scene.told(scene.ann) == []
    assert await scene.due(scene.ann)

    left = [source_of(scene.second), source_of(scene.third)]
    await ended(scene.ann, summarised(left, "Wants a refund."))
    await scene.projection.catch_up()

    assert await scene.told(scene.ann) == ["Wants a refund."]
    assert not await scene.due(scene.ann)
    assert await scene.untold(scene.ann) == []
    assert (await scene.projection.compare()).equal


async def _the_same_when_it_is_read_again(scene: Scene) -> None:
    memories = memories_topic(scene.projection.stores.generation)
    for topics in ((TURNS, memories), (memories, TURNS)):
        await scene.rebuild(topics)
        assert await scene.told(scene.ann) == ["Wants a refund."], topics
        assert await scene.told(scene.ben) == ["Wants coffee."], topics
        assert (await scene.projection.compare()).equal


async def _gone_with_an_outcome(scene: Scene) -> None:
    memories = memories_topic(scene.projection.stores.generation)
    await scene.bury(memories, scene.second)
    await scene.projection.catch_up()
    assert await scene.told(scene.ann) == []
    assert await scene.untold(scene.ann) == [scene.third.turn_id]
    assert (await scene.projection.compare()).equal


async def _gone_with_a_deleted_memory(scene: Scene) -> None:
    ann = scene.ann
    turn, memory, _ = await ann.stored(content="plays the bassoon")
    other = await said(ann)
    told = await ended(
        ann, summarised([source_of(turn), source_of(other)], "Plays the bassoon; wants a score.")
    )
    await scene.projection.catch_up()
    assert await scene.told(ann) == ["Plays the bassoon; wants a score."]
    deleting = await ann.turn()
    deleted = MemoriesDeleted(
        memory_ids=(memory.memory_id,),
        suppresses=(),
        turn_id=deleting.turn_id,
        actor="ann",
        deleted_at=memory.recorded_at,
    )
    await ann.append(ann.outcome(deleting, [deleted]))
    await scene.projection.catch_up()

    assert await scene.told(ann) == []
    assert await scene.due(ann)
    assert await scene.untold(ann) == [scene.third.turn_id, other.turn_id]
    assert (await scene.projection.compare()).equal
    assert told.partition == turn.partition
    found = await scene.summaries.turns_without(
        subject=ann.subject, conversation_id=CONVERSATION, below=other.offset, limit=9
    )
    assert found == (
        TurnToSummarise(turn_id=scene.third.turn_id, turn_offset=scene.third.offset, waits=False),
    )


async def _untold_where_a_turn_is_not_known(scene: Scene) -> None:
    """As in a rebuild after compaction, of whose turn nothing is left to say that it is gone."""
    ben = scene.ben
    assert await scene.told(ben) == ["Wants coffee."]
    connected = scene.projection.read_model.connection()
    async with connected as connection, connection.transaction():
        await name_subjects(connection, [ben.subject])
        await connection.execute("DELETE FROM turns WHERE subject = %s", [ben.subject])
    assert await scene.told(ben) == []
    assert (await scene.summaries.page(ben.subject)).summaries == ()
