"""What is served once: only what says the same, word for word but for articles."""

from __future__ import annotations

import numpy as np
import pytest

from projections.near_duplicates import Saying
from schemas.memory import MemoryKind
from tests.support.recall_scene import Note, recalled


def _same(one: Note, other: Note, *vectors: bytes | None) -> bool:
    first, second = vectors or (None, None)
    mine = Saying(memory=recalled(one), vector=first)
    return mine.same_as(Saying(memory=recalled(other), vector=second))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Allergic to nuts", "I am allergic to nuts."),
        ("The user likes tea", "likes  TEA"),
        ("Ist Vegetarier", "Ich bin Vegetarier"),
    ],
)
def test_articles_case_and_who_speaks_change_nothing(one: str, other: str) -> None:
    assert _same(Note(content=one), Note(content=other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Is allergic to nuts", "Is not allergic to nuts"),
        ("Takes 5 mg", "Takes 50 mg"),
        ("Pays 1.5", "Pays 15"),
        ("Ann owes Bob", "Bob owes Ann"),
        ("Lived in Oslo", "Lives in Oslo"),
        ("Writes C", "Writes C++"),
        ("Likes his dog", "Likes her dog"),
        ("The", "A"),
    ],
)
def test_a_word_a_digit_or_the_order_changes_the_statement(one: str, other: str) -> None:
    assert not _same(Note(content=one), Note(content=other))


def test_statements_about_others_are_others() -> None:
    assert not _same(Note(about="sister"), Note(about="brother"))


def test_episodes_of_two_days_are_two_and_a_fact_is_the_episode_that_says_it() -> None:
    today = Note(content="Went running", kind=MemoryKind.EPISODIC)
    before = Note(content="Went running", kind=MemoryKind.EPISODIC, days_old=1)
    assert not _same(today, before)
    assert _same(today, today)
    assert _same(Note(content="Went running"), before)


def test_vectors_that_disagree_are_believed() -> None:
    one, other = (np.array(vector, "<f2").tobytes() for vector in ([1, 0], [0, 1]))
    assert _same(Note(), Note(), one, one)
    assert not _same(Note(), Note(), one, other)
    assert _same(Note(), Note(), one, None)
