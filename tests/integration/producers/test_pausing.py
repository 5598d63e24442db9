"""A pause on a real broker and keyring: once it is answered, no gateway appends a turn any more."""

from __future__ import annotations

import asyncio

from producers.append import TurnAppender
from producers.subject_records import Appended, Withheld
from schemas.records import Origin
from tests.conftest import TestStores
from tests.integration.producers.test_append_to_the_log import (
    TENANT,
    log_of,
    parts,
    said_by,
    turn,
)


def test_turns_that_come_while_a_user_pauses_are_appended_or_withheld_and_after_it_withheld(
    stores: TestStores,
) -> None:
    """Of two gateways the one that has the user in memory is not the one that is told to pause."""

    async def scenario() -> None:
        async with parts(stores) as used:
            told, other = (
                TurnAppender(keyring, used.producer, stores.partitions)
                for keyring in (used.keyring, used.other)
            )
            accepted: list[str] = []
            withheld = 0
            answered = False
            late: list[str] = []
            going_on = asyncio.Event()

            async def chat() -> None:
                nonlocal withheld
                number = 0
                while withheld < 3:
                    said, begun_late = f"turn {number}", answered
                    (result,) = await other.append(TENANT, [turn("ann", said)], Origin.HTTP)
                    if isinstance(result, Appended):
                        accepted.append(said)
                        if len(accepted) > 5:
                            going_on.set()
                        if begun_late:
                            late.append(said)
                    else:
                        assert isinstance(result, Withheld)
                        withheld += 1
                    number += 1

            chatting = asyncio.create_task(chat())
            await going_on.wait()
            await used.keyring.set_paused(TENANT, "ann", paused=True)
            answered = True
            (here,) = await told.append(TENANT, [turn("ann", "to the other one")], Origin.HTTP)
            await chatting
            assert isinstance(here, Withheld)
            assert late == []

            # What was answered as accepted stands, and nothing else does.
            keys = (await used.keyring.subjects_for(TENANT, ["ann"], create=False))["ann"]
            assert said_by(await log_of(stores), keys) == accepted

            await used.other.set_paused(TENANT, "ann", paused=False)
            for appender in (told, other):
                (result,) = await appender.append(TENANT, [turn("ann", "again")], Origin.HTTP)
                assert isinstance(result, Appended)

    asyncio.run(scenario())
