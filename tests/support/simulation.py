"""A pipeline of several workers in virtual time, with everything that goes wrong between them."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any
from uuid import UUID

from processors.assignments import Assignments
from processors.log_tail import Stretch
from schemas import ids
from schemas.ports import ExtractionRequest
from schemas.topics import TURNS, proposals_topic
from tests.support.embedder import CountingEmbedder
from tests.support.extractors import NotingExtractor
from tests.support.memory_log import Delivery, MemoryLog, MemoryTail
from tests.support.memory_worker import GENERATION, MemorySite, MemoryWorker
from tests.support.turns import sealed_turn

PARTITIONS = 2
SUBJECTS = 5
TURNS_MAX = 30
WINDOW_MAX = 6
END_S = 10_000.0


class NotingTail(MemoryTail):
    """Notes how far its worker has seen each partition's proposals."""

    def __init__(self, log: MemoryLog) -> None:
        super().__init__(log, GENERATION)
        self.seen: dict[int, int] = {}

    async def proposals(self, partition: int, *, start: int) -> Stretch:
        """Return the proposals from an offset on; what lies below it counts as seen."""
        stretch = await super().proposals(partition, start=start)
        self.seen[partition] = max(self.seen.get(partition, 0), stretch.end)
        return stretch


class SimulatedWorker:
    """One worker process, with a reader for each partition it is assigned."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self.tail = NotingTail(simulation.site.log)
        self.extractor = NotingExtractor(step=self._asked)
        self.worker = MemoryWorker(
            simulation.site,
            self.extractor,
            CountingEmbedder(),
            owner=str(simulation.new_id()),
            in_flight_max=4,
            tail=self.tail,
        )
        self.answered: set[UUID] = set()
        self.worker.producer.deliver = simulation.deliver
        self.worker.producer.acknowledge = simulation.pass_a_moment
        self.held: set[int] = set()
        self.assignments = Assignments(
            self.worker.takeover,
            self.worker.work.handle,
            window_max=WINDOW_MAX,
            hold=self.held.add,
            release=self.held.discard,
        )
        self._number = 0
        self._tasks: list[asyncio.Task[None]] = []

    async def assign(self, partitions: frozenset[int]) -> None:
        """Be given partitions, in place of those held before."""
        await self.revoke()
        self._number += 1
        self._spawn(self._begin(partitions, self._number))

    async def revoke(self) -> None:
        """Give every partition up, as the group demands it, and be confirmed again."""
        await self._stop_tasks()
        await self.assignments.close(grace_s=self.simulation.chance.choice([0.0, 1.0]))
        self.held.clear()
        self.answered.clear()
        self.worker.lease.left_s = 10.0
        self.worker.lease.heartbeat.set()

    async def crash(self) -> None:
        """End in the middle of whatever is done."""
        await self._stop_tasks()
        await self.assignments.close(grace_s=0)

    def lose_touch(self) -> None:
        """Go on as if nothing was, while the group believes this worker dead."""
        self.worker.lease.left_s = 0.0
        self.worker.lease.heartbeat.clear()

    async def _begin(self, partitions: frozenset[int], number: int) -> None:
        starts = await self.assignments.claim(partitions)
        await self.simulation.pass_a_moment()
        self.assignments.open(number)
        for partition, start in starts.items():
            self._spawn(self._read(partition, start, number))

    async def _read(self, partition: int, start: int, number: int) -> None:
        while True:
            for record in self.simulation.site.log.records(TURNS, partition, start):
                while partition in self.held:
                    await self.simulation.pass_a_moment()
                self.assignments.admit(record, assignment=number)
                start = record.position.offset + 1
            await self.simulation.pass_a_moment()

    async def _asked(self, request: ExtractionRequest) -> None:
        self.simulation.check_call(self, request.turn.turn_id)
        await self.simulation.pass_a_moment()
        await self.simulation.pass_a_moment()
        # What was answered is appended until it stands, or its lane is ended.
        self.answered.add(request.turn.turn_id)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.create_task(work))

    async def _stop_tasks(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()


class Simulation:
    """Workers, a group that moves partitions between them, a projection that lags, and faults.

    Attributes:
        chance: decides everything; the same seed gives the same run.
        site: the log and its projection.
        paid_twice: turns that a worker asked about although it had seen a proposal.
        out_of_turn: turns that a worker asked about after its lease was spent.
    """

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.site = MemorySite(partitions=PARTITIONS)
        self.site.ledger.at_once = False
        self.subjects = [
            self.site.subject(number % PARTITIONS, chance=self.chance) for number in range(SUBJECTS)
        ]
        self.said: list[UUID] = []
        self.order: dict[UUID, list[UUID]] = {keys.subject: [] for keys in self.subjects}
        self.partition_of: dict[UUID, int] = {}
        self.paid_twice: list[UUID] = []
        self.out_of_turn: list[UUID] = []
        self.calls = 0
        self.faults = 0.25
        self.workers = [SimulatedWorker(self) for _ in range(2)]
        self.zombies: list[SimulatedWorker] = []

    async def run(self) -> None:
        """Let everything happen; return once every turn is closed.

        Raises:
            AssertionError: that takes for ever.
        """
        projecting = asyncio.create_task(self._project())
        actions: list[Callable[[], Awaitable[None]]] = [
            self._say,
            self._say,
            self._say,
            self._say,
            self._rebalance,
            self._crash,
            self._lose_touch,
            self._wake_zombie,
        ]
        await self._rebalance()
        for _ in range(60):
            await self.chance.choice(actions)()
            await self.pass_a_moment()
        self.faults = 0.0
        for worker in [*self.zombies, *self.workers]:
            await worker.revoke()
        survivor = SimulatedWorker(self)
        await survivor.assign(frozenset(range(PARTITIONS)))
        async with asyncio.timeout(END_S):
            # Time is virtual: looking every second costs nothing and waits for nobody.
            while not self.all_closed:  # noqa: ASYNC110
                await asyncio.sleep(1)
        await survivor.crash()
        projecting.cancel()

    @property
    def all_closed(self) -> bool:
        """Whether the projection has closed every turn."""
        closed: set[UUID] = set()
        for partition in range(PARTITIONS):
            closed |= self.site.ledger.outcomes(partition).keys()
        return closed >= set(self.said)

    def new_id(self) -> UUID:
        """Return an id that the seed decides."""
        return UUID(bytes=self.chance.randbytes(16), version=4)

    async def pass_a_moment(self) -> None:
        """Let up to half a second pass, often none."""
        await asyncio.sleep(self.chance.choice([0, 0, self.chance.uniform(0, 0.5)]))

    async def deliver(self, topic: str) -> Delivery:
        """Deliver a record after a moment, with the chance of a fault."""
        del topic
        await self.pass_a_moment()
        if self.chance.random() >= self.faults:
            return Delivery.ACKNOWLEDGED
        return self.chance.choice([Delivery.LOST, Delivery.UNACKNOWLEDGED])

    def check_call(self, worker: SimulatedWorker, turn_id: UUID) -> None:
        """Note a call that a proposal which the caller had seen makes needless."""
        self.calls += 1
        partition = self.partition_of[turn_id]
        proposal_id = ids.proposal_id(GENERATION, turn_id)
        if worker.worker.lease.left_s <= 0:
            self.out_of_turn.append(turn_id)
        if turn_id in worker.answered:
            self.paid_twice.append(turn_id)
        seen = worker.tail.seen.get(partition, 0)
        for record in self.site.log.records(proposals_topic(GENERATION), partition)[:seen]:
            if record.header().record_id == proposal_id:
                self.paid_twice.append(turn_id)

    async def _say(self) -> None:
        if len(self.said) >= TURNS_MAX:
            return
        keys = self.chance.choice(self.subjects)
        again = self.chance.random() < 0.2 and self.order[keys.subject]
        turn_id = self.chance.choice(self.order[keys.subject]) if again else self.new_id()
        sealed = sealed_turn(keys, f"turn {turn_id}", partitions=PARTITIONS, turn_id=turn_id)
        self.site.append(sealed)
        if not again:
            self.said.append(turn_id)
            self.order[keys.subject].append(turn_id)
            self.partition_of[turn_id] = sealed.partition

    async def _rebalance(self) -> None:
        shares: list[set[int]] = [set() for _ in self.workers]
        for partition in range(PARTITIONS):
            self.chance.choice(shares).add(partition)
        for worker in self.workers:
            await worker.revoke()
        for worker, share in zip(self.workers, shares, strict=True):
            await worker.assign(frozenset(share))

    async def _crash(self) -> None:
        place = self.chance.randrange(len(self.workers))
        await self.workers[place].crash()
        self.workers[place] = SimulatedWorker(self)
        await self._rebalance()

    async def _lose_touch(self) -> None:
        if self.zombies:
            return
        place = self.chance.randrange(len(self.workers))
        zombie = self.workers[place]
        zombie.lose_touch()
        self.zombies.append(zombie)
        self.workers[place] = SimulatedWorker(self)
        await self._rebalance()

    async def _wake_zombie(self) -> None:
        # It finds out: it leaves everything, joins again, and takes the place of another.
        for zombie in self.zombies:
            await zombie.revoke()
            await self.workers[0].crash()
            self.workers[0] = zombie
        self.zombies.clear()
        await self._rebalance()

    async def _project(self) -> None:
        while True:
            for partition in range(PARTITIONS):
                await self.site.ledger.project(partition, most=self.chance.randint(1, 5))
            await self.pass_a_moment()
            await asyncio.sleep(0.01)
