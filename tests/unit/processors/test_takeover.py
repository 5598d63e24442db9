"""Taking a partition over, and claiming it again."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from processors.partition_state import PartitionState
from processors.takeover import Takeover
from schemas.errors import LogUnavailable, ReadModelUnavailable
from schemas.log.sealed import seal_record
from schemas.ports import PartitionProgress
from schemas.records import Closing, Outcome
from schemas.topics import TURNS, memories_topic, proposals_topic
from schemas.tree import address_for
from tests.support.memory_keyring import MemoryKeyring
from tests.support.memory_ledger import MemoryLedger
from tests.support.memory_log import MemoryLog, MemoryTail
from tests.support.turns import NOON, new_keys, sealed_turn
from tests.support.virtual_time import run_virtual

GENERATION = "g1"
OWNER = "me"


@dataclass
class Lease:
    """A lease that a test renews."""

    heartbeat: asyncio.Event = field(default_factory=asyncio.Event)
    renewals: int = 0

    def remaining_s(self) -> float:
        return 0.0

    async def renewed(self) -> None:
        await self.heartbeat.wait()
        self.renewals += 1


class Site:
    """A partition 0, and what takes it over."""

    def __init__(self) -> None:
        self.log = MemoryLog()
        self.keyring = MemoryKeyring()
        self.keys = self.keyring.put(new_keys())
        self.ledger = MemoryLedger(self.log, self.keyring, generation=GENERATION, partitions=1)
        self.tail = MemoryTail(self.log, GENERATION)
        self.lease = Lease()
        self.takeover = Takeover(self.ledger, self.tail, self.lease, owner=OWNER)

    def turn(self) -> UUID:
        sealed = sealed_turn(self.keys, "text", partitions=1)
        self.log.append(TURNS, 0, sealed.record)
        return sealed.turn.turn_id

    def outcome(self, turn_id: UUID, *, floor: int = 0) -> None:
        outcome = Outcome(
            turn_id=turn_id,
            generation=GENERATION,
            turn_partition=0,
            turn_offset=0,
            closing=Closing.NOTHING_FOUND,
            proposals_floor=floor,
            decided_at=NOON,
        )
        address = address_for(NOON.date(), turn_id)
        record = seal_record(outcome, keys=self.keys, record_id=uuid4(), address=address)
        self.log.append(memories_topic(GENERATION), 0, record)

    def proposal(self, record_id: UUID) -> None:
        # Nobody opens it here: any record will do.
        sealed = sealed_turn(self.keys, "proposal", partitions=1, turn_id=record_id)
        self.log.append(proposals_topic(GENERATION), 0, sealed.record)


async def passed(seconds: float) -> None:
    await asyncio.sleep(seconds)


def test_a_claim_tells_from_where_to_read_without_waiting_for_the_projection() -> None:
    async def run() -> None:
        site = Site()
        closed, _ = site.turn(), site.turn()
        site.outcome(closed)
        await site.ledger.project(0)
        site.ledger.at_once = False
        site.turn()
        state = await site.takeover.claim(0)
        assert site.ledger.owner(0) == OWNER
        assert state.progress.watermark == 1
        assert not state.ready.is_set()

    run_virtual(run())


def test_a_ledger_that_cannot_be_reached_is_waited_for() -> None:
    async def run() -> None:
        site = Site()
        site.ledger.failure = ReadModelUnavailable("down")
        claiming = asyncio.create_task(site.takeover.claim(0))
        await passed(60)
        assert not claiming.done()
        site.ledger.failure = None
        assert (await claiming).partition == 0

    run_virtual(run())


def test_lanes_wait_until_the_projection_has_applied_what_stood_in_the_log() -> None:
    async def run() -> None:
        site = Site()
        turn = site.turn()
        site.outcome(turn)
        site.ledger.at_once = False
        state = await site.takeover.claim(0)
        assert not state.progress.closed(0)
        making_ready = asyncio.create_task(site.takeover.make_ready(state))
        await passed(60)
        assert not state.ready.is_set()
        await site.ledger.project(0)
        await state.ready.wait()
        assert state.progress.closed(0)
        making_ready.cancel()

    run_virtual(run())


def test_a_broker_that_cannot_be_reached_is_waited_for() -> None:
    async def run() -> None:
        site = Site()
        state = await site.takeover.claim(0)
        site.tail.failure = LogUnavailable("down")
        making_ready = asyncio.create_task(site.takeover.make_ready(state))
        await passed(60)
        assert not state.ready.is_set()
        site.tail.failure = None
        await state.ready.wait()
        making_ready.cancel()

    run_virtual(run())


def test_standing_proposals_are_read_from_the_floor_and_the_lowest_of_an_id_counts() -> None:
    async def run() -> None:
        site = Site()
        turn, first, second = site.turn(), uuid4(), uuid4()
        for record_id in (uuid4(), first, second, first):
            site.proposal(record_id)
        site.log.append_raw(proposals_topic(GENERATION), 0, key=b"tombstone")
        site.log.append_raw(proposals_topic(GENERATION), 0, value=b"no header")
        site.outcome(turn, floor=1)
        state = await site.takeover.claim(0)
        making_ready = asyncio.create_task(site.takeover.make_ready(state))
        await state.ready.wait()
        assert site.tail.starts == [1]
        places = {key: record.position.offset for key, record in state.standing.items()}
        assert places == {first: 1, second: 2}
        assert state.known.end == 6
        assert state.known.floor() == 1
        making_ready.cancel()

    run_virtual(run())


def test_a_hole_between_own_proposals_is_read_after_a_while() -> None:
    async def run() -> None:
        site = Site()
        state = await site.takeover.claim(0)
        making_ready = asyncio.create_task(site.takeover.make_ready(state))
        await state.ready.wait()
        strange, own = uuid4(), uuid4()
        site.proposal(strange)
        site.proposal(own)
        state.known.appended(own, 1)
        assert state.known.floor(closing=own) == 0
        await passed(10)
        assert state.standing.keys() == {strange, own}
        assert state.known.end == 2
        making_ready.cancel()

    run_virtual(run())


def test_a_lost_partition_is_claimed_again_after_a_renewed_lease_and_caught_up_with() -> None:
    async def run() -> None:
        site = Site()
        state = PartitionState(
            partition=0,
            progress=PartitionProgress(
                open_offsets=frozenset(), turns_next=0, memories_next=0, proposals_floor=0
            ),
        )
        await site.ledger.claim(0, "another")
        regaining = [asyncio.create_task(site.takeover.regain(state, lost=1)) for _ in range(3)]
        await passed(60)
        assert site.ledger.owner(0) == "another"
        strange = uuid4()
        site.proposal(strange)
        site.lease.heartbeat.set()
        await asyncio.gather(*regaining)
        assert site.ledger.owner(0) == OWNER
        assert strange in state.standing
        assert state.claims == 2
        assert site.lease.renewals == 1

    run_virtual(run())
