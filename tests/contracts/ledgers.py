"""What every ledger owes to the workers that take a partition over; a suite to inherit from.

Which memories are nearest to a vector is not in it: the ledger in memory, which simulations run on,
finds those that it is told to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from uuid import UUID, uuid4

import pytest

from schemas.events import (
    MemoriesDeleted,
    MemoriesMerged,
    MemoryAdded,
    MemoryConfirmed,
    MemoryEvent,
    MemoryPinned,
    MemoryRetracted,
    MemoryVouched,
    ProposalRejected,
    RejectionReason,
)
from schemas.memory import Embedding, MemoryKind, statement_key
from schemas.ports import (
    Ledger,
    PartitionProgress,
    Related,
    SimilarTo,
    StoredMemory,
    TurnContext,
)
from schemas.records import Closing
from schemas.slots import Slot
from schemas.suppression import SuppressionKeying
from tests.support.log_writer import NOON, AppendedTurn, LogWriter, at, embedding

SETTLED_S = 5.0
"""How long a wait that is due may take to end; on a busy machine much of it is the machine's."""


@dataclass(frozen=True, kw_only=True)
class LedgerSite:
    """A ledger over a log that stands still until it is told to read.

    Attributes:
        ledger: the ledger under test.
        writers: two users whose records lie in different partitions.
        catch_up: applies everything that the log holds.
    """

    ledger: Ledger
    writers: tuple[LogWriter, LogWriter]
    catch_up: Callable[[], Awaitable[None]]

    @property
    def writer(self) -> LogWriter:
        """The first user."""
        return self.writers[0]

    async def progress(self) -> PartitionProgress:
        """Return the progress of the first user's partition."""
        return await self.ledger.progress(self.writer.partition)

    async def context(self, turn_id: UUID) -> TurnContext:
        """Return what is known of a turn of the first user."""
        return await self.ledger.context(
            subject=self.writer.subject,
            turn_id=turn_id,
            partition=self.writer.partition,
            vector=None,
            known_max=0,
        )

    async def related(
        self,
        *,
        slots: Sequence[tuple[Slot, str]] = (),
        statement_keys: Sequence[bytes] = (),
        memory_ids: Sequence[UUID] = (),
        similar: Sequence[SimilarTo] = (),
    ) -> tuple[StoredMemory, ...]:
        """Return what the first user's memories are, as far as it is named."""
        found = await self.ledger.related(
            subject=self.writer.subject,
            slots=slots,
            statement_keys=statement_keys,
            memory_ids=memory_ids,
            similar=similar,
        )
        return found.versions

    async def closed(self, closing: Closing = Closing.NOTHING_FOUND, floor: int = 0) -> int:
        """Append a turn with its outcome and return the outcome's offset."""
        return await self.close(await self.writer.turn(), closing, floor)

    async def close(
        self, turn: AppendedTurn, closing: Closing = Closing.NOTHING_FOUND, floor: int = 0
    ) -> int:
        """Append the outcome of a turn and return its offset."""
        rejected = ProposalRejected(operation=0, reasons=(RejectionReason.CONTENT_EMPTY,))
        events = [rejected] if closing is Closing.REJECTED else []
        return await self.writer.append(
            self.writer.outcome(turn, events, closing=closing, proposals_floor=floor)
        )


Opened = AbstractAsyncContextManager[LedgerSite]


