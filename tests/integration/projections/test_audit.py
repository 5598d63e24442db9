"""The audit of hand-made logs: what fits is counted, and what does not is found."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from confluent_kafka import Producer

from projections.audit import AuditReport, audit
from projections.audit_opening import KeySource
from projections.audit_tally import PartitionAudit
from projections.digest import Comparison, Difference
from schemas import ids
from schemas.errors import KeyringUnavailable
from schemas.events import MemoryAdded
from schemas.keyring import Keyring, SubjectKeys
from schemas.log.sealed import SealedRecord, seal_record
from schemas.ports import PartitionProgress
from schemas.records import Closing, DeadLetter, Settled
from schemas.topics import DEAD_LETTERS, TURNS, memories_topic
from schemas.tree import address_for
from tests.conftest import TestStores
from tests.support.log_writer import NOON, AppendedTurn, LogWriter
from tests.support.projection import Projection, opened

GENERATION = "g1"


class _Scene:
    """A log that is written by hand, and the audit of it."""

    def __init__(self, parts: Projection, writer: LogWriter) -> None:
        self.parts = parts
        self.writer = writer

    @property
    def partition(self) -> int:
        return self.writer.partition

    async def close(self, turn: AppendedTurn, closing: Closing) -> int:
        return await self.writer.append(self.writer.outcome(turn, closing=closing))

    async def garbage(self, topic: str) -> int:
        record = SealedRecord(key=b"who knows", value=b"garbage", headers=[("other", b"x")])
        return await self.parts.producer.append(topic, self.partition, record)

    def bury(self, topic: str, record_id: UUID) -> None:
        producer = Producer({"bootstrap.servers": self.parts.stores.kafka_bootstrap})
        producer.produce(topic, None, ids.append_key(record_id), partition=self.partition)
        assert producer.flush(30) == 0

    async def dead_letter(
        self, topic: str, offset: int, error: str, *, generation: str = GENERATION
    ) -> None:
        letter = DeadLetter(
            topic=topic,
            partition=self.partition,
            offset=offset,
            generation=generation,
            stage="open",
            error=error,
            detail="",
            value=None,
            value_bytes=0,
            headers=(),
            occurred_at=NOON,
        )
        letter_id = ids.dead_letter_id(topic, self.partition, offset, generation)
        record = seal_record(
            letter,
            keys=await self.parts.keyring.system_subject(),
            record_id=letter_id,
            address=address_for(NOON, letter_id),
        )
        await self.parts.producer.append(DEAD_LETTERS, self.partition, record)

    async def audit(self, **options: Any) -> AuditReport:
        """Audit with a keyring that has nothing cached."""
        stores = self.parts.stores
        keyring = await Keyring.open(stores.keyring_url, stores.key_directory)
        try:
            return await audit(
                stores.kafka_bootstrap,
                keyring,
                generation=GENERATION,
                partitions=stores.partitions,
                **options,
            )
        finally:
            await keyring.close()

    async def audited(self, **options: Any) -> PartitionAudit:
        """Audit the writer's partition."""
        return (await self.audit(**options)).partitions[self.partition]


def _play(stores: TestStores, act: Callable[[_Scene], Awaitable[None]]) -> None:
    async def play() -> None:
        async with opened(stores) as parts:
            await act(_Scene(parts, await parts.writer()))

    asyncio.run(play())


EMPTY = PartitionAudit(
    partition=0,
    turns=0,
    duplicate_turns=0,
    unreadable_turns=0,
    turn_tombstones=0,
    closings={closing.value: 0 for closing in Closing},
    in_flight=0,
    doubled_outcomes=0,
    outcomes_of_removed_turns=0,
    outcome_tombstones=0,
    orphaned_outcomes=0,
    missing_outcomes=0,
    unreadable_outcomes=0,
    unreported_outcomes=0,
    dead_letters={},
    unreadable_dead_letters=0,
)


def _expected(scene: _Scene, closings: dict[Closing, int], **counts: Any) -> PartitionAudit:
    closed = dict(EMPTY.closings) | {closing.value: count for closing, count in closings.items()}
    return replace(EMPTY, partition=scene.partition, closings=closed, **counts)


