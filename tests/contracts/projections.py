"""What a projection owes to who asks what waits, what was spent and what was left to a person.

A suite to inherit from, for the read model and for the ledger in memory that simulations run on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.events import FlagApproved, FlagRefused
from schemas.flags import Flags, FlagState
from schemas.proposals import Usage
from schemas.records import Closing, DeferralCause
from schemas.spending import Spending
from schemas.waiting import WaitingTurns
from tests.support.log_writer import NOON, TENANT, LogWriter, at

OTHER_TENANT = "other"
TODAY = NOON.date()
_FAR = 1 << 40


@dataclass(frozen=True, kw_only=True)
class ProjectionSite:
    """A projection over a log that stands still until it is told to read.

    Attributes:
        waiting, spending, flags: the ports under test.
        writer: a user.
        stranger: a user of another tenant, whose records lie in another partition.
        catch_up: applies everything that the log holds.
    """

    waiting: WaitingTurns
    spending: Spending
    flags: Flags
    writer: LogWriter
    stranger: LogWriter
    catch_up: Callable[[], Awaitable[None]]

    async def waits(
        self, *, conversation_id: str = "conversation", below: int = _FAR, limit: int = 100
    ) -> list[UUID]:
        """Return the user's turns that wait in a conversation."""
        found = await self.waiting.of_conversation(
            subject=self.writer.subject,
            conversation_id=conversation_id,
            below=below,
            limit=limit,
        )
        return [turn.turn_id for turn in found]


