"""The projector: folds the log of one generation into its read model, as fast as it is written."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from projections import projector_metrics as metrics
from projections.apply import Applier, PositionMoved
from projections.batch import TopicPartitionPair
from projections.dead_letters import DeadLetterBox
from projections.intake import Intake
from projections.isolation import FAILURES_OF_STORES, IsolatingApplier
from projections.parking import ParkingLot
from projections.read_model import ReadModel
from projections.side_topics import SideApplier, SideTopic
from projections.waiting import count_waiting_turns
from schemas.clock import utc_now
from schemas.errors import MemledgerError
from schemas.keyring import Keyring
from schemas.log.producer import LogProducer
from schemas.records import DeferralCause
from schemas.topics import TURNS, memories_topic

_LOG: Final = logging.getLogger(__name__)

BATCH_RECORDS_MAX: Final = 2000
GATHER_S: Final = 0.01
_FIRST_PAUSE_S: Final = 0.1
_PAUSE_S_MAX: Final = 5.0
_TELL_EVERY_S: Final = 2.0
_ALIVE_S: Final = 60.0
_PROGRESS_S: Final = 30.0


class LogTruncated(MemledgerError):
    """The log ends before the place up to which it was applied: it is not the same log."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProjectorState:
    """How a projector is doing.

    Attributes:
        alive: it goes round its loop; waiting for a store that is down counts as alive.
        ready: its share of the partitions is read, and caught up with or going forward.
        partitions: the partitions that it holds.
        parked: those that cannot go on until somebody acts.
        lag: the records that are not applied, where that is known.
    """

    alive: bool
    ready: bool
    partitions: frozenset[int]
    parked: frozenset[int]
    lag: int | None


