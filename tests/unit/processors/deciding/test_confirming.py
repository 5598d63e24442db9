"""The same statement in other words confirms; what differs in meaning never does."""

from __future__ import annotations

import numpy as np
import pytest

from processors.deciding.wording import may_state_the_same
from schemas.events import MemoryConfirmed
from schemas.memory import Confidence, Embedding, MemoryKind
from schemas.proposals import Action, Operation
from schemas.slots import Slot
from tests.likeness.pairs import read_pairs
from tests.support.deciding import Subject, day, operation
from tests.unit.processors.deciding.occasions import kinds, opened

INFERRED = Confidence.INFERRED
LIKES, ENJOYS, HATES = "Likes tea", "Enjoys tea", "Hates tea"


def vector(angle: float, model: str = "model") -> Embedding:
    halves = np.array([np.cos(angle), np.sin(angle)], dtype="<f2").tobytes()
    return Embedding(model=model, dimension=2, halves=halves)


def subject(similarity_min: float | None = 0.7) -> Subject:
    """Return a subject whose statements all lie close together."""
    contents = (LIKES, ENJOYS, HATES, "Is fond of tea", "Lives in Goa", "Resides in Goa")
    near = {content: vector(number / 20) for number, content in enumerate(contents)}
    return Subject(similarity_min=similarity_min, vectors=near)


def test_three_wordings_of_one_fact_are_one_memory() -> None:
    one = subject()
    first = opened(one.says(1, operation(LIKES, slot=Slot.PREFERENCE)).events[0])
    for number, wording in enumerate((ENJOYS, "Is fond of tea", ENJOYS), start=2):
        (event,) = one.says(number, operation(wording, slot=Slot.PREFERENCE)).events
        assert isinstance(event, MemoryConfirmed)
        assert (event.memory_id, event.quote) == (first.memory_id, wording)
    assert one.live(Slot.PREFERENCE) == [LIKES]


def test_two_wordings_in_one_proposal_are_one_memory() -> None:
    one = subject()
    both = [operation(wording, slot=Slot.PREFERENCE) for wording in (LIKES, ENJOYS)]
    assert kinds(one.says(1, *both).events) == ["memory-added"]
    assert kinds(one.says(2, *both).events) == ["memory-confirmed"]


def test_the_vector_that_a_statement_was_compared_by_is_stored_with_it() -> None:
    one = subject()
    memory = opened(one.says(1, operation(LIKES, slot=Slot.PREFERENCE)).events[0])
    assert memory.embedding == one.vectors[LIKES]


def test_another_wording_of_the_value_that_holds_confirms_and_does_not_supersede() -> None:
    one = subject()
    one.says(1, operation("Lives in Goa"))
    assert kinds(one.says(2, operation("Resides in Goa")).events) == ["memory-confirmed"]
    assert one.live() == ["Lives in Goa"]


def test_another_wording_of_what_had_ceased_is_a_new_version_in_the_old_words() -> None:
    one = subject()
    one.says(1, operation("Lives in Goa", confidence=INFERRED, expires_at=day(3)))
    (event,) = one.says(5, operation("Resides in Goa")).events
    memory = opened(event)
    assert (memory.content, memory.quote) == ("Lives in Goa", "Resides in Goa")
    assert memory.embedding == one.vectors["Lives in Goa"]


def test_another_wording_of_a_value_that_held_once_supersedes_like_any_other() -> None:
    one = subject()
    for number, content in enumerate(("Lives in Goa", "Lives in Pune", "Resides in Goa")):
        one.says(number, operation(content))
    assert one.live() == ["Resides in Goa"]


@pytest.mark.parametrize(
    ("stated", "similarity_min"),
    [
        (operation(HATES, slot=Slot.PREFERENCE), 0.7),
        (operation(ENJOYS, slot=Slot.NOTE), 0.7),
        (operation(ENJOYS, slot=Slot.PREFERENCE, about="sister"), 0.7),
        (operation(ENJOYS, slot=Slot.PREFERENCE, kind=MemoryKind.PROCEDURAL), 0.7),
        (operation(ENJOYS, slot=Slot.PREFERENCE, kind=MemoryKind.EPISODIC), 0.7),
        (operation(ENJOYS, slot=Slot.PREFERENCE), 0.9999),
        (operation(ENJOYS, slot=Slot.PREFERENCE), None),
    ],
)
def test_what_is_not_surely_the_same_is_added(
    stated: Operation, similarity_min: float | None
) -> None:
    one = subject(similarity_min)
    one.says(1, operation(LIKES, slot=Slot.PREFERENCE))
    assert kinds(one.says(2, stated).events) == ["memory-added"]


def test_vectors_of_two_models_are_never_compared() -> None:
    one = subject()
    one.vectors[ENJOYS] = vector(0.05, "another")
    one.says(1, operation(LIKES, slot=Slot.PREFERENCE))
    assert kinds(one.says(2, operation(ENJOYS, slot=Slot.PREFERENCE)).events) == ["memory-added"]


def test_without_vectors_everything_is_added_and_exact_repetitions_still_confirm() -> None:
    one = Subject(similarity_min=0.7)
    for wording in (LIKES, ENJOYS, LIKES.upper()):
        one.says(1, operation(wording, slot=Slot.PREFERENCE))
    assert one.live(Slot.PREFERENCE) == [LIKES, ENJOYS]


def test_the_same_words_come_before_similar_ones() -> None:
    one = Subject(similarity_min=0.7)
    one.says(1, operation(LIKES, slot=Slot.PREFERENCE))
    exact = opened(one.says(2, operation(ENJOYS, slot=Slot.PREFERENCE)).events[0])
    one.vectors = subject().vectors
    (event,) = one.says(3, operation(ENJOYS, slot=Slot.PREFERENCE)).events
    assert isinstance(event, MemoryConfirmed)
    assert event.memory_id == exact.memory_id


def test_an_update_is_never_taken_for_a_repetition() -> None:
    one = subject()
    tea = opened(one.says(1, operation(LIKES, slot=Slot.PREFERENCE)).events[0])
    changed = operation(ENJOYS, slot=Slot.PREFERENCE, action=Action.UPDATE, reference=tea.memory_id)
    assert kinds(one.says(2, changed).events) == ["memory-superseded"]


def test_what_was_withdrawn_or_replaced_is_not_confirmed() -> None:
    one = subject()
    one.says(1, operation(LIKES, slot=Slot.PREFERENCE))
    one.says(2, operation(LIKES, slot=Slot.PREFERENCE, action=Action.RETRACT))
    assert kinds(one.says(3, operation(ENJOYS, slot=Slot.PREFERENCE)).events) == ["memory-added"]


PAIRS = read_pairs()


def test_words_alone_keep_every_labelled_difference_apart() -> None:
    different = [pair for pair in PAIRS if not pair.same]
    assert len(different) > 300
    taken = [
        pair
        for pair in different
        if may_state_the_same(pair.one, pair.other) or may_state_the_same(pair.other, pair.one)
    ]
    assert taken == []


def test_words_find_a_good_part_of_what_says_the_same() -> None:
    same = [pair for pair in PAIRS if pair.same]
    found = [pair for pair in same if may_state_the_same(pair.one, pair.other)]
    assert len(found) >= 0.45 * len(same)
    assert all(may_state_the_same(pair.other, pair.one) for pair in found)


@pytest.mark.parametrize("text", ["", "!!!", "the of a"])
def test_a_statement_without_words_is_like_no_other(text: str) -> None:
    assert not may_state_the_same(text, "The")