def test_every_turn_is_counted_once_under_how_it_closed(stores: TestStores) -> None:
    async def act(scene: _Scene) -> None:
        turn, _, _ = await scene.writer.stored()
        await scene.writer.stored()
        await scene.close(await scene.writer.turn(), Closing.NOTHING_FOUND)
        await scene.close(await scene.writer.turn(), Closing.REJECTED)
        await scene.close(await scene.writer.turn(), Closing.DEAD_LETTERED)
        await scene.writer.turn()
        # Appended again: the first turn and the first outcome count.
        await scene.writer.turn(turn.turn_id)
        await scene.close(turn, Closing.REJECTED)
        await scene.close(turn, Closing.NOTHING_FOUND)
        await scene.close(await scene.writer.turn(), Closing.FLAGGED)
        # Two of three that waited are settled, each by the first outcome that says so.
        settled, lost, _ = [await scene.writer.deferred() for _ in range(3)]
        end, _ = await scene.writer.settle(settled, closing=Closing.STORED)
        await scene.writer.settle(settled, lost, turn, closing=Closing.DEAD_LETTERED)
        await scene.writer.append(
            scene.writer.outcome(
                end,
                settled=[Settled(turn_id=lost.turn_id, turn_offset=0, closing=Closing.REJECTED)],
            )
        )

        report = await scene.audit()
        assert report.partitions[scene.partition] == _expected(
            scene,
            {
                Closing.STORED: 2 + 1,
                Closing.NOTHING_FOUND: 1 + 2,
                Closing.REJECTED: 1,
                Closing.FLAGGED: 1,
                Closing.DEFERRED: 1,
                Closing.DEAD_LETTERED: 1 + 1,
            },
            turns=6 + 1 + 3 + 2,
            duplicate_turns=1,
            in_flight=1,
            doubled_outcomes=2 + 1,
        )
        assert report.passed
        others = [one for one in report.partitions if one.partition != scene.partition]
        assert others == [replace(EMPTY, partition=one.partition) for one in others]

    _play(stores, act)


def test_a_record_without_a_readable_header_is_a_turn_too(stores: TestStores) -> None:
    async def act(scene: _Scene) -> None:
        offset = await scene.garbage(TURNS)
        await scene.garbage(TURNS)
        misplaced = scene.writer.sealed_turn(uuid4())
        elsewhere = (scene.partition + 1) % scene.parts.stores.partitions
        await scene.parts.producer.append(TURNS, elsewhere, misplaced)
        turn = AppendedTurn(
            turn_id=ids.unreadable_turn_id(TURNS, scene.partition, offset),
            partition=scene.partition,
            offset=offset,
        )
        outcome = scene.writer.outcome(turn, closing=Closing.DEAD_LETTERED)
        await scene.writer.append(outcome, await scene.parts.keyring.system_subject())

        report = await scene.audit()
        assert report.partitions[scene.partition] == _expected(
            scene, {Closing.DEAD_LETTERED: 1}, turns=2, unreadable_turns=2, in_flight=1
        )
        assert report.partitions[elsewhere].unreadable_turns == 1
        assert report.passed

    _play(stores, act)


def test_an_outcome_that_closes_no_known_turn_is_unaccounted(stores: TestStores) -> None:
    async def act(scene: _Scene) -> None:
        await scene.writer.stored()
        unknown = AppendedTurn(turn_id=uuid4(), partition=scene.partition, offset=99)
        await scene.close(unknown, Closing.NOTHING_FOUND)
        await scene.close(unknown, Closing.NOTHING_FOUND)

        report = await scene.audit()
        assert report.partitions[scene.partition] == _expected(
            scene, {Closing.STORED: 1}, turns=1, orphaned_outcomes=1, doubled_outcomes=1
        )
        assert (report.unaccounted, report.passed) == (1, False)

    _play(stores, act)