class LedgerContract:
    """Holds for every ledger."""

    @pytest.fixture
    def opened(self) -> Callable[[], Opened]:
        """Opens a site inside a running event loop."""
        raise NotImplementedError

    @pytest.fixture
    def play(
        self, opened: Callable[[], Opened]
    ) -> Callable[[Callable[[LedgerSite], Awaitable[None]]], None]:
        """Runs a scene on a fresh site."""

        def run(act: Callable[[LedgerSite], Awaitable[None]]) -> None:
            async def scene() -> None:
                async with opened() as site:
                    await act(site)

            asyncio.run(scene())

        return run

    def test_of_an_empty_log_knows_nothing_and_closes_nothing(self, play: Play) -> None:
        async def act(site: LedgerSite) -> None:
            await site.catch_up()
            progress = await site.progress()

            assert progress == PartitionProgress(
                open_offsets=frozenset(), turns_next=0, memories_next=0, proposals_floor=0
            )
            assert not progress.closed(0)
            context = await site.context(uuid4())
            assert (context.closing, context.owner, context.nearest) == (None, None, ())

        play(act)

    def test_tells_which_turns_are_open(self, play: Play) -> None:
        async def act(site: LedgerSite) -> None:
            turns = [await site.writer.turn() for _ in range(4)]
            for place in (0, 2):
                await site.close(turns[place])
            await site.catch_up()

            progress = await site.progress()

            assert progress.open_offsets == {1, 3}
            assert (progress.turns_next, progress.memories_next) == (4, 2)
            assert progress.watermark == 1
            closed = [progress.closed(offset) for offset in range(5)]
            assert closed == [True, False, True, False, False]

        play(act)

    def test_says_nothing_of_what_it_has_not_read(self, play: Play) -> None:
        async def act(site: LedgerSite) -> None:
            await site.closed()
            await site.catch_up()
            later = await site.writer.turn()
            await site.close(later)

            progress = await site.progress()

            assert (progress.turns_next, progress.memories_next) == (1, 1)
            assert (await site.context(later.turn_id)).closing is None

        play(act)

    def test_keeps_partitions_apart(self, play: Play) -> None:
        async def act(site: LedgerSite) -> None:
            await site.closed()
            await site.writers[1].turn()
            await site.ledger.claim(site.writer.partition, "worker")
            await site.catch_up()

            other = await site.ledger.progress(site.writers[1].partition)

            assert other.open_offsets == {0}
            assert (other.turns_next, other.memories_next) == (1, 0)
            assert (await site.progress()).open_offsets == frozenset()

        play(act)

    @pytest.mark.parametrize(
        "closing",
        [Closing.STORED, Closing.NOTHING_FOUND, Closing.REJECTED, Closing.DEAD_LETTERED],
    )
    def test_tells_how_a_turn_closed(self, play: Play, closing: Closing) -> None:
        async def act(site: LedgerSite) -> None:
            turn = await site.writer.turn()
            await site.close(turn, closing)
            await site.catch_up()

            assert (await site.context(turn.turn_id)).closing is closing

        play(act)

    def test_counts_the_first_outcome_of_a_turn_and_no_other(self, play: Play) -> None:
        async def act(site: LedgerSite) -> None:
            turn = await site.writer.turn()
            for closing in (Closing.REJECTED, Closing.STORED):
                await site.close(turn, closing)
                await site.catch_up()

            assert (await site.context(turn.turn_id)).closing is Closing.REJECTED
            assert (await site.progress()).memories_next == 2

        play(act)

    @pytest.mark.parametrize("outcome_first", [False, True])
    def test_takes_a_turn_for_closed_whose_outcome_nobody_can_use(
        self, play: Play, *, outcome_first: bool
    ) -> None:
        async def act(site: LedgerSite) -> None:
            turn = await site.writer.turn()
            other = await site.writer.turn()
            if not outcome_first:
                await site.catch_up()
            await site.writer.append_altered(site.writer.outcome(turn))
            await site.catch_up()

            assert (await site.context(turn.turn_id)).closing is Closing.DEAD_LETTERED
            progress = await site.progress()
            assert progress.open_offsets == {other.offset}
            assert (progress.turns_next, progress.memories_next) == (2, 1)

            # A good outcome that comes after it is one too many.
            await site.close(turn, Closing.REJECTED, floor=7)
            await site.catch_up()
            assert (await site.context(turn.turn_id)).closing is Closing.DEAD_LETTERED
            assert (await site.progress()).proposals_floor == 0

        play(act)

    def test_counts_an_outcome_that_came_before_one_that_nobody_can_use(self, play: Play) -> None:
        async def act(site: LedgerSite) -> None:
            turn = await site.writer.turn()
            await site.close(turn, Closing.REJECTED)
            await site.writer.append_altered(site.writer.outcome(turn))
            await site.catch_up()

            assert (await site.context(turn.turn_id)).closing is Closing.REJECTED
            assert (await site.progress()).open_offsets == frozenset()

        play(act)

    def test_takes_a_turn_that_is_appended_again_for_the_same_one(self, play: Play) -> None:
        async def act(site: LedgerSite) -> None:
            turn = await site.writer.turn()
            await site.writer.turn(turn.turn_id)
            await site.catch_up()
            assert (await site.progress()).open_offsets == {0}

            await site.close(turn)
            await site.writer.turn(turn.turn_id)
            await site.catch_up()

            progress = await site.progress()
            assert (progress.open_offsets, progress.turns_next) == (frozenset(), 3)

        play(act)

    def test_keeps_the_highest_floor_of_the_proposals(self, play: Play) -> None:
        async def act(site: LedgerSite) -> None:
            for floor in (3, 9, 5):
                await site.closed(floor=floor)
            await site.catch_up()

            assert (await site.progress()).proposals_floor == 9

        play(act)

    def test_gives_a_partition_to_who_claims_it_last(self, play: Play) -> None:
        async def act(site: LedgerSite) -> None:
            owners: list[str | None] = []
            for owner in ("first", "second", "second", "first"):
                await site.ledger.claim(site.writer.partition, owner)
                owners.append((await site.context(uuid4())).owner)

            assert owners == ["first", "second", "second", "first"]

        play(act)

    def test_ends_a_wait_when_the_outcome_is_applied_and_not_before(self, play: Play) -> None:
        async def act(site: LedgerSite) -> None:
            await site.closed()
            await site.catch_up()
            offset = await site.closed()
            waiting = [
                asyncio.create_task(site.ledger.wait_applied(site.writer.partition, offset))
                for _ in range(3)
            ]
            await site.progress()
            assert not any(wait.done() for wait in waiting)
            # Who gives up takes nobody along.
            waiting[0].cancel()

            await site.catch_up()

            results = await asyncio.wait_for(
                asyncio.gather(*waiting, return_exceptions=True), SETTLED_S
            )
            assert [type(result) for result in results] == [
                asyncio.CancelledError,
                type(None),
                type(None),
            ]

        play(act)

    def test_does_not_wait_for_what_is_applied(self, play: Play) -> None:
        async def act(site: LedgerSite) -> None:
            offsets: Sequence[int] = [await site.closed() for _ in range(2)]
            await site.catch_up()

            for offset in offsets:
                wait = site.ledger.wait_applied(site.writer.partition, offset)
                await asyncio.wait_for(wait, SETTLED_S)

        play(act)

    def test_finds_no_memories_for_a_user_who_has_none(self, play: Play) -> None:
        async def act(site: LedgerSite) -> None:
            await site.closed()
            await site.catch_up()

            found = await site.ledger.related(
                subject=site.writer.subject,
                slots=[(Slot.NAME, "user")],
                statement_keys=[b"0" * 16],
                memory_ids=[uuid4()],
            )

            assert (found.versions, found.suppressed) == ((), {})

        play(act)

    def test_tells_when_a_memory_was_last_confirmed(self, play: Play) -> None:
        async def act(site: LedgerSite) -> None:
            turn = await site.writer.turn()
            added = site.writer.new_memory(turn, slot=Slot.RESIDENCE)
            await site.writer.append(site.writer.outcome(turn, [MemoryAdded(memory=added)]))
            await site.catch_up()
            key = statement_key(added.kind, added.about, added.content, added.valid_from)

            async def found() -> list[StoredMemory]:
                """Return what is found by slot, by statement and by id."""
                by_slot = await site.related(slots=[(Slot.RESIDENCE, "user")])
                by_statement = await site.related(statement_keys=[key])
                by_id = await site.related(memory_ids=[added.memory_id])
                return [*by_slot, *by_statement, *by_id]

            before = await found()
            assert [stored.memory for stored in before] == [
                added.model_copy(update={"embedding": None})
            ] * 3
            assert all(stored.live for stored in before)
            assert {max(stored.confirmed_at, default=NOON) for stored in before} == {NOON}

            for minutes in (9, 5):
                turn = await site.writer.turn()
                confirmed = MemoryConfirmed(
                    memory_id=added.memory_id,
                    turn_id=turn.turn_id,
                    quote="quote",
                    confirmed_at=at(minutes),
                )
                await site.writer.append(site.writer.outcome(turn, [confirmed]))
            await site.catch_up()

            assert [max(stored.confirmed_at) for stored in await found()] == [at(9)] * 3

        play(act)

    def test_tells_that_a_memory_was_withdrawn(self, play: Play) -> None:
        async def act(site: LedgerSite) -> None:
            turn = await site.writer.turn()
            added = site.writer.new_memory(turn)
            await site.writer.append(site.writer.outcome(turn, [MemoryAdded(memory=added)]))
            turn = await site.writer.turn()
            withdrawn = MemoryRetracted(
                memory_id=added.memory_id,
                turn_id=turn.turn_id,
                quote="quote",
                retracted_at=at(1),
            )
            await site.writer.append(site.writer.outcome(turn, [withdrawn]))
            await site.catch_up()

            (stored,) = await site.related(memory_ids=[added.memory_id])

            assert (stored.retracted, stored.live) == (True, False)

        play(act)

    def test_finds_what_a_merge_ties_to_a_memory(self, play: Play) -> None:
        async def act(site: LedgerSite) -> None:
            sources = [(await site.writer.stored())[1].memory_id for _ in range(3)]
            turn = await site.writer.turn()
            merged = site.writer.new_memory(turn, merged_from=tuple(sources))
            await site.writer.append(site.writer.outcome(turn, [MemoriesMerged(memory=merged)]))
            _, other, _ = await site.writer.stored()
            await site.catch_up()

            for named in (merged.memory_id, *sources):
                found = await site.related(memory_ids=[named])
                assert {stored.memory.memory_id: stored.merged_into for stored in found} == {
                    merged.memory_id: None,
                    **dict.fromkeys(sources, merged.memory_id),
                }
            (alone,) = await site.related(memory_ids=[other.memory_id])
            assert (alone.memory.memory_id, alone.live) == (other.memory_id, True)

        play(act)

    def test_tells_what_persons_decided(self, play: Play) -> None:
        async def act(site: LedgerSite) -> None:
            writer = site.writer
            turn, held, _ = await writer.stored(curated_at=at(3))
            _, gone, _ = await writer.stored(slot=Slot.NOTE, content="Plays the bassoon")
            deciding = await writer.turn()
            told = {"turn_id": deciding.turn_id, "actor": "ann"}
            keying = SuppressionKeying.of_subject(writer.keys.id_secret)
            keys = tuple(sorted(keying.suppression_keys(gone)))
            decided: list[MemoryEvent] = [
                MemoryPinned(memory_id=held.memory_id, pinned=True, pinned_at=at(5), **told),
                MemoryVouched(memory_id=held.memory_id, vouched_at=at(4), **told),
                MemoriesDeleted(
                    memory_ids=(gone.memory_id,), suppresses=keys, deleted_at=at(6), **told
                ),
            ]
            await writer.append(writer.outcome(deciding, decided))
            await site.catch_up()

            async def asked(of: LogWriter) -> Related:
                return await site.ledger.related(
                    subject=of.subject,
                    slots=(),
                    statement_keys=(),
                    memory_ids=(gone.memory_id,),
                    turn_ids=(turn.turn_id,),
                    suppression_keys=(*keys, b"of nothing there"),
                )

            related = await asked(writer)
            (stored,) = related.versions
            assert stored.memory.memory_id == held.memory_id
            assert (stored.memory.curated_at, stored.pinned_at) == (at(4), at(5))
            assert stored.decided_at == at(5)
            assert related.suppressed == dict.fromkeys(keys, at(6))
            assert await asked(site.writers[1]) == Related()

        play(act)

    def test_finds_the_live_statements_nearest_to_a_new_one_with_their_vectors(
        self, play: Play
    ) -> None:
        async def act(site: LedgerSite) -> None:
            wanted = {"slot": Slot.PREFERENCE, "embedding": embedding(1)}
            _, alike, _ = await site.writer.stored(**wanted)
            _, farther, _ = await site.writer.stored(**(wanted | {"embedding": embedding(2)}))
            for other in (
                {"slot": Slot.NOTE},
                {"about": "sister"},
                {"kind": MemoryKind.PROCEDURAL},
                {"valid_to": at(1)},
                {"embedding": None},
            ):
                await site.writer.stored(**(wanted | other))
            turn, withdrawn, _ = await site.writer.stored(**wanted)
            retraction = MemoryRetracted(
                memory_id=withdrawn.memory_id,
                turn_id=turn.turn_id,
                quote="quote",
                retracted_at=at(1),
            )
            turn = await site.writer.turn()
            await site.writer.append(site.writer.outcome(turn, [retraction]))
            await site.catch_up()

            async def found(most: int, vector: Embedding) -> list[StoredMemory]:
                asked = SimilarTo(
                    slot=Slot.PREFERENCE,
                    about="user",
                    kind=MemoryKind.SEMANTIC,
                    vector=vector,
                    most=most,
                )
                # Asked twice over, nothing comes twice.
                return list(await site.related(similar=[asked, asked]))

            assert [stored.memory for stored in await found(1, embedding(1))] == [alike]
            both = await found(9, embedding(1))
            assert {stored.memory.memory_id for stored in both} == {
                alike.memory_id,
                farther.memory_id,
            }
            assert all(stored.memory.embedding is not None for stored in both)
            assert await found(9, embedding(1, model="another")) == []

        play(act)


Play = Callable[[Callable[[LedgerSite], Awaitable[None]]], None]
