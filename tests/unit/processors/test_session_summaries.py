"""What the end of a session tells of it: from which turns, at which cost, and when not."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from processors.closers import session_summaries
from processors.closers.turns import ExtractionMode
from schemas.commands import SessionEndCause
from schemas.errors import ExtractionRejected, ExtractorUnavailable
from schemas.log.sealed import LogRecord
from schemas.ports import Extraction, ExtractionRequest, SessionRequest, SummaryRequest
from schemas.proposals import Usage
from schemas.records import Closing, Outcome
from schemas.summaries import WithoutSummary
from schemas.summary_events import SessionNotSummarised, SessionSummarised
from schemas.topics import memories_topic, proposals_topic
from tests.support.desk import SubjectDesk
from tests.support.extractors import NotingExtractor, episode
from tests.support.memory_log import Delivery
from tests.support.memory_worker import GENERATION
from tests.support.virtual_time import run_virtual

ONE_CALL = Usage(calls=1, input_tokens=10, output_tokens=2)


class Summarising(NotingExtractor):
    """Reads sessions, and sums up by repeating what the user said.

    Attributes:
        summed: what it was asked to sum up, turn by turn.
        failure: raised instead of an answer while it is set.
        answer: what it writes; ``None`` for what the user said.
    """

    def __init__(self) -> None:
        super().__init__()
        self.summed: list[list[str]] = []
        self.failure: Exception | None = None
        self.answer: str | None = None

    async def extract(self, request: ExtractionRequest) -> Extraction:
        """Keep the turn as an episode."""
        self.requests.append(request)
        return Extraction(operations=(episode(request.turn.user_text),), usage=ONE_CALL)

    async def extract_session(self, request: SessionRequest) -> Extraction:
        """Keep each turn as an episode, but for small talk."""
        if all(turn.user_text == "Thanks" for turn in request.turns):
            return Extraction(operations=(), skipped="small_talk")
        return Extraction(
            operations=tuple(
                episode(turn.user_text).model_copy(update={"turn_id": turn.turn_id})
                for turn in request.turns
            ),
            usage=ONE_CALL,
        )

    async def summarise(self, request: SummaryRequest) -> Extraction:
        """Repeat what the user said."""
        self.summed.append([turn.user_text for turn in request.turns])
        if self.failure is not None:
            raise self.failure
        text = "\n".join(self.summed[-1]) if self.answer is None else self.answer
        return Extraction(operations=(), summary=text, usage=ONE_CALL, stop_reasons=("end",))


class Scene:
    """A desk whose extractor sums up."""

    def __init__(self, mode: ExtractionMode = ExtractionMode.SESSION) -> None:
        self.extractor = Summarising()
        self.desk = SubjectDesk(extractor=self.extractor, mode=mode, summarises=True)

    async def outcome(self, record: LogRecord) -> Outcome:
        """Work on a record and return its outcome."""
        await self.desk.handle(record)
        return await self.desk.outcome(record)

    async def ended(self, cause: SessionEndCause = SessionEndCause.EXPLICIT) -> Outcome:
        """End the session and return the outcome."""
        return await self.outcome(self.desk.end(cause=cause))


def summary_of(outcome: Outcome) -> SessionSummarised | SessionNotSummarised | None:
    """Return what an outcome tells of a summary."""
    found = [
        event
        for event in outcome.events
        if isinstance(event, SessionSummarised | SessionNotSummarised)
    ]
    assert len(found) <= 1
    return found[0] if found else None


def reason_of(outcome: Outcome) -> WithoutSummary | None:
    """Return why an outcome brings no summary."""
    event = summary_of(outcome)
    assert not isinstance(event, SessionSummarised)
    return None if event is None else event.reason


def texts_of(outcome: Outcome) -> str:
    """Return the summary that an outcome brings."""
    event = summary_of(outcome)
    assert isinstance(event, SessionSummarised)
    return event.summary


def scene(
    run: Callable[[Scene], Coroutine[Any, Any, None]], mode: ExtractionMode = ExtractionMode.SESSION
) -> None:
    """Run a scene in virtual time."""
    run_virtual(run(Scene(mode)))


def test_a_session_is_summed_up_from_its_turns_with_what_it_costs() -> None:
    async def run(on: Scene) -> None:
        first, second = on.desk.say("I want a train to Graz."), on.desk.say("A window seat.")
        await on.desk.handle(first, second)
        outcome = await on.ended()
        event = summary_of(outcome)
        assert isinstance(event, SessionSummarised)
        assert event.summary == "I want a train to Graz. A window seat."
        assert [source.turn_id for source in event.sources] == [
            first.header().record_id,
            second.header().record_id,
        ]
        assert [source.leaf for source in event.sources] == [
            first.header().address,
            second.header().address,
        ]
        assert outcome.usage.calls == 2
        assert outcome.closing is Closing.STORED
        assert await on.desk.closing(first) is Closing.STORED
        assert on.desk.proposals == 1

    scene(run)


@pytest.mark.parametrize("mode", list(ExtractionMode))
def test_it_tells_of_all_turns_since_the_one_before_whenever_they_were_asked_about(
    mode: ExtractionMode,
) -> None:
    async def run(on: Scene) -> None:
        await on.desk.handle(on.desk.say("Remember that I want tea."), on.desk.say("And cake."))
        assert texts_of(await on.ended()) == "Remember that I want tea. And cake."
        assert summary_of(await on.ended()) is None
        await on.desk.handle(on.desk.say("Elsewhere.", conversation="another"))
        await on.desk.handle(on.desk.say("No cake after all."))
        assert texts_of(await on.ended()) == "No cake after all."
        assert len(on.extractor.summed) == 2

    scene(run, mode)


def test_a_record_that_asks_for_a_summary_alone_settles_nothing() -> None:
    async def run(on: Scene) -> None:
        await on.desk.handle(on.desk.say("I want tea."))
        waiting = await on.ended(SessionEndCause.SUMMARY)
        assert (summary_of(waiting), waiting.settled) == (None, ())
        assert texts_of(await on.ended()) == "I want tea."

    scene(run)


@pytest.mark.parametrize("topic", ["proposals", "memories"])
@pytest.mark.parametrize("delivery", list(Delivery))
def test_a_summary_is_paid_for_once_however_its_records_are_delivered(
    topic: str, delivery: Delivery
) -> None:
    async def run(on: Scene) -> None:
        await on.desk.handle(on.desk.say("I want tea."))
        named = {"proposals": proposals_topic, "memories": memories_topic}
        on.desk.fail_once(named[topic](GENERATION), delivery)
        assert texts_of(await on.ended()) == "I want tea."
        assert len(on.extractor.summed) == 1

    scene(run)


def test_a_turn_that_is_gone_when_the_proposal_is_found_leaves_no_summary() -> None:
    async def run(on: Scene) -> None:
        said, kept = on.desk.say("My code word is tea."), on.desk.say("And cake.")
        await on.desk.handle(said, kept)
        end = on.desk.end()
        # Another worker paid and died; the turn is erased before this one takes over.
        outcomes = memories_topic(GENERATION)
        on.desk.fail_once(outcomes, Delivery.LOST)
        producer = on.desk.worker.producer
        deliver = producer.deliver

        async def bury_first(to: str) -> Delivery:
            found = await deliver(to)
            if to == outcomes and found is Delivery.LOST:
                on.desk.bury(said)
            return found

        producer.deliver = bury_first
        outcome = await on.outcome(end)
        assert reason_of(outcome) is WithoutSummary.SOURCE_ERASED
        assert len(on.extractor.summed) == 1
        assert "code word" not in outcome.model_dump_json(
            include={"events": {"__all__": {"summary"}}}
        )

    scene(run)


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (ExtractionRejected("no", usage=ONE_CALL), WithoutSummary.FAILED),
        (ExtractorUnavailable("away", usage=ONE_CALL), WithoutSummary.UNAVAILABLE),
    ],
    ids=["failed", "unavailable"],
)
def test_a_summary_that_cannot_be_had_costs_the_memories_nothing(
    failure: Exception, reason: WithoutSummary
) -> None:
    async def run(on: Scene) -> None:
        turn = on.desk.say("I want tea.")
        await on.desk.handle(turn)
        on.extractor.failure = failure
        outcome = await on.ended()
        assert reason_of(outcome) is reason
        assert await on.desk.closing(turn) is Closing.STORED
        assert outcome.usage.calls == 2
        assert len(on.extractor.summed) == 1
        on.extractor.failure = None
        assert texts_of(await on.ended(SessionEndCause.SUMMARY)) == "I want tea."

    scene(run)


def test_an_exhausted_budget_is_told_and_the_next_end_makes_it() -> None:
    async def run(on: Scene) -> None:
        await on.desk.handle(on.desk.say("I want tea."))
        on.desk.budget.over = True
        outcome = await on.ended()
        assert (reason_of(outcome), outcome.settled) == (WithoutSummary.BUDGET, ())
        on.desk.budget.over = False
        assert texts_of(await on.ended()) == "I want tea."

    scene(run)


def test_small_talk_alone_asks_no_model() -> None:
    async def run(on: Scene) -> None:
        await on.desk.handle(on.desk.say("Thanks"))
        assert summary_of(await on.ended()) is None
        assert on.extractor.summed == []

    scene(run)


def test_an_extractor_that_makes_none_is_told() -> None:
    async def run() -> None:
        desk = SubjectDesk(mode=ExtractionMode.SESSION, summarises=True)
        turn, end = desk.say("I want tea."), desk.end()
        await desk.handle(turn, end)
        assert reason_of(await desk.outcome(end)) is WithoutSummary.NO_SUMMARIZER

    run_virtual(run())


def test_many_turns_are_summed_up_piece_by_piece_and_none_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session_summaries, "SUMMARY_TURNS_MAX", 2)
    monkeypatch.setattr(session_summaries, "SUMMARY_SHOWN_MAX", 600)

    async def run(on: Scene) -> None:
        texts = ["One cup.", "Two cups.", "Tea " * 150, "Three cups."]
        await on.desk.handle(*(on.desk.say(text) for text in texts))
        first = summary_of(await on.ended())
        assert isinstance(first, SessionSummarised)
        assert (first.summary, first.more) == ("One cup. Two cups.", True)
        rest = [summary_of(await on.ended(SessionEndCause.SUMMARY)) for _ in range(3)]
        assert [getattr(event, "more", None) for event in rest] == [True, False, None]
        assert [turn for summed in on.extractor.summed for turn in summed] == texts

    scene(run)
