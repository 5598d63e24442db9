"""What memories are worth under the policies that ship, and what is near enough at all."""

from __future__ import annotations

import pytest

from projections.recall_policies import Policy, shipped
from schemas.memory import MemoryKind
from tests.support.recall_scene import Note, weighed

GATED, WEIGHTED = shipped()["gated"], shipped()["weighted"]
PLAIN = Policy()


def test_relevance_is_half_meaning_and_half_words() -> None:
    found = weighed(
        PLAIN,
        Note(content="violin", cosine=0.1),
        Note(content="garden", cosine=0.9),
        Note(content="violin garden", cosine=0.5),
        asks="violin",
    )
    assert found.relevance[0] == pytest.approx(0.5)
    assert found.relevance[1] == pytest.approx(0.5)
    assert 0.25 < found.relevance[2] < 0.75


def test_the_best_of_bad_hits_ranks_first_and_is_not_near() -> None:
    found = weighed(PLAIN, Note(cosine=0.4), Note(cosine=0.1))
    assert found.relevance[0] == pytest.approx(0.5)
    assert not found.near.any()


def test_the_threshold_is_met_by_what_is_equal_to_it() -> None:
    found = weighed(PLAIN, Note(cosine=0.5), Note(cosine=0.499), Note(cosine=None))
    assert found.similar.tolist() == [True, False, False]


def test_gated_halves_the_bonus_of_episodes_each_90_days_and_lets_facts_be() -> None:
    episode = MemoryKind.EPISODIC
    found = weighed(
        GATED,
        *(Note(kind=episode, days_old=days) for days in (0, 90, 180)),
        Note(days_old=900),
    )
    assert found.recency.tolist() == pytest.approx([1, 0.5, 0.25, 1])
    assert found.final[0] - found.final[1] == pytest.approx(0.05)


def test_gated_adds_a_twentieth_for_each_step_of_importance() -> None:
    found = weighed(GATED, *(Note(importance=step) for step in (1, 2, 5)))
    assert (found.final - found.final[0]).tolist() == pytest.approx([0, 0.05, 0.2])


def test_weighted_weighs_relevance_recency_and_importance_and_pins_count_as_five() -> None:
    found = weighed(
        WEIGHTED,
        Note(cosine=0.0, importance=1, kind=MemoryKind.EPISODIC, days_old=10),
        Note(cosine=1.0, importance=1, pinned_days_ago=1.0),
    )
    assert found.final.tolist() == pytest.approx([0.2 * 0.99**10 + 0.3 / 5, 0.5 * 0.5 + 0.2 + 0.3])


def test_without_a_weight_for_recency_relevance_itself_fades() -> None:
    policy = Policy(episode_half_life_days=30)
    old = Note(kind=MemoryKind.EPISODIC, cosine=1.0, days_old=30)
    found = weighed(policy, old, Note(cosine=0.0))
    assert found.final[0] == pytest.approx(0.25)


def test_a_memory_of_tomorrow_is_no_more_recent_than_one_of_now() -> None:
    found = weighed(GATED, Note(kind=MemoryKind.EPISODIC, days_old=-3))
    assert found.recency.tolist() == [1.0]


def test_an_episode_may_fade_to_nothing_within_a_day() -> None:
    policy = Policy(episode_half_life_days=0.0005)
    worth = weighed(policy, Note(kind=MemoryKind.EPISODIC, days_old=1), Note(days_old=1))
    assert worth.recency.tolist() == [0, 1]
