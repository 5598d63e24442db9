"""Waiting for a part that is away: nothing is skipped, and the part is left alone as it asks."""

from __future__ import annotations

import asyncio

import pytest

from processors.persistence import persistently
from schemas.errors import ExtractionFailed, ExtractorUnavailable, MemledgerError
from tests.support.virtual_time import run_virtual


class Step:
    """A step that fails as told, then succeeds."""

    def __init__(self, *failures: MemledgerError) -> None:
        self.failures = list(failures)
        self.taken_at: list[float] = []

    async def __call__(self) -> str:
        self.taken_at.append(asyncio.get_running_loop().time())
        if self.failures:
            raise self.failures.pop(0)
        return "done"

    @property
    def pauses_s(self) -> list[float]:
        return [
            round(later - before, 6)
            for before, later in zip(self.taken_at, self.taken_at[1:], strict=False)
        ]


async def _take(step: Step) -> str:
    return await persistently(step, what="a test")


def test_an_extractor_that_cannot_be_asked_is_waited_for() -> None:
    step = Step(*[ExtractorUnavailable("away")] * 20)

    assert run_virtual(_take(step)) == "done"
    assert len(step.taken_at) == 21
    assert step.pauses_s == sorted(step.pauses_s)


def test_the_pause_that_an_extractor_asks_for_is_kept_up_to_a_bound() -> None:
    step = Step(
        ExtractorUnavailable("away", retry_after_s=20),
        ExtractorUnavailable("away", retry_after_s=86_400),
    )

    run_virtual(_take(step))

    first, second = step.pauses_s
    assert 20 <= first <= 22.1
    assert 60 <= second <= 66.1


def test_what_waiting_does_not_help_is_raised() -> None:
    with pytest.raises(ExtractionFailed):
        run_virtual(_take(Step(ExtractionFailed("not JSON"))))