def test_a_turn_that_only_the_read_model_closed_is_unaccounted(stores: TestStores) -> None:
    async def act(scene: _Scene) -> None:
        await scene.writer.stored()
        lost = await scene.writer.turn()
        still_open = await scene.writer.turn()
        unread = await scene.writer.turn()
        progress = PartitionProgress(
            open_offsets=frozenset({still_open.offset}),
            turns_next=unread.offset,
            memories_next=2,
            proposals_floor=0,
        )
        assert lost.offset < still_open.offset < unread.offset

        found = await scene.audited(progress={scene.partition: progress})
        assert found == _expected(
            scene, {Closing.STORED: 1}, turns=4, in_flight=2, missing_outcomes=1
        )
        assert found.unaccounted == 1
        assert (await scene.audited()).unaccounted == 0

    _play(stores, act)


def test_an_outcome_nobody_can_use_is_unaccounted_until_a_dead_letter_keeps_it(
    stores: TestStores,
) -> None:
    async def act(scene: _Scene) -> None:
        topic = memories_topic(GENERATION)
        turn = await scene.writer.turn()
        stranger = replace(scene.writer.keys, subject=uuid4())
        outcome = scene.writer.outcome(turn)
        other = outcome.model_copy(update={"generation": "g2"})
        moved = outcome.model_copy(update={"turn_partition": scene.partition + 1})
        offsets = [
            await scene.garbage(topic),
            await scene.writer.append(outcome, stranger),  # nobody has such keys
            await scene.writer.append(other),
            await scene.writer.append(moved),
        ]
        sealed = scene.writer.sealed_outcome(outcome)
        altered = replace(sealed, value=sealed.value[:-1] + bytes([sealed.value[-1] ^ 1]))
        offsets.append(await scene.parts.producer.append(topic, scene.partition, altered))

        found = await scene.audited()
        counts = {"turns": 1, "unreadable_outcomes": 5}
        closed = {Closing.DEAD_LETTERED: 1}
        assert found == _expected(scene, closed, **counts, unreported_outcomes=5)
        assert found.unaccounted == 5

        for offset in offsets[1:]:
            await scene.dead_letter(topic, offset, "SealBroken")
        await scene.dead_letter(topic, offsets[0], "SealBroken", generation="g2")
        found = await scene.audited()
        assert found == _expected(
            scene, closed, **counts, unreported_outcomes=1, dead_letters={"SealBroken": 4}
        )
        # The first outcome counts, good or bad.
        await scene.writer.append(outcome)
        found = await scene.audited()
        assert (found.closings["dead_lettered"], found.doubled_outcomes) == (1, 1)

    _play(stores, act)


def test_an_outcome_whose_keys_are_missing_closes_nothing(stores: TestStores) -> None:
    async def act(scene: _Scene) -> None:
        turn = await scene.writer.turn()
        stranger = replace(scene.writer.keys, subject=uuid4())
        await scene.writer.append(scene.writer.outcome(turn), stranger)

        found = await scene.audited()

        assert (found.in_flight, found.unreadable_outcomes) == (1, 1)

    _play(stores, act)


def test_dead_letters_are_counted_once_by_the_class_of_their_error(stores: TestStores) -> None:
    async def act(scene: _Scene) -> None:
        for offset, error in ((1, "SealBroken"), (2, "ExtractionRejected"), (3, "SealBroken")):
            await scene.dead_letter(TURNS, offset, error)
        await scene.dead_letter(TURNS, 3, "SealBroken")
        await scene.dead_letter(TURNS, 4, "SealBroken", generation="another")
        await scene.garbage(DEAD_LETTERS)

        assert await scene.audited() == _expected(
            scene,
            {},
            dead_letters={"ExtractionRejected": 1, "SealBroken": 2},
            unreadable_dead_letters=1,
        )

    _play(stores, act)


def test_erased_turns_stay_accounted_for_at_every_stage(stores: TestStores) -> None:
    async def act(scene: _Scene) -> None:
        keyring, writer = scene.parts.keyring, scene.writer
        closed, _, _ = await writer.stored()
        in_flight = await writer.turn()
        await keyring.destroy(writer.subject)
        spoken_for = writer.outcome(in_flight, closing=Closing.ERASED)
        await writer.append(spoken_for, await keyring.system_subject())
        found = await scene.audited()
        assert found == _expected(scene, {Closing.ERASED: 2}, turns=2)

        # The eraser buries both records; until compaction they are there all the same.
        scene.bury(memories_topic(GENERATION), ids.outcome_id(GENERATION, closed.turn_id))
        scene.bury(TURNS, closed.turn_id)
        found = await scene.audited()
        assert found == _expected(
            scene, {Closing.ERASED: 2}, turns=2, turn_tombstones=1, outcome_tombstones=1
        )
        assert found.unaccounted == 0

    _play(stores, act)


