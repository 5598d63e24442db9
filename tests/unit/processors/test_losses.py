"""What a record that is given up takes with it: what it cost, and the turns that waited for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from processors.budget import Budgets
from processors.budget_limits import BudgetLimits, TenantLimits
from processors.closers.turns import ExtractionMode
from schemas.errors import ExtractionRejected
from schemas.log.sealed import LogRecord
from schemas.ports import Extraction, ExtractionRequest, Vectors
from schemas.proposals import Usage
from schemas.records import Closing
from schemas.topics import DEAD_LETTERS, memories_topic, proposals_topic
from tests.support.desk import SubjectDesk, waits
from tests.support.embedder import CountingEmbedder
from tests.support.extractors import NotingExtractor, episode
from tests.support.memory_log import Delivery
from tests.support.memory_projections import MemorySpending
from tests.support.memory_worker import GENERATION
from tests.support.turns import NOON
from tests.support.virtual_time import run_virtual

A_CALL = Usage(calls=1, input_tokens=100, output_tokens=10)


class Costly(NotingExtractor):
    """Takes its price for every answer, and refuses what holds a question mark."""

    name = "costly"
    model = "costly-1"

    async def extract(self, request: ExtractionRequest) -> Extraction:
        """Return one episode."""
        await super().extract(request)
        if "?" in request.turn.user_text:
            raise ExtractionRejected("no", usage=A_CALL)
        return Extraction(operations=(episode(request.turn.user_text),), usage=A_CALL)


class Buggy(CountingEmbedder):
    """Stands for a bug of our own: it raises what no embedder may."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        raise KeyError(len(texts))


def as_costly(desk: SubjectDesk) -> Costly:
    assert isinstance(desk.extractor, Costly)
    return desk.extractor


def budgets_after(desk: SubjectDesk, tokens_per_day: int) -> Budgets:
    """Return the budgets of a worker that knows nothing but what the ledger tells."""
    site = desk.site
    return Budgets(
        BudgetLimits(default=TenantLimits(tokens_per_day=tokens_per_day)),
        MemorySpending(site.ledger, site.keyring, partitions=site.partitions),
        None,
        clock=lambda: NOON,
        monotonic=lambda: asyncio.get_running_loop().time(),
    )


def test_what_an_answer_of_no_use_cost_is_in_the_ledger_and_exhausts_the_budget() -> None:
    async def run() -> None:
        desk = SubjectDesk(extractor=Costly())
        turn = desk.say("What of it?")
        assert await budgets_after(desk, 110).exhausted(desk.keys.tenant) is None
        await desk.handle(turn)
        outcome = await desk.outcome(turn)
        assert outcome.closing is Closing.DEAD_LETTERED
        assert (outcome.extractor, outcome.model) == ("costly", "costly-1")
        assert outcome.usage == A_CALL
        ((on, spent),) = desk.site.ledger.state(desk.keys.subject).spent.items()
        assert on == (NOON.date(), "costly", "costly-1")
        assert (spent.closings, spent.turns, spent.usage) == (1, 1, A_CALL)
        assert await budgets_after(desk, 111).exhausted(desk.keys.tenant) is None
        assert await budgets_after(desk, 110).exhausted(desk.keys.tenant) is not None

    run_virtual(run())


@pytest.mark.parametrize(
    "topic", [proposals_topic(GENERATION), memories_topic(GENERATION)], ids=["proposal", "outcome"]
)
def test_what_does_not_fit_into_a_record_has_its_cost_counted(topic: str) -> None:
    async def run() -> None:
        desk = SubjectDesk(extractor=Costly())
        desk.worker.producer.too_large.append(topic)
        turn = desk.say("I live in Rome.")
        await desk.handle(turn)
        outcome = await desk.outcome(turn)
        assert (outcome.closing, outcome.error) == (Closing.DEAD_LETTERED, "InputTooLarge")
        assert (outcome.extractor, outcome.model) == ("costly", "costly-1")
        assert outcome.usage == A_CALL

    run_virtual(run())


