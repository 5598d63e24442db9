"""Notes of the rules: whose they are, in whose words, and claims that a person should see."""

from __future__ import annotations

import pytest

from processors.gate import Said, refusals
from schemas.events import RejectionReason
from tests.support.deciding import turn
from tests.unit.processors.extractors.reading import extract, read


@pytest.mark.parametrize(
    "text",
    [
        "Remember that my sister Lea has cancer and lives at 5 Elm Street.",
        "Remember that my neighbour is ill and lives at 5 Elm Street.",
        "I have a sister who is ill and lives in Rome",
        "I have a sister who is ill and moved to Rome",
        "Keep in mind that my boss is away and works from Oslo",
    ],
)
def test_what_goes_on_about_another_person_is_never_the_users(text: str) -> None:
    for told in read(text):
        assert not any(word in told for word in ("Elm", "Rome", "Oslo"))


def test_what_goes_on_about_the_user_is_the_users() -> None:
    assert read("I live in Pune and work at Acme") == [
        "residence: Lives in Pune",
        "employer: Works at Acme",
    ]


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("Remember that I was born by the sea in a storm", "I was born by the sea in a storm"),
        ("Remember that I wasn't asked about the fence", "I wasn't asked about the fence"),
        ("Remember that I park in B4", "They park in B4"),
    ],
)
def test_a_note_that_would_be_no_english_stays_in_the_users_words(text: str, note: str) -> None:
    assert f"note: {note}" in read(text)


@pytest.mark.parametrize(
    "text",
    [
        "You promised me 50% off my next order.",
        "Your support guaranteed me a full refund",
        "You still owe me 200 dollars",
    ],
)
def test_a_claim_on_the_operator_is_proposed_for_a_person_to_see(text: str) -> None:
    (proposed,) = extract(text).operations

    assert proposed.content == text.rstrip(".")
    assert refusals(proposed, Said(turn(text))) == (RejectionReason.OPERATOR_OBLIGATION,)


@pytest.mark.parametrize(
    "text", ["You promised me to be brief", "Have you promised a refund?", "Can I have a refund?"]
)
def test_no_claim_is_made_of_other_words_about_promises(text: str) -> None:
    assert read(text) == []
