"""Merges and contradictions that a model finds among memories."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from processors.extractors.model.chunks import PIECES_MAX
from processors.extractors.model.consolidation import MEMORIES_MAX, consolidation_inquiry
from processors.extractors.model.reading import BadItem
from schemas.memory import Confidence, Memory, MemoryKind
from schemas.ports import KnownMemory
from schemas.proposals import Action, Operation
from schemas.slots import Slot
from tests.support.log_writer import NOON, memory


def one(number: int, **changed: Any) -> Memory:
    return memory(
        UUID(int=number),
        UUID(int=900),
        **{"valid_from": NOON + timedelta(days=number), "importance": 2, **changed},
    )


def known(*memories: Memory) -> list[KnownMemory]:
    return [
        KnownMemory(reference=f"m{number}", memory=each)
        for number, each in enumerate(memories, start=1)
    ]


EPISODES = known(
    one(1, kind=MemoryKind.EPISODIC, slot=Slot.EPISODE),
    one(2, kind=MemoryKind.EPISODIC, slot=Slot.EPISODE, confidence=Confidence.INFERRED),
    one(3, slot=Slot.ROUTINE, importance=3),
    one(4, about="sister"),
)


def merge(*refs: str, **changed: Any) -> dict[str, Any]:
    merged = {"refs": list(refs), "kind": "episodic", "content": "Ran twice", "importance": 5}
    return {**merged, **changed}


def contradiction(first: str, second: str) -> dict[str, Any]:
    return {"first": first, "second": second, "why": "SECRET"}


def read(*, merges: Any = (), contradictions: Any = ()) -> list[Operation | BadItem]:
    inquiry = consolidation_inquiry(EPISODES)
    lists = {"merges": list(merges), "contradictions": list(contradictions)}
    return list(inquiry.read(lists))


def test_a_merge_names_its_sources_and_is_no_more_important_nor_surer_than_they_are() -> None:
    (found,) = read(merges=[merge("m1", "M2", "m1")])

    assert isinstance(found, Operation)
    assert (found.action, found.merges) == (Action.MERGE, (UUID(int=1), UUID(int=2)))
    assert (found.slot, found.about, found.quote) == (Slot.EPISODE, "user", "")
    assert (found.importance, found.confidence) == (2, Confidence.INFERRED)


def test_a_merge_of_several_attributes_is_of_none_of_them() -> None:
    episode, fact = read(merges=[merge("m1", "m3"), merge("m1", "m3", kind="semantic")])

    assert isinstance(episode, Operation)
    assert isinstance(fact, Operation)
    assert (episode.slot, fact.slot) == (Slot.EPISODE, Slot.NOTE)


def test_a_contradiction_names_the_older_memory_first() -> None:
    for pair in (("m1", "m3"), ("m3", "m1")):
        (found,) = read(contradictions=[contradiction(*pair)])
        assert isinstance(found, Operation)
        assert found.action is Action.CONTRADICT
        assert (found.reference, found.against) == (UUID(int=1), UUID(int=3))
        assert found.slot is Slot.ROUTINE
        assert "SECRET" not in found.model_dump_json()


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (merge("m1"), "refs: too_short"),
        (merge("m1", "m1"), "at least two"),
        (merge("m1", "m9"), "unknown reference"),
        (merge("m1", "m4"), "different persons"),
        (merge("m1", "m2", content=" "), "content: too_short"),
        (merge("m1", "m2", kind="procedural"), "kind: literal_error"),
        (merge("m1", "m2", importance=0), "importance: greater_than_equal"),
        (7, "item: model_type"),
    ],
)
def test_a_bad_merge_is_told_and_costs_no_other(bad: object, told: str) -> None:
    first, second = read(merges=[bad, merge("m1", "m2")])

    assert isinstance(first, BadItem)
    assert told in str(first)
    assert isinstance(second, Operation)


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (contradiction("m1", "m1"), "does not contradict itself"),
        (contradiction("m1", "m9"), "unknown reference"),
        ({"first": "m1"}, "second: missing"),
    ],
)
def test_a_bad_contradiction_is_told(bad: object, told: str) -> None:
    (found,) = read(contradictions=[bad])

    assert isinstance(found, BadItem)
    assert told in str(found)


def test_many_memories_are_looked_at_in_a_bounded_number_of_questions() -> None:
    many = known(*(one(number) for number in range(1, MEMORIES_MAX * PIECES_MAX + 8)))

    inquiry = consolidation_inquiry(many)

    assert len(inquiry.questions) == PIECES_MAX
    assert inquiry.left_out == "7 memories are beyond the limit of one look"
    assert consolidation_inquiry(many[:-7]).left_out == ""
    assert len(consolidation_inquiry(many[:MEMORIES_MAX]).questions) == 1
