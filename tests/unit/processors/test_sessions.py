"""Turns that wait for the end of their session, and what becomes of them then."""

from __future__ import annotations

from uuid import UUID

import pytest
from prometheus_client import Counter

from processors import metrics
from processors.closers.turns import ExtractionMode
from schemas.errors import ExtractionRejected, LogUnavailable
from schemas.events import MemoryAdded
from schemas.log.sealed import LogRecord
from schemas.ports import Extraction, ExtractionRequest, SessionRequest
from schemas.records import Closing, DeferralCause
from schemas.topics import memories_topic
from tests.support.desk import SubjectDesk, waits
from tests.support.extractors import NotingExtractor, episode
from tests.support.memory_log import Delivery
from tests.support.memory_worker import GENERATION
from tests.support.turns import NOON
from tests.support.virtual_time import run_virtual


class ReadingSessions(NotingExtractor):
    """Reads a session as a whole and keeps what each of its turns says."""

    def __init__(self) -> None:
        super().__init__()
        self.sessions: list[SessionRequest] = []

    async def extract_session(self, request: SessionRequest) -> Extraction:
        """Return one episode for each turn that holds a statement."""
        self.sessions.append(request)
        return Extraction(
            operations=tuple(
                episode(turn.user_text).model_copy(update={"turn_id": turn.turn_id})
                for turn in request.turns
                if not turn.user_text.endswith("?")
            )
        )


async def refusing(_: ExtractionRequest) -> None:
    raise ExtractionRejected("no")


def id_of(record: LogRecord) -> UUID:
    return record.header().record_id


def session_desk(extractor: NotingExtractor | None = None) -> SubjectDesk:
    return SubjectDesk(extractor=extractor or ReadingSessions(), mode=ExtractionMode.SESSION)


def test_a_turn_waits_for_its_session_and_nobody_is_asked() -> None:
    async def run() -> None:
        desk = session_desk()
        turn = desk.say("I live in Rome.")
        await desk.handle(turn)
        outcome = await desk.outcome(turn)
        assert outcome.closing is Closing.DEFERRED
        assert outcome.deferral is not None
        assert outcome.deferral.cause is DeferralCause.SESSION
        assert desk.proposals == 0
        assert desk.extractor.requests == []  # type: ignore[attr-defined] # a noting one

    run_virtual(run())


def test_the_end_settles_each_turn_by_what_its_own_words_gave() -> None:
    async def run() -> None:
        extractor = ReadingSessions()
        desk = session_desk(extractor)
        fact, question = desk.say("I live in Rome."), desk.say("What time is it?", minute=1)
        end = desk.end()
        await desk.handle(fact, question, end)
        outcome = await desk.outcome(end)
        assert outcome.closes == "session-end"
        assert await desk.closing(fact) is Closing.STORED
        assert await desk.closing(question) is Closing.NOTHING_FOUND
        (added,) = outcome.events
        assert isinstance(added, MemoryAdded)
        assert added.memory.turn_id == id_of(fact)
        assert added.memory.valid_from == NOON
        (session,) = extractor.sessions
        assert [turn.turn_id for turn in session.turns] == [id_of(fact), id_of(question)]
        assert desk.proposals == 1

    run_virtual(run())


def test_an_extractor_that_reads_turns_is_asked_turn_by_turn() -> None:
    async def run() -> None:
        extractor = NotingExtractor()
        desk = session_desk(extractor)
        turns = [desk.say(f"I have {number} cats.", minute=number) for number in (1, 2, 3)]
        await desk.handle(*turns, desk.end())
        assert [await desk.closing(turn) for turn in turns] == [Closing.STORED] * 3
        assert [request.turn.turn_id for request in extractor.requests] == list(map(id_of, turns))
        assert desk.proposals == 1

    run_virtual(run())


def test_the_end_settles_neither_another_conversation_nor_what_was_said_after_it() -> None:
    async def run() -> None:
        desk = session_desk()
        other = desk.say("I have a dog.", conversation="another")
        before = desk.say("I live in Rome.")
        end = desk.end()
        after = desk.say("I live in Oslo.", minute=5)
        # The end is worked on last, as after a restart.
        await desk.handle(other, before, after, end)
        assert await desk.closing(before) is Closing.STORED
        assert await desk.closing(other) is Closing.DEFERRED
        assert await desk.closing(after) is Closing.DEFERRED

    run_virtual(run())


def test_an_end_for_which_nothing_waits_closes_as_nothing_found() -> None:
    async def run() -> None:
        desk = session_desk()
        turn = desk.say("I live in Rome.")
        first, second = desk.end(), desk.end()
        await desk.handle(turn, first, second)
        assert (await desk.outcome(first)).closing is Closing.STORED
        nothing = await desk.outcome(second)
        assert (nothing.closing, nothing.settled) == (Closing.NOTHING_FOUND, ())
        assert desk.proposals == 1

    run_virtual(run())


def test_hybrid_asks_at_once_only_for_what_the_user_asks_to_be_remembered() -> None:
    async def run() -> None:
        desk = SubjectDesk(extractor=ReadingSessions(), mode=ExtractionMode.HYBRID)
        plain, asked = desk.say("I live in Rome."), desk.say("Remember that I live in Rome.")
        await desk.handle(plain, asked)
        assert await desk.closing(plain) is Closing.DEFERRED
        assert await desk.closing(asked) is Closing.STORED

    run_virtual(run())


