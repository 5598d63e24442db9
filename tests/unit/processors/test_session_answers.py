"""One bad turn costs itself, not its session, and what was answered is paid for once."""

from __future__ import annotations

import asyncio
from uuid import UUID, uuid4

import pytest

from processors.closers.turns import ExtractionMode
from processors.session_answers import SESSIONS_MAX, Unfinished
from schemas.errors import ExtractionFailed, ExtractionRejected, ExtractorUnavailable
from schemas.log.sealed import LogRecord, open_record
from schemas.ports import Extraction, ExtractionRequest, SessionRequest
from schemas.proposals import Proposal, Usage
from schemas.records import Closing
from schemas.topics import memories_topic, proposals_topic
from tests.support.desk import SubjectDesk, waits
from tests.support.extractors import NotingExtractor, episode
from tests.support.memory_log import Delivery
from tests.support.memory_worker import GENERATION
from tests.support.turns import new_keys, sealed_turn
from tests.support.virtual_time import run_virtual

A_CALL = Usage(calls=1, input_tokens=100, output_tokens=10)
WHOLE = Usage(calls=1, input_tokens=1000)


class ByTurn(NotingExtractor):
    """Reads turns alone, refuses those that hold a question mark, and takes its price for either.

    Attributes:
        away: how often it cannot be asked, by user text, before it answers.
    """

    model = "priced"

    def __init__(self, refusal: type[ExtractionFailed] = ExtractionRejected) -> None:
        super().__init__()
        self.away: dict[str, int] = {}
        self._refusal = refusal

    async def extract(self, request: ExtractionRequest) -> Extraction:
        """Return one episode."""
        text = request.turn.user_text
        if self.away.get(text, 0) > 0:
            self.away[text] -= 1
            raise ExtractorUnavailable("away", usage=A_CALL)
        answer = await super().extract(request)
        if "?" in text:
            raise self._refusal("no", usage=A_CALL, stop_reasons=("refusal",))
        return Extraction(operations=answer.operations, usage=A_CALL, stop_reasons=("end_turn",))


class BySession(ByTurn):
    """Reads sessions as a whole, and refuses one of whose turns it refuses one.

    Attributes:
        sessions: what it was asked about as a whole.
    """

    def __init__(self, refusal: type[ExtractionFailed] = ExtractionRejected) -> None:
        super().__init__(refusal)
        self.sessions: list[SessionRequest] = []

    async def extract_session(self, request: SessionRequest) -> Extraction:
        """Return one episode for each turn."""
        self.sessions.append(request)
        if any("?" in turn.user_text for turn in request.turns):
            raise self._refusal("no", usage=WHOLE, stop_reasons=("refusal",))
        return Extraction(
            operations=tuple(
                episode(turn.user_text).model_copy(update={"turn_id": turn.turn_id})
                for turn in request.turns
            ),
            usage=WHOLE,
        )


def desk_of(extractor: ByTurn, desk: SubjectDesk | None = None) -> SubjectDesk:
    site = None if desk is None else desk.site
    return SubjectDesk(extractor=extractor, mode=ExtractionMode.SESSION, site=site)


def session(desk: SubjectDesk, *texts: str) -> list[LogRecord]:
    return [desk.say(text, minute=minute) for minute, text in enumerate(texts)]


def id_of(record: LogRecord) -> UUID:
    return record.header().record_id


def only_proposal(desk: SubjectDesk) -> Proposal:
    (record,) = desk.site.log.records(proposals_topic(GENERATION), 0)
    return open_record(Proposal, record, desk.keys)


MIXED = ("I live in Rome.", "What?", "I like tea.")
AS_MIXED = [Closing.STORED, Closing.DEAD_LETTERED, Closing.STORED]


@pytest.mark.parametrize(
    ("extractor", "usage"),
    [
        (ByTurn(), A_CALL + A_CALL + A_CALL),
        (BySession(), WHOLE + A_CALL + A_CALL + A_CALL),
        (ByTurn(ExtractionFailed), A_CALL + A_CALL + A_CALL + A_CALL + A_CALL),
    ],
    ids=["reads turns", "reads sessions", "is asked again"],
)
def test_one_bad_turn_costs_itself_and_what_everything_cost_is_counted(
    extractor: ByTurn, usage: Usage
) -> None:
    async def run() -> None:
        desk = desk_of(extractor)
        turns = session(desk, *MIXED)
        end = desk.end()
        await desk.handle(*turns, end)
        outcome = await desk.outcome(end)
        assert (outcome.closing, outcome.error) == (Closing.STORED, None)
        assert [await desk.closing(turn) for turn in turns] == AS_MIXED
        assert outcome.usage == usage
        proposal = only_proposal(desk)
        assert proposal.failed == (id_of(turns[1]),)
        assert {operation.turn_id for operation in proposal.operations} == {
            id_of(turns[0]),
            id_of(turns[2]),
        }
        assert "refusal" in proposal.stop_reasons
        (letter,) = await desk.dead_letters()
        assert letter.offset == turns[1].position.offset
        assert (letter.stage, letter.error) == ("extract", "TurnUnanswered")

    run_virtual(run())


