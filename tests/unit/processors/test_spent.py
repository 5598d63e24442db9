"""What failed attempts cost is counted into the proposal that stands at last."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID, uuid4

import pytest

from processors.extraction import Proposer
from processors.spent import Spent
from schemas.errors import ExtractionFailed, ExtractionRejected, ExtractorUnavailable
from schemas.ports import Extraction, ExtractionRequest
from schemas.proposals import Proposal, Usage
from tests.support.turns import NOON, new_keys, sealed_turn
from tests.support.virtual_time import run_virtual

A_CALL = Usage(calls=1, input_tokens=100, output_tokens=10)
TURN = sealed_turn(new_keys(), "I live in Rome.", partitions=1).turn


class Scripted:
    """Raises as told, then answers."""

    name = model = "scripted"
    prompt_hash = "scripted-1"
    known_max = 0

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)

    async def extract(self, request: ExtractionRequest) -> Extraction:
        del request
        if self.failures:
            raise self.failures.pop(0)
        return Extraction(operations=(), usage=A_CALL, stop_reasons=("end_turn",), skipped="so")


def _failed(kind: type[ExtractionFailed] = ExtractionFailed) -> ExtractionFailed:
    return kind("not JSON", usage=A_CALL, stop_reasons=("max_tokens",))


def _proposer(*failures: Exception) -> Proposer:
    return Proposer(
        Scripted(*failures),
        generation="g1",
        in_flight_max=1,
        attempts_max=3,
        timeout_s=30.0,
        clock=lambda: NOON,
    )


def _propose(proposer: Proposer, allowed: Callable[[], None] = lambda: None) -> Proposal:
    return run_virtual(proposer.propose(TURN, (), allowed=allowed))


def test_what_the_model_stopped_for_and_why_it_was_not_asked_stand_in_the_proposal() -> None:
    proposal = _propose(_proposer())

    assert (proposal.stop_reasons, proposal.skipped) == (("end_turn",), "so")
    assert proposal.usage == A_CALL


def test_attempts_that_failed_are_counted_into_the_proposal() -> None:
    proposal = _propose(_proposer(_failed(), _failed()))

    assert proposal.usage == Usage(calls=3, input_tokens=300, output_tokens=30)
    assert proposal.stop_reasons == ("max_tokens", "max_tokens", "end_turn")


@pytest.mark.parametrize("kind", [ExtractionFailed, ExtractionRejected])
def test_a_turn_that_is_given_up_tells_what_all_attempts_cost(
    kind: type[ExtractionFailed],
) -> None:
    with pytest.raises(kind) as raised:
        _propose(_proposer(_failed(), _failed(), _failed(kind)))

    assert raised.value.usage == A_CALL + A_CALL + A_CALL
    assert raised.value.stop_reasons == ("max_tokens",) * 3


def test_an_extractor_that_cannot_be_asked_costs_no_attempt_and_no_slot() -> None:
    away = ExtractorUnavailable("away", usage=A_CALL)
    proposer = _proposer(*[away] * 10)
    for _ in range(10):
        with pytest.raises(ExtractorUnavailable):
            _propose(proposer)

    assert _propose(proposer).usage.calls == 11
    assert _propose(proposer).usage == A_CALL


def test_what_was_spent_is_kept_for_a_bounded_number_of_records() -> None:
    spent, first = Spent(), uuid4()
    spent.add(first, A_CALL)
    for number in range(20_000):
        spent.add(UUID(int=number), A_CALL)

    assert spent.take(first) == (Usage(), ())
    assert spent.take(UUID(int=19_999)) == (A_CALL, ())