def test_a_bug_of_our_own_hides_no_cost() -> None:
    async def run() -> None:
        desk = SubjectDesk(extractor=Costly(), embedder=Buggy())
        await given_up_for_a_bug(desk, desk.say("I live in Rome."))
        assert len(as_costly(desk).requests) == 1

    run_virtual(run())


def test_a_bug_of_our_own_hides_no_cost_of_a_proposal_that_another_worker_paid_for() -> None:
    async def run() -> None:
        async def no_outcome(topic: str) -> Delivery:
            return Delivery.LOST if topic == memories_topic(GENERATION) else Delivery.ACKNOWLEDGED

        first = SubjectDesk(extractor=Costly())
        first.worker.producer.deliver = no_outcome
        turn = first.say("I live in Rome.")
        assert await waits(first.handle(turn), for_s=60)
        second = SubjectDesk(extractor=Costly(), embedder=Buggy(), site=first.site)
        await given_up_for_a_bug(second, turn)
        assert as_costly(second).requests == []

    run_virtual(run())


async def given_up_for_a_bug(desk: SubjectDesk, turn: LogRecord) -> None:
    await desk.handle(turn)
    outcome = await desk.outcome(turn)
    assert (outcome.closing, outcome.error) == (Closing.DEAD_LETTERED, "KeyError")
    assert (outcome.extractor, outcome.model) == ("costly", "costly-1")
    assert outcome.usage == A_CALL


def test_nobody_is_asked_again_where_only_the_dead_letter_is_not_appended_at_once() -> None:
    async def run(topic: str) -> None:
        desk = SubjectDesk(extractor=Costly())
        desk.fail_once(topic)
        turn = desk.say("What of it?")
        await desk.handle(turn)
        assert len(as_costly(desk).requests) == 1
        assert (await desk.outcome(turn)).usage == A_CALL
        assert len(await desk.dead_letters()) == 1

    run_virtual(run(DEAD_LETTERS))
    run_virtual(run(memories_topic(GENERATION)))


def test_a_session_that_our_own_code_fails_on_is_given_up_once_and_for_all() -> None:
    async def run() -> None:
        desk = SubjectDesk(extractor=Costly(), embedder=Buggy(), mode=ExtractionMode.SESSION)
        turns = [desk.say("I live in Rome."), desk.say("I like tea.", minute=1)]
        end = desk.end()
        await desk.handle(*turns, end)
        outcome = await desk.outcome(end)
        assert (outcome.closing, outcome.error) == (Closing.DEAD_LETTERED, "KeyError")
        assert outcome.usage == A_CALL + A_CALL
        assert [await desk.closing(turn) for turn in turns] == [Closing.DEAD_LETTERED] * 2
        assert await kept(desk) == offsets(*turns, end)
        # An hour later nothing waits any longer, so nobody is asked.
        await desk.handle(desk.end())
        assert len(as_costly(desk).requests) == 2

    run_virtual(run())


def test_turns_that_our_own_code_cannot_even_read_again_do_not_wait_for_ever() -> None:
    async def run() -> None:
        desk = SubjectDesk(extractor=Costly(), mode=ExtractionMode.SESSION)
        turn, end = desk.say("I live in Rome."), desk.end()
        await desk.handle(turn)
        desk.site.turn_records.failure = KeyError("a bug")
        await desk.handle(end)
        assert await desk.closing(turn) is Closing.DEAD_LETTERED
        assert await kept(desk) == offsets(end)

    run_virtual(run())


def offsets(*records: LogRecord) -> list[int]:
    return [record.position.offset for record in records]


async def kept(desk: SubjectDesk) -> list[int]:
    """Return the offsets of the records that were kept as dead letters."""
    return sorted(letter.offset for letter in await desk.dead_letters())
