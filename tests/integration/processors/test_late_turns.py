"""Turns that arrive late, through workers, a projector and the read model's ledger."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

from schemas.events import MemoryConfirmed
from schemas.memory import ABOUT_USER, Confidence, MemoryKind
from schemas.ports import Extraction, ExtractionRequest
from schemas.proposals import Action, Operation
from schemas.slots import Slot
from tests.conftest import TestStores
from tests.support.one_process import OneProcess, opened_pipeline
from tests.support.turns import NOON, sealed_turn

_MONTH = 30 * 24 * 60
"""Minutes."""


class _HomeExtractor:
    """Takes each turn for the place where the user lives."""

    name = model = prompt_hash = "home"
    known_max = 0

    async def extract(self, request: ExtractionRequest) -> Extraction:
        text = request.turn.user_text
        home = Operation(
            action=Action.ADD,
            kind=MemoryKind.SEMANTIC,
            slot=Slot.RESIDENCE,
            about=ABOUT_USER,
            content=text,
            importance=3,
            confidence=Confidence.STATED,
            quote=text,
        )
        return Extraction(operations=(home,))


def _month(number: int) -> datetime:
    return NOON + timedelta(minutes=number * _MONTH)


async def _homes(pipeline: OneProcess) -> list[tuple[object, ...]]:
    async with pipeline.read_model.connection() as connection, connection.transaction():
        await connection.execute("SELECT set_config('memledger.every_subject', 'yes', true)")
        cursor = await connection.execute(
            "SELECT content, valid_from, valid_to FROM memories ORDER BY valid_from"
        )
        return await cursor.fetchall()


def test_a_late_turn_does_not_displace_what_was_said_again_after_it(stores: TestStores) -> None:
    async def run() -> None:
        async with opened_pipeline(stores) as pipeline, pipeline.projecting():
            keys = await pipeline.keys_of("user")
            said = [("Lives in Bangalore", 1), ("Lives in Bangalore", 3), ("Lives in Pune", 2)]
            placed = []
            for text, month in said:
                sealed = sealed_turn(
                    keys, text, partitions=stores.partitions, minute=month * _MONTH
                )
                placed.append(await pipeline.append(keys, sealed))
            async with pipeline.working(_HomeExtractor()):
                await pipeline.all_closed(placed)

            outcomes = [outcome for _, _, outcome in await pipeline.outcomes()]

            assert isinstance(outcomes[1].events[0], MemoryConfirmed)
            assert await _homes(pipeline) == [
                ("Lives in Bangalore", _month(1), _month(2)),
                ("Lives in Pune", _month(2), _month(3)),
                ("Lives in Bangalore", _month(3), None),
            ]

    asyncio.run(run())