def test_an_exhausted_budget_lets_turns_wait_and_loses_none() -> None:
    async def run() -> None:
        desk = SubjectDesk(extractor=ReadingSessions())
        desk.budget.over = True
        turn, early = desk.say("I live in Rome."), desk.end()
        await desk.handle(turn, early)
        outcome = await desk.outcome(turn)
        assert outcome.deferral is not None
        assert outcome.deferral.cause is DeferralCause.BUDGET
        assert (await desk.outcome(early)).settled == ()
        assert await desk.closing(turn) is Closing.DEFERRED
        assert desk.proposals == 0
        desk.budget.over = False
        await desk.handle(desk.end())
        assert await desk.closing(turn) is Closing.STORED

    run_virtual(run())


def test_what_costs_nothing_does_not_wait_for_a_budget() -> None:
    async def run() -> None:
        desk = SubjectDesk(extractor=ReadingSessions())
        desk.budget.over = True
        thanks, fact = desk.say("Thanks!"), desk.say("I live in Rome.", minute=1)
        await desk.handle(thanks, fact)
        assert (await desk.outcome(thanks)).deferral is None
        assert await desk.closing(fact) is Closing.DEFERRED

    run_virtual(run())


def counted(counter: Counter, **labels: str) -> float:
    (family,) = counter.collect()
    return sum(one.value for one in family.samples if one.labels == labels and "_total" in one.name)


def test_deferrals_and_ends_are_counted_once_however_often_they_are_appended() -> None:
    async def run() -> None:
        desk = session_desk()
        desk.fail_once(memories_topic(GENERATION))
        await desk.handle(desk.say("I live in Rome."))
        assert counted(metrics.DEFERRED, cause="session") == deferred + 1
        desk.budget.over = True
        desk.fail_once(memories_topic(GENERATION))
        await desk.handle(desk.end())
        assert counted(metrics.SESSIONS_ENDED, result="settled_nothing") == nothing + 1
        desk.budget.over = False
        desk.fail_once(memories_topic(GENERATION))
        await desk.handle(desk.end())
        assert counted(metrics.SESSIONS_ENDED, result="settled") == settled + 1

    deferred = counted(metrics.DEFERRED, cause="session")
    settled, nothing = (
        counted(metrics.SESSIONS_ENDED, result=result) for result in ("settled", "settled_nothing")
    )
    run_virtual(run())


def test_a_session_whose_answer_is_of_no_use_is_given_up_with_its_turns() -> None:
    async def run() -> None:
        desk = session_desk(NotingExtractor(step=refusing))
        turns = [desk.say("I live in Rome."), desk.say("I like tea.", minute=1)]
        end = desk.end()
        await desk.handle(*turns, end)
        outcome = await desk.outcome(end)
        assert (outcome.closing, outcome.error) == (Closing.DEAD_LETTERED, "ExtractionRejected")
        assert outcome.closes == "session-end"
        assert [await desk.closing(turn) for turn in turns] == [Closing.DEAD_LETTERED] * 2
        letters = await desk.dead_letters()
        assert {letter.offset for letter in letters} == {
            record.position.offset for record in (*turns, end)
        }

    run_virtual(run())


def test_a_turn_that_was_forgotten_meanwhile_closes_as_erased_and_the_others_are_kept() -> None:
    async def run() -> None:
        extractor = ReadingSessions()
        desk = session_desk(extractor)
        forgotten, kept = desk.say("I live in Rome."), desk.say("I like tea.", minute=1)
        await desk.handle(forgotten, kept)
        desk.bury(forgotten)
        await desk.handle(desk.end())
        assert await desk.closing(forgotten) is Closing.ERASED
        assert await desk.closing(kept) is Closing.STORED
        (session,) = extractor.sessions
        assert [turn.turn_id for turn in session.turns] == [id_of(kept)]

    run_virtual(run())


def test_a_session_of_which_nothing_is_left_asks_nobody() -> None:
    async def run() -> None:
        desk = session_desk()
        turn = desk.say("I live in Rome.")
        await desk.handle(turn)
        desk.bury(turn)
        end = desk.end()
        await desk.handle(end)
        assert await desk.closing(turn) is Closing.ERASED
        assert (await desk.outcome(end)).closing is Closing.NOTHING_FOUND
        assert desk.proposals == 0

    run_virtual(run())


@pytest.mark.parametrize("delivery", [Delivery.LOST, Delivery.UNACKNOWLEDGED])
def test_a_session_is_paid_for_once_however_its_outcome_is_delivered(delivery: Delivery) -> None:
    async def run() -> None:
        extractor = ReadingSessions()
        desk = session_desk(extractor)
        turn, end = desk.say("I live in Rome."), desk.end()
        await desk.handle(turn)
        desk.fail_once(memories_topic(GENERATION), delivery)
        await desk.handle(end)
        assert len(extractor.sessions) == 1
        assert await desk.closing(turn) is Closing.STORED

    run_virtual(run())


def test_a_log_that_cannot_be_read_is_waited_for() -> None:
    async def run() -> None:
        desk = session_desk()
        turn, end = desk.say("I live in Rome."), desk.end()
        await desk.handle(turn)
        desk.site.turn_records.failure = LogUnavailable("the broker does not answer")
        state = await desk.hold()
        assert await waits(desk.worker.work.handle(end, state))
        desk.site.turn_records.failure = None
        await desk.handle(end)
        assert await desk.closing(turn) is Closing.STORED

    run_virtual(run())
