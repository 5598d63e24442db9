"""Asking the extractor: how often, under which deadline, and with which text."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import pytest

from processors.extraction import ExtractorCrashed, Proposer
from processors.storable import OPERATIONS_BYTES_MAX, OPERATIONS_MAX
from schemas.errors import ExtractionFailed, ExtractionRejected
from schemas.injection import BLOCK_END, BLOCK_START
from schemas.ports import Extraction, ExtractionRequest
from schemas.proposals import InvalidItem, Operation, Proposal
from schemas.records import Turn
from schemas.registry import decode, encode
from tests.support.extractors import NotingExtractor, Step, episode
from tests.support.log_writer import memory
from tests.support.turns import NOON, new_keys, sealed_turn
from tests.support.virtual_time import run_virtual

TIMEOUT_S = 30.0


def turn(text: str = "I live in Rome.", assistant_text: str | None = None) -> Turn:
    keys = new_keys()
    return sealed_turn(keys, text, partitions=1, assistant_text=assistant_text).turn


def proposer(
    extractor: NotingExtractor, *, attempts_max: int = 3, in_flight_max: int = 10
) -> Proposer:
    return Proposer(
        extractor,
        generation="g1",
        in_flight_max=in_flight_max,
        attempts_max=attempts_max,
        timeout_s=TIMEOUT_S,
        clock=lambda: NOON,
    )


def propose(
    extractor: NotingExtractor,
    said: Turn,
    *,
    attempts_max: int = 3,
    allowed: Callable[[], None] = lambda: None,
) -> Proposal:
    return run_virtual(
        proposer(extractor, attempts_max=attempts_max).propose(said, (), allowed=allowed)
    )


def failing(times: int, error: Exception) -> Step:
    left = [times]

    async def step(_: ExtractionRequest) -> None:
        left[0] -= 1
        if left[0] >= 0:
            raise error

    return step


async def hang(_: ExtractionRequest) -> None:
    await asyncio.sleep(10 * TIMEOUT_S)


def test_an_answer_that_cannot_be_used_is_asked_for_again() -> None:
    extractor = NotingExtractor(step=failing(2, ExtractionFailed("not JSON")))
    proposal = propose(extractor, turn())
    assert len(extractor.requests) == 3
    assert [operation.content for operation in proposal.operations] == ["I live in Rome."]


def test_it_is_asked_a_bounded_number_of_times() -> None:
    extractor = NotingExtractor(step=failing(9, ExtractionFailed("not JSON")))
    with pytest.raises(ExtractionFailed, match="not JSON"):
        propose(extractor, turn())
    assert len(extractor.requests) == 3


def test_what_asking_again_would_not_help_is_given_up_at_once() -> None:
    extractor = NotingExtractor(step=failing(9, ExtractionRejected("too long")))
    with pytest.raises(ExtractionRejected):
        propose(extractor, turn())
    assert len(extractor.requests) == 1


def test_what_an_extractor_raises_without_warning_counts_as_no_usable_answer() -> None:
    extractor = NotingExtractor(step=failing(9, ValueError("what the user said")))
    with pytest.raises(ExtractorCrashed, match="noting raised ValueError") as raised:
        propose(extractor, turn())
    assert len(extractor.requests) == 3
    assert isinstance(raised.value.original, ValueError)
    assert "said" not in str(raised.value)


def test_an_extractor_that_fails_once_without_warning_is_asked_again() -> None:
    extractor = NotingExtractor(step=failing(1, ValueError("a hiccup")))
    assert len(propose(extractor, turn()).operations) == 1


@pytest.mark.parametrize("raised", [asyncio.CancelledError(), SystemExit(3), GeneratorExit()])
def test_what_would_end_a_lane_or_a_worker_counts_as_a_crash_of_the_extractor(
    raised: BaseException,
) -> None:
    async def step(_: ExtractionRequest) -> None:
        raise raised

    extractor = NotingExtractor(step=step)
    with pytest.raises(ExtractorCrashed, match=type(raised).__name__):
        propose(extractor, turn())
    assert len(extractor.requests) == 3


def test_an_extractor_that_swallows_cancellation_does_not_outlast_its_deadline() -> None:
    over = asyncio.Event()

    async def stubborn(_: ExtractionRequest) -> None:
        while not over.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(10 * TIMEOUT_S)
                over.set()

    async def asked() -> float:
        began = asyncio.get_running_loop().time()
        proposing = proposer(NotingExtractor(step=stubborn), attempts_max=1)
        with pytest.raises(ExtractionFailed, match="no answer within"):
            await proposing.propose(turn(), (), allowed=lambda: None)
        took = asyncio.get_running_loop().time() - began
        await over.wait()
        return took

    assert run_virtual(asked()) == TIMEOUT_S


def test_a_lane_that_is_ended_ends_its_call() -> None:
    async def ended() -> bool:
        proposing = proposer(NotingExtractor(step=hang))
        lane = asyncio.create_task(proposing.propose(turn(), (), allowed=lambda: None))
        await asyncio.sleep(1)
        lane.cancel()
        await asyncio.wait({lane})
        return lane.cancelled()

    assert run_virtual(ended())


@pytest.mark.parametrize("bad", ["NUL \0", "surrogate \ud83d"])
@pytest.mark.parametrize("field", ["content", "about", "quote"])
def test_a_text_that_cannot_be_kept_costs_its_own_item_only(field: str, bad: str) -> None:
    class Answering(NotingExtractor):
        async def extract(self, request: ExtractionRequest) -> Extraction:
            await super().extract(request)
            broken = episode("b").model_copy(update={field: bad})
            return Extraction(
                operations=(episode("a"), broken, episode("c")),
                invalid=(InvalidItem(position=1, problem="half an answer \ud83d"),),
            )

    proposal = propose(Answering(), turn())

    assert proposal.operations == (episode("a"), episode("c"))
    first, second = proposal.invalid
    assert first == InvalidItem(position=1, problem="half an answer \\ud83d")
    # The broken one stood behind the first, which could not be read at all.
    assert second.position == 2
    assert second.problem.startswith(f"{field} holds a ")
    assert decode(Proposal, "proposal", 1, encode(proposal)) == proposal


def test_control_characters_of_a_statement_become_blanks_and_quotes_stay_as_they_are() -> None:
    quote = "I live\x07in\nRome"
    stated = episode("Lives\x1b in\nRome\x85").model_copy(update={"quote": quote})
    whole = episode(quote).model_copy(update={"quote": quote})
    extractor = Fixed()
    extractor.operations = (stated, whole)
    proposal = propose(extractor, turn())
    assert proposal.operations == (
        stated.model_copy(update={"content": "Lives  in\nRome "}),
        whole,
    )
    assert proposal.invalid == ()


class Fixed(NotingExtractor):
    """Answers with the operations that it is given."""

    operations: tuple[Operation, ...] = ()

    async def extract(self, request: ExtractionRequest) -> Extraction:
        await super().extract(request)
        return Extraction(operations=self.operations)


def test_an_operation_too_large_for_a_record_costs_itself_only() -> None:
    extractor = Fixed()
    extractor.operations = (episode("a"), episode("x" * OPERATIONS_BYTES_MAX), episode("b"))

    proposal = propose(extractor, turn())

    assert proposal.operations == (episode("a"), episode("b"))
    assert [item.position for item in proposal.invalid] == [1]


def test_operations_beyond_the_limit_are_told_as_one_item() -> None:
    extractor = Fixed()
    extractor.operations = tuple(episode(str(number)) for number in range(OPERATIONS_MAX + 50))

    proposal = propose(extractor, turn())

    assert proposal.operations == extractor.operations[:OPERATIONS_MAX]
    (told,) = proposal.invalid
    assert told.position == OPERATIONS_MAX
    assert told.problem.startswith("50 operations are beyond the limit")


def test_each_call_has_a_deadline() -> None:
    extractor = NotingExtractor(step=hang)
    with pytest.raises(ExtractionFailed, match="no answer within 30 s"):
        propose(extractor, turn(), attempts_max=2)
    assert len(extractor.requests) == 2


def test_our_own_notes_are_cut_out_of_both_texts_before_the_extractor_sees_them() -> None:
    notes = f"{BLOCK_START}\n- lives in Oslo\n{BLOCK_END}"
    extractor = NotingExtractor()
    propose(extractor, turn(f"{notes}\nI live in Rome.", f"Noted.\n{notes}"))
    (request,) = extractor.requests
    assert "Oslo" not in request.turn.user_text
    assert "I live in Rome." in request.turn.user_text
    assert "Oslo" not in (request.turn.assistant_text or "")


def test_leave_is_asked_for_right_before_every_call() -> None:
    class Lost(Exception):
        pass

    extractor = NotingExtractor(step=failing(9, ExtractionFailed("not JSON")))
    seen: list[int] = []

    def allowed() -> None:
        seen.append(len(extractor.requests))
        if len(seen) == 3:
            raise Lost

    with pytest.raises(Lost):
        propose(extractor, turn(), attempts_max=5, allowed=allowed)
    assert seen == [0, 1, 2]
    assert len(extractor.requests) == 2


def test_leave_is_asked_for_after_the_wait_for_a_free_slot() -> None:
    async def run() -> None:
        extractor = NotingExtractor()
        extractor.gates["first"] = asyncio.Event()
        asked: list[str] = []
        one_at_a_time = proposer(extractor, in_flight_max=1)
        first = asyncio.create_task(
            one_at_a_time.propose(turn("first"), (), allowed=lambda: asked.append("first"))
        )
        second = asyncio.create_task(
            one_at_a_time.propose(turn("second"), (), allowed=lambda: asked.append("second"))
        )
        await asyncio.sleep(1)
        assert asked == ["first"]
        extractor.gates["first"].set()
        await asyncio.gather(first, second)
        assert asked == ["first", "second"]

    run_virtual(run())


def test_memories_are_shown_under_short_names_nearest_first() -> None:
    said = turn()
    known = [memory(said.turn_id, said.turn_id, content=f"fact {number}") for number in range(2)]
    extractor = NotingExtractor()
    run_virtual(proposer(extractor).propose(said, known, allowed=lambda: None))
    (request,) = extractor.requests
    assert [(shown.reference, shown.memory.content) for shown in request.known] == [
        ("m1", "fact 0"),
        ("m2", "fact 1"),
    ]


def test_the_proposal_tells_who_made_it() -> None:
    said = turn()
    proposal = propose(NotingExtractor(), said)
    assert (proposal.turn_id, proposal.generation) == (said.turn_id, "g1")
    assert (proposal.extractor, proposal.prompt_hash) == ("noting", "noting-1")
    assert proposal.proposed_at == NOON
