"""Looking through a subject's memories: merges, contradictions, and when it is done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors import metrics
from processors.closers.consolidations import EPISODES_MAX, FACTS_MAX
from processors.consolidation_timer import QUIET, ConsolidationTimer, ConsolidationTimerParts
from processors.extractors.model.consolidation import MEMORIES_MAX
from processors.own_records import OwnRecords
from schemas import ids
from schemas.commands import ConsolidationStart
from schemas.consolidation import ATTEMPTS_MAX, FAILURES_MAX, next_attempt
from schemas.errors import ExtractionFailed
from schemas.events import MemoriesMerged, ProposalFlagged, ProposalRejected, RejectionReason
from schemas.log.sealed import LogRecord
from schemas.memory import Confidence, Memory, MemoryKind
from schemas.ports import ConsolidationRequest, Extraction
from schemas.proposals import Action, Operation
from schemas.records import Closing
from schemas.slots import Slot
from schemas.topics import TURNS
from tests.support.desk import SubjectDesk
from tests.support.extractors import NotingExtractor
from tests.support.turns import NOON
from tests.support.virtual_time import run_virtual

Look = Callable[[Sequence[Memory]], Sequence[Operation]]


class LookingThrough(NotingExtractor):
    """Proposes what a test says when it looks through memories."""

    def __init__(self, look: Look = lambda _: ()) -> None:
        super().__init__()
        self.look = look
        self.looked_through: list[ConsolidationRequest] = []

    async def consolidate(self, request: ConsolidationRequest) -> Extraction:
        """Return what the test proposes."""
        self.looked_through.append(request)
        return Extraction(operations=tuple(self.look([it.memory for it in request.memories])))


def merge(memories: Sequence[Memory], content: str) -> Operation:
    return Operation(
        action=Action.MERGE,
        kind=MemoryKind.EPISODIC,
        slot=Slot.EPISODE,
        about="user",
        content=content,
        importance=3,
        confidence=Confidence.STATED,
        quote="",
        merges=tuple(memory.memory_id for memory in memories),
    )


def contradiction(older: Memory, newer: Memory) -> Operation:
    return merge((), "These cannot both hold.").model_copy(
        update={
            "action": Action.CONTRADICT,
            "reference": older.memory_id,
            "against": newer.memory_id,
            "merges": (),
        }
    )


def started(desk: SubjectDesk) -> LogRecord:
    record_id: UUID = uuid4()
    return desk.command(record_id, ConsolidationStart(turn_id=record_id, occurred_at=NOON))


async def remembering(desk: SubjectDesk, *texts: str) -> None:
    for minute, text in enumerate(texts):
        await desk.handle(desk.say(text, minute=minute))


def live(desk: SubjectDesk) -> list[str]:
    rows = desk.site.ledger.state(desk.keys.subject).memories.values()
    return sorted(
        row.memory.content for row in rows if row.merged_into is None and row.retracted_at is None
    )


RUNS = ("Ran 5 km on Monday.", "Ran 7 km on Wednesday.")


def test_episodes_become_one_memory_that_traces_to_each_of_them() -> None:
    async def run() -> None:
        extractor = LookingThrough(
            lambda found: [merge(found, "Ran 5 km on Monday and 7 km on Wednesday.")]
        )
        desk = SubjectDesk(extractor=extractor)
        await remembering(desk, *RUNS)
        record = started(desk)
        await desk.handle(record)
        outcome = await desk.outcome(record)
        assert (outcome.closing, outcome.closes) == (Closing.STORED, "consolidation")
        (merged,) = outcome.events
        assert isinstance(merged, MemoriesMerged)
        rows = desk.site.ledger.state(desk.keys.subject).memories
        assert sorted(rows[source].memory.content for source in merged.memory.merged_from) == [
            *RUNS
        ]
        assert live(desk) == ["Ran 5 km on Monday and 7 km on Wednesday."]

    run_virtual(run())


def test_a_merge_of_a_merge_traces_to_the_episodes_themselves() -> None:
    async def run() -> None:
        extractor = LookingThrough(lambda found: [merge(found, "Runs 5 to 7 km.")])
        desk = SubjectDesk(extractor=extractor)
        await remembering(desk, *RUNS)
        await desk.handle(started(desk))
        await desk.handle(desk.say("Ran 9 km on Friday.", minute=9))
        extractor.look = lambda found: [
            merge([it for it in found if it.merged_from or "9" in it.content], "Runs 5 to 9 km.")
        ]
        record = started(desk)
        await desk.handle(record)
        (merged,) = (await desk.outcome(record)).events
        assert isinstance(merged, MemoriesMerged)
        rows = desk.site.ledger.state(desk.keys.subject).memories
        sources = [rows[source].memory for source in merged.memory.merged_from]
        assert sorted(it.content for it in sources) == [*RUNS, "Ran 9 km on Friday."]
        assert not any(it.merged_from for it in sources)
        assert live(desk) == ["Runs 5 to 9 km."]

    run_virtual(run())


def test_a_number_that_no_source_holds_is_refused_and_the_sources_stay() -> None:
    async def run() -> None:
        extractor = LookingThrough(lambda found: [merge(found, "Runs 42 km every day.")])
        desk = SubjectDesk(extractor=extractor)
        await remembering(desk, *RUNS)
        record = started(desk)
        await desk.handle(record)
        (rejected,) = (await desk.outcome(record)).events
        assert isinstance(rejected, ProposalRejected)
        assert RejectionReason.UNFOUNDED_MERGE in rejected.reasons
        assert live(desk) == [*RUNS]

    run_virtual(run())


def test_a_contradiction_is_left_to_a_person_and_changes_nothing_by_itself() -> None:
    async def run() -> None:
        extractor = LookingThrough(lambda found: [contradiction(found[0], found[1])])
        desk = SubjectDesk(extractor=extractor)
        facts = ("Commutes to Hinjewadi every day.", "Lives in Bangalore.")
        await remembering(desk, *facts)
        record = started(desk)
        await desk.handle(record)
        outcome = await desk.outcome(record)
        assert outcome.closing is Closing.FLAGGED
        (flagged,) = outcome.events
        assert isinstance(flagged, ProposalFlagged)
        assert flagged.reasons == (RejectionReason.CONTRADICTION,)
        assert live(desk) == [*facts]

    run_virtual(run())


def test_an_exhausted_budget_and_an_extractor_that_cannot_look_at_nothing() -> None:
    async def run() -> None:
        desk = SubjectDesk(extractor=LookingThrough())
        desk.budget.over = True
        cannot = SubjectDesk(extractor=NotingExtractor())
        for one in (desk, cannot):
            record = started(one)
            await one.handle(record)
            outcome = await one.outcome(record)
            assert (outcome.closing, outcome.deferral) == (Closing.DEFERRED, None)
            assert one.proposals == 0

    run_virtual(run())


def counted() -> dict[str, float]:
    (family,) = metrics.CONSOLIDATIONS.collect()
    return {
        one.labels["result"]: one.value for one in family.samples if one.name.endswith("_total")
    }


def test_consolidations_are_counted_by_what_came_of_them() -> None:
    async def run() -> None:
        before = counted()
        desk = SubjectDesk(extractor=LookingThrough())
        first, second = started(desk), started(desk)
        await desk.handle(first, first)
        desk.budget.over = True
        await desk.handle(second)
        failing = SubjectDesk(extractor=LookingThrough(_give_up))
        await failing.handle(started(failing))
        gone = {result: value - before.get(result, 0) for result, value in counted().items()}
        assert {result: value for result, value in gone.items() if value} == {
            "looked_through": 1,
            "held_back": 1,
            "given_up": 1,
        }

    run_virtual(run())


def _give_up(_: Sequence[Memory]) -> Sequence[Operation]:
    raise ExtractionFailed("no usable answer")


def test_all_that_is_looked_at_fits_into_one_question() -> None:
    assert EPISODES_MAX + FACTS_MAX <= MEMORIES_MAX


class Timed:
    """A subject whose memories are looked through by a timer."""

    def __init__(self, *, episodes_min: int) -> None:
        self.extractor = LookingThrough()
        self.desk = SubjectDesk(extractor=self.extractor)
        self.ready = {0: True}
        self.now = NOON + timedelta(hours=2)
        self.timer = ConsolidationTimer(
            ConsolidationTimerParts(
                consolidating=self.desk.site.consolidating,
                records=OwnRecords(
                    keyring=self.desk.site.keyring,
                    producer=self.desk.worker.producer,
                    budget=self.desk.budget,
                    clock=lambda: self.now,
                ),
                ready=lambda: self.ready,
                partitions=1,
                episodes_min=episodes_min,
                clock=lambda: self.now,
            )
        )

    async def work(self) -> None:
        """Work on the start that was appended last."""
        await self.desk.handle(self.desk.site.log.records(TURNS, 0)[-1])


def test_a_crowded_subject_is_looked_through_once_until_there_is_something_new() -> None:
    async def run() -> None:
        timed = Timed(episodes_min=2)
        await remembering(timed.desk, *RUNS)
        assert await timed.timer.look() == 1
        assert await timed.timer.look() == 0
        await timed.work()
        assert await timed.timer.look() == 0
        await timed.desk.handle(timed.desk.say("Ran 9 km on Friday.", minute=9))
        assert await timed.timer.look() == 1
        await timed.work()
        assert len(timed.extractor.looked_through) == 2

    run_virtual(run())


def test_a_start_that_was_lost_is_appended_again_an_hour_later() -> None:
    async def run() -> None:
        timed = Timed(episodes_min=2)
        await remembering(timed.desk, *RUNS)
        assert [await timed.timer.look(), await timed.timer.look()] == [1, 0]
        timed.now += timedelta(hours=1)
        assert [await timed.timer.look(), await timed.timer.look()] == [1, 0]
        first, second = timed.desk.site.log.records(TURNS, 0)[-2:]
        assert first.header().record_id == second.header().record_id

    run_virtual(run())


def test_a_consolidation_that_a_budget_held_back_is_started_again_when_it_is_renewed() -> None:
    async def run() -> None:
        timed = Timed(episodes_min=2)
        await remembering(timed.desk, *RUNS)
        for _ in range(3):
            assert await timed.timer.look() == 1
            # It was exhausted between the start and the work.
            timed.desk.budget.over = True
            await timed.work()
            assert await timed.timer.look() == 0
            timed.desk.budget.over = False
        assert timed.extractor.looked_through == []
        assert await timed.timer.look() == 1
        await timed.work()
        assert await timed.timer.look() == 0
        assert len(timed.extractor.looked_through) == 1

    run_virtual(run())


def test_a_consolidation_without_a_usable_answer_is_tried_again_but_not_for_ever() -> None:
    async def run() -> None:
        timed = Timed(episodes_min=2)
        timed.extractor.look = _give_up
        await remembering(timed.desk, *RUNS)
        for _ in range(FAILURES_MAX):
            assert await timed.timer.look() == 1
            await timed.work()
        assert await timed.timer.look() == 0
        assert len(await timed.desk.dead_letters()) == FAILURES_MAX

    run_virtual(run())


@given(st.lists(st.sampled_from([None, *Closing]), max_size=ATTEMPTS_MAX + 3))
def test_another_start_follows_only_what_looked_at_nothing(closings: list[Closing | None]) -> None:
    attempt = next_attempt(closings)
    assert attempt in (None, len(closings))
    if attempt:
        assert attempt < ATTEMPTS_MAX
        assert closings[-1] in (Closing.DEFERRED, Closing.DEAD_LETTERED)
        assert closings.count(Closing.DEAD_LETTERED) < FAILURES_MAX


@pytest.mark.parametrize(
    ("closings", "due"),
    [
        ([], 0),
        ([Closing.DEFERRED] * 3, 3),
        ([Closing.DEAD_LETTERED, Closing.DEFERRED], 2),
        ([Closing.DEFERRED, None], None),
        ([Closing.DEFERRED, Closing.NOTHING_FOUND], None),
        ([Closing.DEFERRED] * ATTEMPTS_MAX, None),
        ([Closing.DEAD_LETTERED, Closing.DEFERRED] * FAILURES_MAX, None),
    ],
)
def test_the_number_of_the_next_start(closings: list[Closing | None], due: int | None) -> None:
    assert next_attempt(closings) == due


@pytest.mark.parametrize(
    ("episodes_min", "hours", "held"), [(3, 2, True), (2, 0, True), (2, 2, False)]
)
def test_few_episodes_a_chat_under_way_and_anothers_partition_are_left_alone(
    episodes_min: int, hours: int, *, held: bool
) -> None:
    async def run() -> None:
        timed = Timed(episodes_min=episodes_min)
        await remembering(timed.desk, *RUNS)
        timed.now = NOON + hours * QUIET
        timed.ready = {0: held}
        assert await timed.timer.look() == 0

    run_virtual(run())


def test_the_start_is_named_for_the_newest_memory_so_that_two_workers_start_one() -> None:
    async def run() -> None:
        timed = Timed(episodes_min=2)
        await remembering(timed.desk, *RUNS)
        await timed.timer.look()
        rows = timed.desk.site.ledger.state(timed.desk.keys.subject).memories.values()
        newest = max(rows, key=lambda row: (row.memory.recorded_at, row.memory.memory_id))
        start = timed.desk.site.log.records(TURNS, 0)[-1].header()
        named = timed.desk.keys.subject, newest.memory.memory_id
        assert start.record_id == ids.consolidation_id(*named)
        assert len({ids.consolidation_id(*named, attempt) for attempt in range(20)}) == 20

    run_virtual(run())