def test_what_compaction_took_is_no_orphan(stores: TestStores) -> None:
    async def act(scene: _Scene) -> None:
        keyring, writer = scene.parts.keyring, scene.writer
        gone = AppendedTurn(turn_id=uuid4(), partition=scene.partition, offset=0)
        system: SubjectKeys = await keyring.system_subject()
        await writer.append(writer.outcome(gone, closing=Closing.ERASED), system)
        # Here only the turn's record is gone yet, its tombstone is still there.
        buried = AppendedTurn(turn_id=uuid4(), partition=scene.partition, offset=1)
        await scene.close(buried, Closing.NOTHING_FOUND)
        scene.bury(TURNS, buried.turn_id)
        # And here an open turn was buried, which no outcome will close.
        open_turn = await writer.turn()
        scene.bury(TURNS, open_turn.turn_id)

        found = await scene.audited()
        assert found == _expected(
            scene,
            {Closing.ERASED: 1},
            turns=1,
            turn_tombstones=2,
            outcomes_of_removed_turns=2,
        )
        assert found.unaccounted == 0

    _play(stores, act)


def test_a_keyring_that_cannot_be_reached_is_no_result(stores: TestStores) -> None:
    class Unreachable:
        async def keys(self, subjects: Any) -> Any:
            del subjects
            raise KeyringUnavailable("down")

    async def act(scene: _Scene) -> None:
        await scene.writer.stored()
        source: KeySource = Unreachable()
        with pytest.raises(KeyringUnavailable):
            await audit(
                scene.parts.stores.kafka_bootstrap,
                source,
                generation=GENERATION,
                partitions=scene.parts.stores.partitions,
            )

    _play(stores, act)


def test_the_report_is_json_with_totals_of_all_partitions(stores: TestStores) -> None:
    async def act(scene: _Scene) -> None:
        for _ in range(6):
            writer = await scene.parts.writer()
            turn = await writer.turn()
            added = MemoryAdded(memory=writer.new_memory(turn))
            await writer.append(writer.outcome(turn, [added]))
        await scene.dead_letter(TURNS, 1, "SealBroken")

        report = json.loads(json.dumps((await scene.audit()).as_json()))
        assert report["passed"] is True
        assert report["generation"] == GENERATION
        assert report["totals"]["turns"] == report["totals"]["closings"]["stored"] == 6
        assert report["totals"]["closings"]["rejected"] == 0
        assert report["totals"]["dead_letters"] == {"SealBroken": 1}
        assert report["totals"]["unaccounted"] == 0
        assert [one["partition"] for one in report["partitions"]] == [0, 1, 2, 3]
        assert report["comparison"] is None

    _play(stores, act)


def test_a_read_model_that_differs_from_its_log_does_not_pass(stores: TestStores) -> None:
    difference = Difference(
        subject=uuid4(),
        partition=1,
        table_digest="a",
        log_digest="b",
        missing=(uuid4(),),
        surplus=(),
        changed=(),
    )

    async def act(scene: _Scene) -> None:
        await scene.writer.stored()
        unprojected = await scene.parts.compare()

        async def same() -> Comparison:
            return unprojected

        async def other() -> Comparison:
            return replace(unprojected, differences=(difference,))

        async def other_sums() -> Comparison:
            return replace(unprojected, spending_differs=(2,))

        assert not (await scene.audit(compare=other_sums)).passed
        assert (await scene.audit(compare=same)).passed
        report = await scene.audit(compare=other)
        assert (report.unaccounted, report.passed) == (0, False)
        compared = json.loads(json.dumps(report.as_json()))["comparison"]
        assert compared["equal"] is False
        assert compared["differences"][0]["missing"] == [str(difference.missing[0])]

    _play(stores, act)
