"""The same fact from two workers at once: one lost its partition, the other took it over."""

from __future__ import annotations

import asyncio

from processors.partition_state import PartitionState
from schemas.events import MemoryAdded, MemoryConfirmed
from schemas.memory import Confidence, MemoryKind
from schemas.ports import Extraction, ExtractionRequest
from schemas.proposals import Action, Operation
from schemas.slots import Slot
from schemas.topics import memories_topic
from tests.support.embedder import CountingEmbedder
from tests.support.extractors import NotingExtractor
from tests.support.memory_worker import GENERATION, MemorySite, MemoryWorker
from tests.support.virtual_time import run_virtual

FACT = "I am allergic to peanuts."


class Stating(NotingExtractor):
    """States the user's words as a fact, once it may."""

    async def extract(self, request: ExtractionRequest) -> Extraction:
        """Return one fact."""
        await super().extract(request)
        text = request.turn.user_text
        return Extraction(
            operations=(
                Operation(
                    action=Action.ADD,
                    kind=MemoryKind.SEMANTIC,
                    slot=Slot.ALLERGY,
                    about="user",
                    content=text,
                    importance=5,
                    confidence=Confidence.STATED,
                    quote=text,
                ),
            )
        )


async def hold(worker: MemoryWorker) -> PartitionState:
    """Let a worker take the partition over and return its state, ready."""
    state = await worker.takeover.claim(0)
    making_ready = asyncio.create_task(worker.takeover.make_ready(state))
    await state.ready.wait()
    making_ready.cancel()
    return state


def test_a_fact_that_two_workers_decide_at_once_is_one_memory() -> None:
    async def run() -> None:
        site = MemorySite()
        keys = site.subject()
        begun = asyncio.Event()

        async def tell(_: ExtractionRequest) -> None:
            begun.set()

        slow, quick = Stating(step=tell), Stating()
        slow.gates[FACT] = asyncio.Event()
        zombie = MemoryWorker(site, slow, CountingEmbedder(), owner="zombie")
        successor = MemoryWorker(site, quick, CountingEmbedder(), owner="successor")
        first, second = site.say(keys, FACT), site.say(keys, FACT.upper())

        held = await hold(zombie)
        stuck = asyncio.create_task(zombie.work.handle(first, held))
        await begun.wait()
        taken = await hold(successor)
        await successor.work.handle(first, taken)
        slow.gates[FACT].set()
        await asyncio.gather(stuck, successor.work.handle(second, taken))

        await site.ledger.project(0)
        # The zombie's answer was paid for and decided; it came second, so it counts for nothing.
        assert site.log.end(memories_topic(GENERATION), 0) == 3
        (row,) = site.ledger.state(keys.subject).memories.values()
        assert row.confirmations == 1
        events = [event for it in site.ledger.outcomes(0).values() for event in it.events]
        assert [type(event) for event in events] == [MemoryAdded, MemoryConfirmed]

    run_virtual(run())


def test_a_fact_said_in_two_turns_of_one_moment_is_one_memory() -> None:
    async def run() -> None:
        site = MemorySite()
        keys = site.subject()
        worker = MemoryWorker(site, Stating(), CountingEmbedder())
        state = await hold(worker)
        for record in (site.say(keys, FACT), site.say(keys, FACT)):
            await worker.work.handle(record, state)
        await site.ledger.project(0)
        (row,) = site.ledger.state(keys.subject).memories.values()
        assert row.confirmations == 1

    run_virtual(run())
