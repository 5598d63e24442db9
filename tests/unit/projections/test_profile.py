"""What fits into a profile: in order, within its tokens, each candidate counted once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.injection import block
from projections.profile import ProfileMemory, Profiles, ProfileSection
from projections.read_model import ReadModel
from projections.tokens import EstimatedTokens
from schemas.injection import InjectionForm
from schemas.memory import MemoryKind, Precision, Source
from schemas.ports import TokenCounter
from schemas.slots import Slot
from tests.support.log_writer import NOON

READ_MODEL = cast("ReadModel", SimpleNamespace(generation="g1"))


def candidate(number: int, content: str) -> ProfileMemory:
    return ProfileMemory(
        memory_id=UUID(int=number),
        section=ProfileSection.CORE,
        slot=Slot.NOTE,
        kind=MemoryKind.SEMANTIC,
        content=content,
        about="user",
        importance=4,
        source=Source.USER,
        valid_from=NOON,
        valid_from_precision=Precision.DAY,
        valid_to=None,
        pinned=False,
    )


class _Counted:
    """Counts as the estimate does, but a block as dearer than its lines, and how often it does."""

    name = "counted"
    exact = True

    def __init__(self, *, dearer: int = 0) -> None:
        self._dearer = dearer
        self.asked = 0

    def count(self, text: str) -> int:
        self.asked += 1
        notes = text.count("\n- ")
        return EstimatedTokens().count(text) + (self._dearer * notes if notes > 1 else 0)


def _fitting(contents: list[str], counter: TokenCounter, most: int) -> list[ProfileMemory]:
    profiles = Profiles(READ_MODEL, counter, tokens_max=most)
    candidates = [candidate(number, content) for number, content in enumerate(contents)]
    return profiles._fitting(candidates, InjectionForm.TEXT)


@given(
    st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=300), max_size=20),
    st.integers(0, 600),
    st.sampled_from([0, 7]),
)
def test_what_is_taken_stands_in_order_and_within_the_tokens(
    contents: list[str], most: int, dearer: int
) -> None:
    counter = _Counted(dearer=dearer)
    taken = _fitting(contents, counter, most)
    places = [memory.memory_id.int for memory in taken]
    assert places == sorted(places)
    assert not taken or counter.count(block(taken)) <= most


def test_one_that_is_too_long_costs_no_other() -> None:
    taken = _fitting(["short", "long " * 500, "short too"], EstimatedTokens(), 300)
    assert [memory.content for memory in taken] == ["short", "short too"]


@pytest.mark.parametrize("number", [10, 80])
def test_each_candidate_is_counted_once(number: int) -> None:
    counter = _Counted()
    _fitting([f"fact {one}" for one in range(number)], counter, 100_000)
    assert counter.asked <= number + 2