def test_a_worker_that_finds_the_proposal_settles_the_turns_as_the_one_that_made_it() -> None:
    async def run() -> None:
        async def no_outcome_of_the_end(topic: str) -> Delivery:
            lost = topic == memories_topic(GENERATION) and desk.proposals > 0
            return Delivery.LOST if lost else Delivery.ACKNOWLEDGED

        desk = desk_of(BySession())
        turns = session(desk, *MIXED)
        end = desk.end()
        desk.worker.producer.deliver = no_outcome_of_the_end
        assert await waits(desk.handle(*turns, end), for_s=60)
        second = BySession()
        await desk_of(second, desk).handle(end)
        assert second.sessions == []
        assert second.requests == []
        assert [await desk.closing(turn) for turn in turns] == AS_MIXED
        assert (await desk.outcome(end)).usage == WHOLE + A_CALL + A_CALL + A_CALL

    run_virtual(run())


@pytest.mark.parametrize("kind", [ByTurn, BySession])
def test_what_was_answered_before_the_extractor_went_away_is_not_paid_for_again(
    kind: type[ByTurn],
) -> None:
    async def run() -> None:
        extractor = kind()
        extractor.away = {"I like tea.": 3}
        desk = desk_of(extractor)
        turns = session(desk, *MIXED)
        end = desk.end()
        await desk.handle(*turns, end)
        assert [request.turn.user_text for request in extractor.requests] == list(MIXED)
        assert [await desk.closing(turn) for turn in turns] == AS_MIXED
        # What the extractor cost while it was away counts too.
        calls = 6 + (kind is BySession)
        assert (await desk.outcome(end)).usage.calls == calls
        if isinstance(extractor, BySession):
            assert len(extractor.sessions) == 1

    run_virtual(run())


def test_what_was_answered_for_a_turn_that_is_forgotten_meanwhile_enters_no_proposal() -> None:
    async def run() -> None:
        extractor = ByTurn()
        extractor.away = {"I like tea.": 1000}
        desk = desk_of(extractor)
        turns = session(desk, "I live in Rome.", "I have a dog.", "I like tea.")
        end = desk.end()
        handling = asyncio.create_task(desk.handle(*turns, end))
        done, _ = await asyncio.wait([handling], timeout=60)
        assert not done
        desk.bury(turns[0])
        extractor.away.clear()
        await handling
        assert len(extractor.requests) == 3
        named = {operation.turn_id for operation in only_proposal(desk).operations}
        assert named == set(map(id_of, turns[1:]))
        closings = [await desk.closing(turn) for turn in turns]
        assert closings == [Closing.ERASED, Closing.STORED, Closing.STORED]

    run_virtual(run())


def test_a_session_of_one_turn_is_asked_about_once() -> None:
    async def run() -> None:
        extractor = BySession()
        desk = desk_of(extractor)
        (turn,) = session(desk, "What?")
        end = desk.end()
        await desk.handle(turn, end)
        assert (len(extractor.sessions), extractor.requests) == (1, [])
        assert await desk.closing(turn) is Closing.DEAD_LETTERED
        assert (await desk.outcome(end)).usage == WHOLE

    run_virtual(run())


def test_a_session_without_a_single_answer_is_given_up_and_tells_what_it_cost() -> None:
    async def run() -> None:
        desk = desk_of(BySession())
        turns = session(desk, "What?", "How?")
        end = desk.end()
        await desk.handle(*turns, end)
        outcome = await desk.outcome(end)
        assert (outcome.closing, outcome.error) == (Closing.DEAD_LETTERED, "ExtractionRejected")
        assert (outcome.extractor, outcome.model) == ("noting", "priced")
        assert outcome.usage == WHOLE + A_CALL + A_CALL
        assert [await desk.closing(turn) for turn in turns] == [Closing.DEAD_LETTERED] * 2
        assert desk.proposals == 0

    run_virtual(run())


def test_a_turn_that_was_forgotten_after_it_failed_closes_as_erased() -> None:
    async def run() -> None:
        async def no_outcome_of_the_end(topic: str) -> Delivery:
            lost = topic == memories_topic(GENERATION) and desk.proposals > 0
            return Delivery.LOST if lost else Delivery.ACKNOWLEDGED

        desk = desk_of(ByTurn())
        turns = session(desk, *MIXED)
        end = desk.end()
        desk.worker.producer.deliver = no_outcome_of_the_end
        assert await waits(desk.handle(*turns, end), for_s=60)
        desk.bury(turns[1])
        await desk_of(ByTurn(), desk).handle(end)
        expected = [Closing.STORED, Closing.ERASED, Closing.STORED]
        assert [await desk.closing(turn) for turn in turns] == expected

    run_virtual(run())


def test_answers_are_kept_for_a_bounded_number_of_sessions() -> None:
    unfinished, first = Unfinished(), uuid4()
    turn = sealed_turn(new_keys(), "I live in Rome.", partitions=1).turn
    unfinished.of(first).add(turn, Extraction(operations=()))
    for _ in range(SESSIONS_MAX - 1):
        unfinished.of(uuid4())
    assert turn.turn_id in unfinished.of(first).of_turns
    for _ in range(SESSIONS_MAX):
        unfinished.of(uuid4())
    assert unfinished.of(first).of_turns == {}
