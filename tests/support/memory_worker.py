"""A worker without Faust: the real processing over fakes of everything it talks to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from random import Random

from processors.appending import DecisionLog
from processors.closers.making import CloserParts, make_closers
from processors.closers.turns import ExtractionMode
from processors.extraction import Proposer
from processors.log_tail import LogTail
from processors.ports import Budget, Unlimited
from processors.takeover import Takeover
from processors.turn_work import Parts, TurnWork
from schemas.keyring import SubjectKeys
from schemas.log.sealed import LogRecord
from schemas.ports import Embedder, Extractor
from schemas.topics import TURNS
from tests.support.memory_keyring import MemoryKeyring
from tests.support.memory_ledger import MemoryLedger
from tests.support.memory_log import MemoryLog, MemoryProducer, MemoryTail
from tests.support.memory_summaries import MemorySummaries
from tests.support.memory_waiting import MemoryConsolidating, MemoryTurnRecords, MemoryWaiting
from tests.support.turns import NOON, SealedTurn, new_keys, sealed_turn

GENERATION = "g1"


@dataclass
class MemoryLease:
    """A lease that a test takes away and gives back.

    Attributes:
        left_s: what is left of it.
        heartbeat: set while heartbeats are accepted.
        asked: how often somebody waited for it to be renewed.
    """

    left_s: float = 10.0
    heartbeat: asyncio.Event = field(default_factory=asyncio.Event)
    asked: int = 0

    def __post_init__(self) -> None:
        self.heartbeat.set()

    def remaining_s(self) -> float:
        """Return the seconds that are left."""
        return self.left_s

    async def renewed(self) -> None:
        """Return once heartbeats are accepted again."""
        self.asked += 1
        await self.heartbeat.wait()
        self.left_s = 10.0


class MemorySite:
    """A log with its keyring and its projection, in memory.

    Attributes:
        partitions: how many partitions each topic has.
        log, keyring, ledger, tail, waiting, turn_records, consolidating, summaries: as their names
            say.
    """

    def __init__(self, *, partitions: int = 1) -> None:
        self.partitions = partitions
        self.log = MemoryLog()
        self.keyring = MemoryKeyring()
        self.ledger = MemoryLedger(
            self.log, self.keyring, generation=GENERATION, partitions=partitions
        )
        self.tail = MemoryTail(self.log, GENERATION)
        self.waiting = MemoryWaiting(self.ledger, partitions=partitions)
        self.turn_records = MemoryTurnRecords(self.log)
        self.consolidating = MemoryConsolidating(self.ledger)
        self.summaries = MemorySummaries(self.ledger, self.log, partitions=partitions)

    def subject(self, partition: int = 0, *, chance: Random | None = None) -> SubjectKeys:
        """Return the keys of a new subject in a partition."""
        keys = new_keys(partition=partition, partitions=self.partitions, chance=chance)
        return self.keyring.put(keys)

    def say(self, keys: SubjectKeys, text: str) -> LogRecord:
        """Append a turn and return it as it is read."""
        return self.append(sealed_turn(keys, text, partitions=self.partitions))

    def append(self, sealed: SealedTurn) -> LogRecord:
        """Append a sealed turn and return it as it is read."""
        offset = self.log.append(TURNS, sealed.partition, sealed.record)
        return self.log.records(TURNS, sealed.partition, offset)[0]


class MemoryWorker:
    """What one worker process holds.

    Attributes:
        owner: its name.
        lease, producer: its own.
        takeover, work: the real ones.
    """

    def __init__(
        self,
        site: MemorySite,
        extractor: Extractor,
        embedder: Embedder,
        *,
        owner: str = "worker",
        in_flight_max: int = 100,
        tail: LogTail | None = None,
        mode: ExtractionMode = ExtractionMode.TURN,
        budget: Budget | None = None,
        clock: Callable[[], datetime] = lambda: NOON,
        summarises: bool = False,
    ) -> None:
        self.owner = owner
        self.lease = MemoryLease()
        self.producer = MemoryProducer(site.log)
        self.takeover = Takeover(site.ledger, tail or site.tail, self.lease, owner=owner)
        log = DecisionLog(self.producer, site.keyring, generation=GENERATION, clock=clock)
        closers = make_closers(
            CloserParts(
                ledger=site.ledger,
                log=log,
                waiting=site.waiting,
                records=site.turn_records,
                consolidating=site.consolidating,
                summaries=site.summaries if summarises else None,
                proposer=Proposer(
                    extractor,
                    generation=GENERATION,
                    in_flight_max=in_flight_max,
                    attempts_max=3,
                    timeout_s=30.0,
                    clock=clock,
                ),
                embedder=embedder,
                lease=self.lease,
                budget=budget or Unlimited(),
                mode=mode,
                wants_it_now=lambda turn: turn.user_text.startswith("Remember"),
                costs_nothing=lambda turn: turn.user_text.startswith("Thanks"),
                owner=owner,
                generation=GENERATION,
                clock=clock,
            )
        )
        self.work = TurnWork(
            Parts(
                keyring=site.keyring,
                ledger=site.ledger,
                log=log,
                closers=closers,
                takeover=self.takeover,
                generation=GENERATION,
                partitions=site.partitions,
                clock=clock,
            )
        )
