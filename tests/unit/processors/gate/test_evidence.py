"""What the gate lets through and what it refuses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.gate import RULES, Said, refusals
from processors.own_words import own_words
from schemas.events import RejectionReason
from schemas.injection import BLOCK_END, BLOCK_START
from schemas.memory import CONTENT_CHARACTERS_MAX, MemoryKind
from schemas.proposals import Action, Operation
from schemas.slots import Slot
from tests.support.deciding import operation, turn

NOT_SAID = RejectionReason.EVIDENCE_NOT_IN_USER_TEXT


def episode(text: str) -> Operation:
    return operation(text, slot=Slot.EPISODE, kind=MemoryKind.EPISODIC)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("I live in Pune", "Well, I live in Pune."),
        ("I'm vegan", "I\u2019m vegan"),
        ("I\u2019m vegan", "I'm vegan"),
        ('my "best" friend', "my \u201cbest\u201d friend"),
        ("9-5", "I work 9\u20135"),
        ("I live\nin  Pune", "I live in Pune"),
        ("cafe\u0301", "the caf\u00e9"),
        ("\uff30\uff55\uff4e\uff45", "Pune"),
        ("I live in Pune", "> hello\nI live in Pune"),
        ("I live in Pune", "```\ncode\n```\nI live in Pune"),
        ("if x > 3 then I call", "if x > 3 then I call"),
        (
            "\u6771\u4eac\u306b\u4f4f\u3093\u3067\u3044\u307e\u3059",
            "\u79c1\u306f\u6771\u4eac\u306b\u4f4f\u3093\u3067\u3044\u307e\u3059\u3002",
        ),
    ],
)
def test_a_quote_of_the_users_own_words_is_evidence(quote: str, text: str) -> None:
    assert refusals(operation(quote, quote=quote), Said(turn(text))) == ()


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("I live in Rome", "I live in Pune"),
        ("i live in pune", "I live in Pune"),
        ("", "I live in Pune"),
        ("  ", "I live in Pune"),
        ("I live in Rome", "> I live in Rome\nHe wrote that."),
        ("I live in Rome", "  > I live in Rome"),
        ("I live in Rome", "```text\nI live in Rome\n```\nWhat is this?"),
        ("I live in Rome", "~~~\nI live in Rome\n~~~"),
        ("I live in Rome", "````\n```\nI live in Rome\n````"),
        ("I live in Rome", "Look:\n```\nI live in Rome"),
        ("```\nI live in Rome\n```", "```\nI live in Rome\n```"),
        ("Lives in Rome", f"{BLOCK_START}\n- 2024-01-01 Lives in Rome\n{BLOCK_END}\nHello"),
    ],
)
def test_words_that_are_not_the_users_own_are_no_evidence(quote: str, text: str) -> None:
    assert refusals(operation("Some fact", quote=quote), Said(turn(text))) == (NOT_SAID,)


def test_the_assistants_words_are_no_evidence() -> None:
    said = turn("Thanks!", assistant_text="You live in Rome.")
    assert refusals(operation("Lives in Rome", quote="You live in Rome"), Said(said)) == (NOT_SAID,)


def test_every_reason_is_told() -> None:
    found = refusals(operation(" ", quote="never said", about=" "), Said(turn("Hello")))
    assert found == (NOT_SAID, RejectionReason.CONTENT_EMPTY, RejectionReason.INVALID_ITEM)


def test_a_retraction_that_names_a_memory_needs_no_content() -> None:
    named = operation("", action=Action.RETRACT, quote="forget it", reference=turn().turn_id)
    assert refusals(named, Said(turn("forget it"))) == ()


def test_a_statement_has_a_limit_that_is_kept_to_the_character() -> None:
    text = "I have a lot to tell about my house"
    fitting = operation("x" * CONTENT_CHARACTERS_MAX, quote=text)
    beyond = operation("x" * (CONTENT_CHARACTERS_MAX + 1), quote=text)
    assert refusals(fitting, Said(turn(text))) == ()
    assert refusals(beyond, Said(turn(text))) == (RejectionReason.CONTENT_TOO_LONG,)


def test_an_episode_may_keep_a_whole_turn_of_any_length() -> None:
    text = "> quoted\n" + "a long story " * 30_000
    assert refusals(episode(text), Said(turn(text))) == ()


def test_an_episode_of_part_of_a_turn_has_the_limit_of_any_statement() -> None:
    text = "word " * 1_000
    assert refusals(episode(text), Said(turn(text + "more"))) == (RejectionReason.CONTENT_TOO_LONG,)


def test_a_claim_may_not_rest_on_a_whole_turn_that_is_pasted() -> None:
    text = "> I live in Rome"
    for content in ("Lives in Rome", text):
        claim = operation(content, quote=text, slot=Slot.NOTE)
        assert refusals(claim, Said(turn(text))) == (NOT_SAID,)


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=80))
def test_every_rule_decides_by_itself(content: str, quote: str, text: str) -> None:
    one, said = operation(content, quote=quote), turn(text)
    reasons = {rule(one, Said(said)) for rule in reversed(RULES)} - {None}
    assert set(refusals(one, Said(said))) == reasons


@given(st.text(alphabet="ab>`~ \n", max_size=60))
def test_own_words_are_whole_lines_of_the_text(text: str) -> None:
    lines = text.splitlines(keepends=True)
    kept = own_words(text).splitlines(keepends=True)
    assert [line for line in kept if line.lstrip().startswith(">")] == []
    position = 0
    for line in kept:
        position = lines.index(line, position) + 1