class Projector:
    """Reads turns and outcomes and keeps the read model up with them.

    Any number of projectors of one generation share its partitions. Positions are kept with the
    rows, so whatever happens to a process, or to Kafka's groups, each record takes effect once.

    Args:
        bootstrap: ``host:port[,host:port]`` of the broker.
        read_model: the tables, opened for writing.
        keyring: knows the subjects' keys.
        producer: appends dead letters.
        partitions: how many partitions the topics have.
        sides: what is projected beside the ledger's own topics.
        batch_max: most records of one transaction.
        gather_s: how long to wait for more records after the first one of a batch, in seconds.
        session_timeout_s: how long the broker waits for a silent projector before others take over.
    """

    def __init__(
        self,
        *,
        bootstrap: str,
        read_model: ReadModel,
        keyring: Keyring,
        producer: LogProducer,
        partitions: int,
        sides: Sequence[SideTopic[Any]] = (),
        batch_max: int = BATCH_RECORDS_MAX,
        gather_s: float = GATHER_S,
        session_timeout_s: float = 10.0,
    ) -> None:
        self._read_model = read_model
        self._keyring = keyring
        self._generation: Final = read_model.generation
        self._sides: Final = SideApplier(sides)
        self._topics: Final = (
            TURNS,
            memories_topic(read_model.generation),
            *self._sides.topics,
        )
        self._dead_letters = DeadLetterBox(producer, keyring, generation=self._generation)
        self._parking = ParkingLot(generation=self._generation)
        self._bootstrap = bootstrap
        self._partitions = partitions
        self._batch_max = batch_max
        self._gather_s = gather_s
        self._session_timeout_s = session_timeout_s
        self._applier: Applier | None = None
        self._positions: dict[TopicPartitionPair, int] = {}
        self._ends: dict[TopicPartitionPair, int] = {}
        self._placed_change: int | None = None
        self._share: frozenset[int] = frozenset()
        self._joined = False
        self._pause_s = _FIRST_PAUSE_S
        self._turned_at = time.monotonic()
        self._progressed_at = time.monotonic()
        self._told_at = 0.0

    async def run(self, stop: asyncio.Event) -> None:
        """Project until ``stop`` is set.

        No failure of a store ends it: it waits, reads its positions again and goes on.
        """
        intake = Intake(
            self._bootstrap,
            group=f"memledger-projector-{self._generation}",
            topics=self._topics,
            client_id=f"memledger-projector-{self._generation}",
            batch_max=self._batch_max,
            gather_s=self._gather_s,
            session_timeout_s=self._session_timeout_s,
        )
        try:
            while not stop.is_set():
                await self._turn(intake, stop)
                self._turned_at = time.monotonic()
        finally:
            self._joined = False
            self._share = frozenset()
            self._placed_change = None
            await intake.close()

    @property
    def state(self) -> ProjectorState:
        """How it is doing now."""
        now = time.monotonic()
        lag = self._lag()
        moving = now - self._progressed_at < _PROGRESS_S
        return ProjectorState(
            alive=now - self._turned_at < _ALIVE_S,
            ready=self._joined
            and self._placed_change is not None
            and not self._parking.parked
            and (lag == 0 or moving),
            partitions=self._share,
            parked=self._parking.parked,
            lag=lag,
        )

    @property
    def ready(self) -> bool:
        """Whether its share of the partitions is read, and caught up with or going forward."""
        return self.state.ready

    async def _turn(self, intake: Intake, stop: asyncio.Event) -> None:
        """Go round once: place where that is needed, poll, apply."""
        try:
            if self._parking.release_due() or self._placed_change != intake.changes:
                await self._place(intake)
            items = await intake.poll()
            if items and self._placed_change == intake.changes:
                before = self._parking.waiting
                await self._isolating(await self._ready_applier()).apply(items, self._positions)
                self._progressed_at = time.monotonic()
                if self._parking.waiting != before:
                    self._placed_change = None
            self._pause_s = _FIRST_PAUSE_S
            await self._tell(intake)
        except PositionMoved as moved:
            _LOG.warning("%s", moved)
            metrics.POSITIONS_LOST.labels(self._generation).inc()
            self._placed_change = None
        except Exception as error:  # noqa: BLE001 - a store that is down, or a fault of our own: it is logged, counted and tried again, since ending the process would not mend it
            await self._back_off(intake, stop, error)

    async def _place(self, intake: Intake) -> None:
        """Read the positions of this process' share and have the intake read on there.

        Raises:
            ReadModelUnavailable, LogUnavailable: that cannot be done now.
        """
        change, share = intake.changes, intake.assigned
        self._parking.keep_only(share)
        partitions = sorted(share - self._parking.waiting)
        applier = await self._ready_applier()
        positions = await applier.positions(self._topics, partitions)
        ends = await intake.ends(list(positions))
        for place, error in _truncated(positions, ends):
            self._parking.park(place[1], error)
        waiting = self._parking.waiting
        positions = {place: at for place, at in positions.items() if place[1] not in waiting}
        await intake.place(positions)
        self._positions, self._ends = positions, ends
        self._share, self._joined = share, intake.joined
        self._placed_change = change

    async def _ready_applier(self) -> Applier:
        """Return the applier, made as soon as the keyring tells the system's subject.

        Raises:
            KeyringUnavailable, KeyMissing: it does not.
        """
        if self._applier is None:
            system = await self._keyring.system_subject()
            self._applier = Applier(
                self._read_model,
                self._keyring,
                self._dead_letters,
                system_subject=system.subject,
                partitions=self._partitions,
                sides=self._sides,
            )
        return self._applier

    def _isolating(self, applier: Applier) -> IsolatingApplier:
        return IsolatingApplier(applier, self._parking)

    async def _back_off(self, intake: Intake, stop: asyncio.Event, error: Exception) -> None:
        """Wait, longer each time, while staying a member of the group."""
        known = isinstance(error, MemledgerError)
        _LOG.error(
            "%s: %s; trying again in %.1f s",
            type(error).__name__,
            error,
            self._pause_s,
            exc_info=None if known else error,
        )
        metrics.FAILURES.labels(self._generation, type(error).__name__).inc()
        self._placed_change = None
        deadline = time.monotonic() + self._pause_s
        self._pause_s = min(self._pause_s * 2, _PAUSE_S_MAX)
        try:
            await intake.place({})
            while time.monotonic() < deadline and not stop.is_set():
                await intake.poll()
        except FAILURES_OF_STORES:
            await asyncio.sleep(max(0.0, deadline - time.monotonic()))

    async def _tell(self, intake: Intake) -> None:
        """Refresh the gauges, every now and then."""
        now = time.monotonic()
        for place in self._positions:
            end = intake.known_end(place)
            if end is not None:
                self._ends[place] = end
        if now - self._told_at < _TELL_EVERY_S or self._applier is None:
            return
        self._told_at = now
        for (topic, partition), position in self._positions.items():
            lag = max(0, self._ends.get((topic, partition), position) - position)
            metrics.LAG.labels(self._generation, topic, str(partition)).set(lag)
        open_turns = await self._applier.count_open_turns(sorted(self._share))
        for partition, number in open_turns.items():
            metrics.OPEN_TURNS.labels(self._generation, str(partition)).set(number)
        await self._tell_waiting()

    async def _tell_waiting(self) -> None:
        counted = await count_waiting_turns(self._read_model, self._share)
        waiting = {(count.partition, count.cause): count for count in counted}
        for partition in self._share:
            for cause in DeferralCause:
                labels = (self._generation, str(partition), cause.value)
                count = waiting.get((partition, cause))
                turns = 0 if count is None else count.turns
                # Accepted by another clock: it may be ahead of this one.
                age = 0.0 if count is None else (utc_now() - count.oldest_at).total_seconds()
                metrics.TURNS_DEFERRED.labels(*labels).set(turns)
                metrics.DEFERRED_OLDEST_SECONDS.labels(*labels).set(max(0.0, age))

    def _lag(self) -> int | None:
        if self._placed_change is None:
            return None
        return sum(
            max(0, self._ends.get(place, position) - position)
            for place, position in self._positions.items()
        )


def _truncated(
    positions: Mapping[TopicPartitionPair, int], ends: Mapping[TopicPartitionPair, int]
) -> Iterator[tuple[TopicPartitionPair, LogTruncated]]:
    """Yield the partitions of a log that lost what was applied already."""
    for place, position in positions.items():
        if position > ends[place]:
            topic, partition = place
            yield (
                place,
                LogTruncated(
                    f"{topic}[{partition}] ends at offset {ends[place]}, but was applied up to "
                    f"{position}: the broker lost records, or this read model belongs to another "
                    "log; restore the log, or drop the schema of the generation and start again: "
                    "the read model is then rebuilt from the log"
                ),
            )
