"""Statements about users are said to them where that can be done for sure, and else not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.second_person import to_the_user


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("Is vegetarian", "you are vegetarian"),
        ("is allergic to peanuts", "you are allergic to peanuts"),
        ("Has a dog called Rex", "you have a dog called Rex"),
        ("Lives in Bern", "you live in Bern"),
        ("The user lives in Bern", "you live in Bern"),
        ("User prefers tea", "you prefer tea"),
        ("Doesn't eat meat", "you don't eat meat"),
        ("Does not eat meat", "you do not eat meat"),
        ("Isn\u2019t a morning person", "you aren't a morning person"),
        ("Teaches physics", "you teach physics"),
        ("Studies law", "you study law"),
        ("Cannot climb stairs", "you cannot climb stairs"),
        ("Likes cats and dogs", "you like cats and dogs"),
        ("Has a son who plays chess", "you have a son who plays chess"),
        ("Is a nurse and a mother of two", "you are a nurse and a mother of two"),
    ],
)
def test_an_english_statement_is_turned_around(statement: str, said: str) -> None:
    assert to_the_user(statement) == said


@pytest.mark.parametrize(
    "statement",
    [
        "Ist Vegetarier",
        "Est v\u00e9g\u00e9tarien",
        "\u5403\u7d20",
        "Vegetarian",
        "Is",
        "Likes",
        "Pancakes are a favourite",
        "Lives with her sister",
        "Likes his job",
        "Mother lives in Pune",
        "Isolated from work",
        "Is allergic to peanuts and carries an EpiPen",
        "Likes tea but never drinks coffee",
        "Works as a nurse, lives in Bonn",
        "Is 30 years old; works at Acme",
        "Lives in Bonn and hikes every weekend",
        "",
    ],
)
def test_any_other_is_left_as_it_stands(statement: str) -> None:
    assert to_the_user(statement) is None


@given(st.text())
def test_what_is_said_ends_as_the_statement_does(statement: str) -> None:
    said = to_the_user(statement)
    assert said is None or (said.startswith("you ") and statement.endswith(said.split(" ", 2)[2]))
