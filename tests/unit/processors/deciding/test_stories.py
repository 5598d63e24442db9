"""What the rules extractor reads in a conversation, decided turn by turn."""

from __future__ import annotations

import asyncio

import pytest

from processors.extraction import without_injection
from processors.extractors.rules import RulesExtractor
from schemas.injection import BLOCK_END, BLOCK_START, FRAME
from schemas.ports import ExtractionRequest, KnownMemory
from schemas.records import Closing, Outcome
from schemas.slots import Slot
from tests.support.deciding import Subject, day, proposal, turn

SMALL_TALK = [
    "Hi!",
    "How are you today?",
    "Thanks a lot, that helped",
    "What's the weather like?",
    "lol",
    "Can you tell me a joke?",
    "Okay, sounds good",
    "Good morning",
    "Never mind",
    "Bye, see you tomorrow",
]


class Talk:
    """A user whose turns the rules read, shown what is live."""

    def __init__(self) -> None:
        self.subject = Subject()
        self._day = 0

    def says(self, text: str, *, at: float | None = None) -> Outcome:
        """Take a turn, a day after the one before if no day is told."""
        self._day += 1
        said = turn(text, at=day(self._day if at is None else at))
        request = ExtractionRequest(turn=without_injection(said), known=self._known())
        found = asyncio.run(RulesExtractor().extract(request))
        return self.subject.take(said, proposal(said, found.operations))

    def _known(self) -> tuple[KnownMemory, ...]:
        live = [
            row.memory
            for row in self.subject.state.memories.values()
            if row.retracted_at is None and row.memory.valid_to is None
        ]
        return tuple(
            KnownMemory(reference=f"m{number}", memory=memory)
            for number, memory in enumerate(live, start=1)
        )

    def everything(self) -> set[str]:
        """Return the contents of every version."""
        return {row.memory.content for row in self.subject.state.memories.values()}


def test_small_talk_stores_nothing() -> None:
    talk = Talk()
    assert {talk.says(text).closing for text in SMALL_TALK} == {Closing.NOTHING_FOUND}
    assert talk.everything() == set()


def test_one_fact_in_small_talk_is_one_memory() -> None:
    talk = Talk()
    for text in [*SMALL_TALK[:5], "I'm vegetarian", *SMALL_TALK[5:]]:
        talk.says(text)
    assert talk.everything() == {"Is vegetarian"}


def test_bangalore_then_pune_is_one_live_city_of_one_lineage() -> None:
    talk = Talk()
    talk.says("I live in Bangalore", at=1)
    talk.says("I moved to Pune", at=8)
    assert talk.subject.history() == [
        ("Lives in Bangalore", day(1), day(8)),
        ("Lives in Pune", day(8), None),
    ]
    assert len({row.memory.lineage_id for row in talk.subject.rows()}) == 1


def test_the_same_two_turns_the_other_way_round_tell_the_same() -> None:
    talk = Talk()
    talk.says("I moved to Pune", at=8)
    talk.says("I live in Bangalore", at=1)
    assert talk.subject.history() == [
        ("Lives in Bangalore", day(1), day(8)),
        ("Lives in Pune", day(8), None),
    ]


def test_where_a_sister_lives_changes_nothing_about_the_user() -> None:
    talk = Talk()
    talk.says("I live in Bangalore")
    before = talk.subject.rows()
    talk.says("My sister moved to Pune")
    assert talk.subject.rows() == before
    assert talk.subject.live(about="sister") == ["Sister lives in Pune"]


@pytest.mark.parametrize(
    "wordings",
    [
        ("I'm vegetarian", "I am a vegetarian.", "By the way, I'm a vegetarian!"),
        ("I live in Pune", "I moved to Pune", "I'm living in Pune now"),
        ("I'm allergic to peanuts", "I have a peanut allergy", "i am allergic to peanuts!!"),
    ],
)
def test_three_wordings_that_the_rules_read_as_one_are_one_memory(
    wordings: tuple[str, ...],
) -> None:
    talk = Talk()
    for wording in wordings:
        talk.says(wording)
    (row,) = talk.subject.state.memories.values()
    assert row.confirmations == 2


def test_diets_hold_side_by_side_and_one_takes_the_place_of_another() -> None:
    talk = Talk()
    for text in ("I'm vegetarian", "I only eat halal food", "I'm lactose-free"):
        talk.says(text)
    assert talk.subject.live(Slot.DIET) == [
        "Is vegetarian",
        "Follows a halal diet",
        "Is lactose-free",
    ]
    talk.says("I'm vegan now")
    assert talk.subject.live(Slot.DIET) == ["Follows a halal diet", "Is lactose-free", "Is vegan"]


def test_notes_that_come_back_twenty_times_add_nothing() -> None:
    talk = Talk()
    for text in ("I live in Pune", "I'm vegetarian", "I love tea"):
        talk.says(text)
    held = talk.everything()
    notes = "\n".join(f"- 2024-01-02 {content}" for content in sorted(held))
    block = f"{BLOCK_START}\n{FRAME}\n{notes}\n{BLOCK_END}\n"
    for _ in range(20):
        outcome = talk.says(f"{block}What should I cook?")
        assert outcome.closing is Closing.NOTHING_FOUND
    assert talk.everything() == held


def test_what_a_user_repeats_twenty_times_is_confirmed_and_never_added() -> None:
    talk = Talk()
    for _ in range(21):
        talk.says("I live in Pune and I'm vegetarian")
    assert sorted(row.confirmations for row in talk.subject.state.memories.values()) == [20, 20]


def test_a_guess_of_the_assistant_stores_nothing() -> None:
    talk = Talk()
    said = turn("What do you think?", assistant_text="You are a vegetarian, I guess.", at=day(1))
    found = asyncio.run(RulesExtractor().extract(ExtractionRequest(turn=said, known=())))
    talk.subject.take(said, proposal(said, found.operations))
    assert talk.everything() == set()


def test_what_was_wrong_and_what_was_true_once_are_told_apart() -> None:
    talk = Talk()
    talk.says("I live in Mumbai")
    talk.says("Actually it's Pune, not Mumbai")
    talk.says("I moved to Goa")
    rows = {row.memory.content: row for row in talk.subject.state.memories.values()}
    assert rows["Lives in Mumbai"].retracted_at is not None
    assert rows["Lives in Pune"].retracted_at is None
    assert rows["Lives in Pune"].memory.valid_to == rows["Lives in Goa"].memory.valid_from
