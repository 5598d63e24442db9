"""What is served: what always is first, and never so much of it that the question has no room."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.recall_explanation import Verdict
from projections.recall_policies import Policy, shipped
from projections.recall_selection import READ_MAX, rank, tokens_of_frame
from schemas.memory import MemoryKind
from schemas.slots import Slot
from tests.support.recall_scene import Note, WordCounter, places, selected, weighed

GATED = shipped()["gated"]
_FRAME_TOKENS = tokens_of_frame(WordCounter())
ALLERGY = Note(content="Allergic to nuts", slot=Slot.ALLERGY, importance=5)
RULE = Note(content="Answer in one line", kind=MemoryKind.PROCEDURAL)


def _pin(content: str = "Is called Ann", *, days_ago: float = 1.0, cosine: float = 0.0) -> Note:
    return Note(content=content, pinned_days_ago=days_ago, cosine=cosine)


class TestAlways:
    def test_pins_stand_first_the_last_pinned_in_front_then_safety_then_rules(self) -> None:
        notes = (
            Note(content="near", cosine=0.9),
            RULE,
            ALLERGY,
            _pin("older pin", days_ago=9),
            _pin("newer pin", days_ago=2),
        )
        assert places(selected(GATED, *notes)[1]) == [4, 3, 2, 1, 0]

    def test_an_allergy_is_served_where_chattier_episodes_are_nearer(self) -> None:
        chats = [
            Note(content=f"chatted of {number}", cosine=0.99, kind=MemoryKind.EPISODIC)
            for number in range(30)
        ]
        _, result = selected(GATED, *chats, ALLERGY, limit=3)
        assert places(result) == [30, 0, 1, 2]
        assert result.left_out.limit == 27

    def test_only_the_highest_importance_of_allergies_and_needs_always_is(self) -> None:
        notes = (
            Note(slot=Slot.ALLERGY, importance=4),
            Note(slot=Slot.DIET, importance=5),
            Note(slot=Slot.NEED, importance=5),
        )
        assert places(selected(GATED, *notes)[1]) == [2]

    def test_caps_are_told_and_what_is_cut_comes_back_where_it_is_near(self) -> None:
        policy = Policy(pins=1, safety=1, rules=1)
        notes = (
            _pin("kept", days_ago=1),
            _pin("cut", days_ago=2),
            _pin("near", days_ago=3, cosine=0.9),
            ALLERGY,
            Note(content="Needs a ramp", slot=Slot.NEED, importance=5, days_old=3),
            RULE,
            Note(content="Be kind", kind=MemoryKind.PROCEDURAL),
        )
        ranked, result = selected(policy, *notes)
        assert places(result) == [0, 3, 5, 2]
        left_out = result.left_out
        assert (left_out.pins, left_out.safety, left_out.rules) == (2, 1, 1)
        assert ranked.beyond_cap == {1, 4, 6}

    def test_a_pinned_allergy_is_no_victim_of_the_cap_of_pins(self) -> None:
        pins = [_pin(f"pin {number}") for number in range(20)]
        safe = Note(
            content="Allergic", slot=Slot.ALLERGY, importance=5, pinned_days_ago=99, cosine=0.0
        )
        _, result = selected(Policy(pins=2), *pins, safe)
        assert 20 in places(result)
        assert result.left_out.pins == 18

    @pytest.mark.parametrize("sort", ["pins", "safety", "rules"])
    def test_of_equal_ones_the_ids_tell_what_a_cap_cuts_and_not_where_rows_lie(
        self, sort: str
    ) -> None:
        note = {"pins": _pin(), "safety": ALLERGY, "rules": RULE}[sort]
        worth = weighed(GATED, *[note] * 4)
        ids = np.arange(4)
        size = len(worth.held._facts) // 4
        facts = [worth.held._facts[size * place : size * (place + 1)] for place in ids]
        for lie in (ids, ids[::-1]):
            held = replace(worth.held, _facts=b"".join(facts[number] for number in lie))
            ranked = rank(replace(worth, held=held), Policy.model_validate({sort: 2}), limit=1)
            assert [held.memory_id(place).int for place in ranked.always] == [0, 1]


class TestBudget:
    def test_a_flood_of_pins_leaves_the_question_its_share(self) -> None:
        pins = [_pin(f"pin {number} " + "words " * 30) for number in range(10)]
        near = Note(content="asked " * 35, cosine=0.9)
        _, result = selected(GATED, *pins, near, budget_tokens=_FRAME_TOKENS + 100)
        # Sixty of the hundred are theirs, and one takes 35; of two there would be no room for it.
        assert places(result) == [0, 10]
        assert result.left_out.budget == 9

    def test_what_the_question_does_not_need_is_for_the_rest(self) -> None:
        pins = [_pin(f"pin {number} " + "words " * 30) for number in range(10)]
        _, result = selected(GATED, *pins, budget_tokens=_FRAME_TOKENS + 100)
        assert len(places(result)) == 2

    def test_a_note_that_is_too_long_keeps_no_shorter_one_out(self) -> None:
        notes = (
            Note(content="long " * 500, cosine=0.9),
            Note(content="short", cosine=0.8),
        )
        _, result = selected(GATED, *notes, budget_tokens=_FRAME_TOKENS + 50)
        assert places(result) == [1]
        assert result.verdicts[0] is Verdict.BUDGET

    @given(
        st.lists(st.tuples(st.integers(1, 40), st.booleans(), st.floats(0.0, 1.0)), max_size=15),
        st.integers(1, 400),
    )
    def test_is_never_passed_and_nothing_vanishes(
        self, drawn: list[tuple[int, bool, float]], budget: int
    ) -> None:
        notes = [
            Note(
                content=f"note{place} " + "word " * length,
                cosine=cosine,
                pinned_days_ago=1.0 if pinned else None,
            )
            for place, (length, pinned, cosine) in enumerate(drawn)
        ]
        ranked, result = selected(GATED, *notes, limit=3, budget_tokens=budget)
        assert result.tokens.used <= budget
        left_out = result.left_out
        told = left_out.pins + left_out.limit + left_out.budget + left_out.duplicates
        wanted = len(ranked.always) + len(ranked.near) + len(ranked.beyond_cap)
        assert len(result.memories) + told >= wanted


class TestQuestion:
    def test_brings_what_is_near_the_best_first_and_equal_ones_by_id(self) -> None:
        cosines = (0.6, 0.9, 0.49, 0.9, None)
        notes = [Note(content=f"note {place}", cosine=one) for place, one in enumerate(cosines)]
        assert places(selected(GATED, *notes)[1]) == [1, 3, 0]

    def test_brings_by_words_what_is_not_near_in_meaning_or_has_no_vector(self) -> None:
        notes = (
            Note(content="Order ZX4411 arrived late", cosine=0.1),
            Note(content="Ordered tea", cosine=0.2),
            Note(content="Sent ZX4411 back", cosine=None),
        )
        _, result = selected(GATED, *notes, asks="ZX4411?")
        assert sorted(places(result)) == [0, 2]
        assert set(result.verdicts.values()) == {Verdict.WORDS}

    @pytest.mark.parametrize("asks", ["hello", "thanks!", "who is it?"])
    def test_brings_nothing_by_greetings(self, asks: str) -> None:
        _, result = selected(GATED, Note(content=f"Said {asks}", cosine=0.2), asks=asks)
        assert places(result) == []

    def test_serves_what_says_the_same_once_and_fills_its_place(self) -> None:
        notes = (
            Note(content="Likes tea", cosine=0.9),
            Note(content="The user likes tea.", cosine=0.8),
            Note(content="Likes rain", cosine=0.7),
        )
        _, result = selected(GATED, *notes, limit=2)
        assert places(result) == [0, 2]
        assert result.left_out.duplicates == 1
        assert result.duplicate_of == {1: 0}
        assert not result.crowded

    def test_tells_where_what_says_the_same_took_the_places_of_others(self) -> None:
        same = [Note(content="Likes tea", cosine=0.9)] * 30
        other = Note(content="Likes rain", cosine=0.7)
        ranked, result = selected(GATED, *same, other, limit=2)
        assert (places(result), result.crowded) == ([0], True)
        sizes = [len(ranked.wanted)]
        while (further := ranked.reading_on()) is not None:
            ranked = further
            sizes.append(len(ranked.wanted))
        assert sizes == [12, 24, 31]

    def test_reads_no_more_than_it_may_for_one_question(self) -> None:
        flood = [Note(content="Likes tea", cosine=0.9)] * (READ_MAX + 50)
        ranked, _ = selected(GATED, *flood, limit=10)
        while (further := ranked.reading_on()) is not None:
            ranked = further
        assert len(ranked.wanted) == READ_MAX

    def test_reads_on_for_duplicates_alone(self) -> None:
        others = [Note(content=f"Thing {number}", cosine=0.9) for number in range(30)]
        assert not selected(GATED, *others, limit=2)[1].crowded
        assert not selected(GATED, *others, limit=2, budget_tokens=1)[1].crowded
