"""What a user takes back, corrects, or says has ended."""

from __future__ import annotations

import pytest

from schemas.proposals import Action
from schemas.slots import Slot
from tests.unit.processors.extractors.reading import extract, knows, read

MUMBAI = knows("Lives in Mumbai", Slot.RESIDENCE)
PUNE = knows("Lives in Pune", Slot.RESIDENCE)
PEANUTS = knows("Is allergic to peanuts", Slot.ALLERGY)
COFFEE = knows("Likes coffee", Slot.PREFERENCE)
SISTER = knows("Sister lives in Mumbai", Slot.RESIDENCE, "sister")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I live in Mumbai. No, I meant Pune.", ["residence: Lives in Pune"]),
        ("I live in Mumbai. Sorry, it's Pune, not Mumbai.", ["residence: Lives in Pune"]),
        ("I live in Mumbai. That's wrong.", []),
        ("I live in Mumbai. Forget that.", []),
        ("I live in Mumbai. Scratch that, I live in Pune.", ["residence: Lives in Pune"]),
        ("I'm vegan. I live in Goa. Forget that.", ["diet: Is vegan"]),
        ("My name is Jon and I'm vegan. I meant John, not Jon.",
         ["name: Is called John", "diet: Is vegan"]),
    ],
)  # fmt: skip
def test_a_turn_corrects_itself(text: str, expected: list[str]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    "text",
    ["Actually it's Pune, not Mumbai", "No, it's Pune, not Mumbai.", "I meant Pune, not Mumbai"],
)
def test_a_later_turn_withdraws_what_was_wrong_and_adds_what_is_right(text: str) -> None:
    operations = extract(text, COFFEE, MUMBAI).operations
    assert [(one.action, one.slot, one.content) for one in operations] == [
        (Action.RETRACT, Slot.RESIDENCE, "Lives in Mumbai"),
        (Action.ADD, Slot.RESIDENCE, "Lives in Pune"),
    ]
    assert operations[0].reference == MUMBAI.memory.memory_id


def test_a_correction_of_something_else_changes_nothing() -> None:
    assert read("Actually it's Python, not Java", MUMBAI, COFFEE) == []
    assert read("Actually it's Pune, not Mumbai", SISTER) == []


def test_what_ended_replaces_what_held() -> None:
    (one,) = extract("I no longer live in Mumbai", MUMBAI).operations
    assert (one.action, one.content) == (Action.UPDATE, "No longer lives in Mumbai")
    assert one.reference == MUMBAI.memory.memory_id


def test_a_diet_takes_the_place_of_one_that_it_cannot_hold_beside() -> None:
    vegetarian = knows("Is vegetarian", Slot.DIET)
    for text in ("I'm vegan now", "I eat meat again", "I'm no longer vegetarian"):
        (one,) = extract(text, vegetarian).operations
        assert (one.action, one.reference) == (Action.UPDATE, vegetarian.memory.memory_id)
    for text in ("I only eat halal food", "I'm gluten-free"):
        (one,) = extract(text, vegetarian).operations
        assert (one.action, one.reference) == (Action.ADD, None)


def test_a_diet_never_takes_away_more_than_it_replaces() -> None:
    both = knows("Is vegan and gluten-free", Slot.DIET)
    (one,) = extract("I'm vegetarian", both).operations
    assert (one.action, one.reference) == (Action.ADD, None)


def test_a_diet_that_ended_is_told_though_nothing_of_it_was_known() -> None:
    assert read("I'm no longer vegan") == ["diet: Is no longer vegan"]


def test_what_ended_does_not_displace_another_value_that_is_known() -> None:
    assert read("I no longer live in Mumbai", PUNE) == []


def test_what_ended_is_kept_where_nothing_is_known() -> None:
    assert read("I no longer live in Mumbai") == ["residence: No longer lives in Mumbai"]


def test_the_new_value_says_that_the_old_one_ended() -> None:
    expected = ["residence: Lives in Pune"]
    assert read("I no longer live in Mumbai, I live in Pune now") == expected
    assert read("I live in Pune now, I no longer live in Mumbai") == expected


def test_an_allergy_that_is_denied_is_withdrawn_only_if_it_is_known() -> None:
    assert read("I'm not allergic to peanuts") == []
    (one,) = extract("I'm not allergic to peanuts", PEANUTS).operations
    assert (one.action, one.reference) == (Action.RETRACT, PEANUTS.memory.memory_id)


def test_a_denied_residence_is_withdrawn_only_if_it_is_known() -> None:
    assert read("I don't live in Mumbai", PUNE) == []
    assert read("I don't live in Mumbai", MUMBAI) == ["retract residence: Lives in Mumbai"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Forget that I live in Mumbai", ["retract residence: Lives in Mumbai"]),
        ("Please forget that I'm allergic to peanuts", ["retract allergy: Is allergic to peanuts"]),
    ],
)
def test_forgetting_withdraws_with_and_without_what_is_known(
    text: str, expected: list[str]
) -> None:
    assert read(text) == expected
    known = extract(text, MUMBAI, PEANUTS).operations
    assert {one.reference for one in known} <= {MUMBAI.memory.memory_id, PEANUTS.memory.memory_id}
    assert [one.action for one in known] == [Action.RETRACT]


def test_another_taste_for_the_same_thing_updates_it() -> None:
    (one,) = extract("I hate coffee", COFFEE).operations
    assert (one.action, one.content) == (Action.UPDATE, "Hates coffee")
    assert one.reference == COFFEE.memory.memory_id
    (other,) = extract("I hate coffee ice cream", COFFEE).operations
    assert other.action is Action.ADD


def test_the_undated_form_of_a_dated_statement_repeats_it() -> None:
    dated = knows("Lives in Pune since 2019", Slot.RESIDENCE)
    assert read("I live in Pune", dated) == ["residence: Lives in Pune since 2019"]


def test_a_memory_about_somebody_else_is_never_named() -> None:
    assert read("I don't live in Mumbai", SISTER) == []
    assert read("My sister no longer lives in Mumbai", SISTER) == [
        "update residence of sister: Sister no longer lives in Mumbai"
    ]