class ProjectionContract:
    """Holds for every projection."""

    @pytest.fixture
    def opened(self) -> Callable[[], AbstractAsyncContextManager[ProjectionSite]]:
        """Opens a site inside a running event loop."""
        raise NotImplementedError

    @pytest.fixture
    def play(self, opened: Callable[[], AbstractAsyncContextManager[ProjectionSite]]) -> Play:
        """Runs a scene on a fresh site."""

        def run(act: Callable[[ProjectionSite], Awaitable[None]]) -> None:
            async def scene() -> None:
                async with opened() as site:
                    await act(site)

            asyncio.run(scene())

        return run

    def test_tells_which_turns_wait_until_they_are_settled(self, play: Play) -> None:
        async def act(site: ProjectionSite) -> None:
            writer = site.writer
            first = await writer.deferred(minutes=5)
            other = await writer.deferred(conversation_id="other", minutes=1)
            second = await writer.deferred(minutes=9, cause=DeferralCause.BUDGET)
            await site.stranger.deferred(minutes=0)
            await site.catch_up()

            found = await site.waiting.of_conversation(
                subject=writer.subject, conversation_id="conversation", below=_FAR, limit=9
            )
            assert [(turn.turn_id, turn.turn_offset) for turn in found] == [
                (first.turn_id, first.offset),
                (second.turn_id, second.offset),
            ]
            assert [turn.deferral.cause for turn in found] == list(DeferralCause)
            assert [turn.deferral.received_at for turn in found] == [at(5), at(9)]
            assert await site.waits(below=second.offset) == [first.turn_id]
            assert await site.waits(limit=1) == [first.turn_id]
            assert await site.waits(conversation_id="other") == [other.turn_id]
            assert await site.waits(conversation_id="none") == []

            quiet = await site.waiting.quiet_since(
                partition=writer.partition, moment=at(10), after=None, limit=9
            )
            assert [(one.conversation_id, one.turns) for one in quiet] == [
                ("other", 1),
                ("conversation", 2),
            ]
            assert {one.subject for one in quiet} == {writer.subject}
            assert (quiet[1].first_turn_id, quiet[1].last_turn_id) == (
                first.turn_id,
                second.turn_id,
            )
            assert quiet[1].last_received_at == at(9)
            for after in (None, quiet[0], quiet[1]):
                page = await site.waiting.quiet_since(
                    partition=writer.partition, moment=at(10), after=after, limit=1
                )
                assert page == (quiet[:1] if after is None else quiet[1:] * (after == quiet[0]))
            # Its first turn is old, its last one is not.
            quiet = await site.waiting.quiet_since(
                partition=writer.partition, moment=at(9), after=None, limit=9
            )
            assert [one.conversation_id for one in quiet] == ["other"]

            await writer.settle(first)
            await writer.settle(first, other, closing=Closing.DEFERRED)
            await site.catch_up()
            assert await site.waits() == [second.turn_id]
            assert await site.waits(conversation_id="other") == [other.turn_id]

        play(act)

    def test_adds_up_what_was_spent_each_outcome_once(self, play: Play) -> None:
        usage = Usage(calls=2, input_tokens=10, output_tokens=3, cache_read_tokens=4)
        asked: dict[str, Any] = {"extractor": "openai", "model": "large", "usage": usage}

        async def act(site: ProjectionSite) -> None:
            writer = site.writer
            turn = await writer.turn()
            outcome = writer.outcome(turn, **asked)
            await writer.append(outcome)
            await writer.append(outcome)
            await writer.append(writer.outcome(await writer.turn()))
            waiting = [await writer.deferred() for _ in range(3)]
            await writer.settle(*waiting, **asked)
            looked_through = await writer.turn()
            await writer.append(writer.outcome(looked_through, closes="consolidation", **asked))
            yesterday = NOON - timedelta(days=1)
            await writer.append(writer.outcome(await writer.turn(), decided_at=yesterday, **asked))
            stranger = site.stranger
            await stranger.append(stranger.outcome(await stranger.turn(), **asked))
            await site.catch_up()

            (spend,) = await site.spending.spent(since=TODAY, tenant=TENANT)
            assert (spend.day, spend.tenant) == (TODAY, TENANT)
            assert (spend.extractor, spend.model) == ("openai", "large")
            assert (spend.closings, spend.turns) == (3, 1 + 3)
            assert spend.usage == Usage(
                calls=6, input_tokens=30, output_tokens=9, cache_read_tokens=12
            )
            every = await site.spending.spent(since=date.min)
            assert [(one.day, one.tenant, one.turns) for one in every] == [
                (yesterday.date(), TENANT, 1),
                (TODAY, OTHER_TENANT, 1),
                (TODAY, TENANT, 4),
            ]
            assert await site.spending.spent(since=TODAY, tenant="nobody") == ()

        play(act)

    def test_finds_a_flag_for_its_own_tenant_with_the_first_decision(self, play: Play) -> None:
        async def act(site: ProjectionSite) -> None:
            writer = site.writer
            turn = await writer.turn()
            flag = writer.flag(turn, minutes=2)
            await writer.append(writer.outcome(turn, [flag], closing=Closing.FLAGGED))
            await site.catch_up()

            found = await site.flags.get(TENANT, flag.flag_id)
            assert found is not None
            assert (found.subject, found.turn_id) == (writer.subject, turn.turn_id)
            assert (found.operation, found.reasons) == (flag.proposed, flag.reasons)
            assert (found.said_at, found.flagged_at) == (NOON, at(2))
            assert (found.state, found.verdict) == (FlagState.OPEN, None)
            assert await site.flags.get(OTHER_TENANT, flag.flag_id) is None

            decision: dict[str, Any] = {
                "flag_id": flag.flag_id,
                "actor": "ann",
                "decided_at": at(5),
            }
            first, second = await writer.turn(), await writer.turn()
            refused = FlagRefused(reason="nobody promised that", **decision)
            await writer.append(writer.outcome(first, [refused]))
            approved = FlagApproved(reason="too late", **decision)
            stray = approved.model_copy(update={"flag_id": uuid4()})
            await writer.append(writer.outcome(second, [approved, stray]))
            await site.catch_up()

            found = await site.flags.get(TENANT, flag.flag_id)
            assert found is not None
            assert found.state is FlagState.REFUSED
            assert found.verdict is not None
            assert (found.verdict.reason, found.verdict.turn_id) == (
                "nobody promised that",
                first.turn_id,
            )
            assert (found.verdict.actor, found.verdict.decided_at) == ("ann", at(5))
            # A decision about what this generation never flagged is kept, and shows nothing.
            assert await site.flags.get(TENANT, stray.flag_id) is None

        play(act)


Play = Callable[[Callable[[ProjectionSite], Awaitable[None]]], None]
