"""The check in code: small talk stays away from the model, and what holds something never does."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.explicit_requests import wants_it_now
from processors.small_talk import ASSISTANT_CHARACTERS_MAX, TEXT_CHARACTERS_MAX, Skip, skip_reason
from schemas.injection import BLOCK_END, BLOCK_START
from tests.support.labelled import LabelledTurn, as_turn, labelled_turns

TURNS = labelled_turns()
FALSE_SKIPS_MAX = 0.01
KEPT_AWAY_MIN = {"open": 0.95, "held_out": 0.7}
"""Shares of small talk. The check was written with the open part, and not changed for the other."""


def skipped(
    text: str, *, assistant_text: str | None = None, in_session: bool = False
) -> str | None:
    return skip_reason(as_turn(text, assistant_text=assistant_text), in_session=in_session)


def of(kind: str, part: str | None = None) -> list[LabelledTurn]:
    return [turn for turn in TURNS if turn.kind == kind and part in {None, turn.part}]


def test_the_labelled_turns_are_many_in_many_languages() -> None:
    assert len(TURNS) >= 400
    assert len({turn.text for turn in TURNS}) == len(TURNS)
    assert len({turn.language for turn in TURNS}) >= 8
    assert {turn.kind for turn in TURNS} == {"fact", "small_talk", "request"}


@pytest.mark.parametrize("in_session", [False, True])
@pytest.mark.parametrize("part", ["open", "held_out"])
def test_of_turns_that_hold_something_at_most_one_in_a_hundred_is_skipped(
    part: str, in_session: bool
) -> None:
    holding = of("fact", part)
    wrongly = [turn.text for turn in holding if skipped(turn.text, in_session=in_session)]

    assert len(holding) >= 60
    assert len(wrongly) <= FALSE_SKIPS_MAX * len(holding), wrongly


@pytest.mark.parametrize("part", ["open", "held_out"])
def test_most_small_talk_is_kept_away(part: str) -> None:
    small_talk = of("small_talk", part)
    kept_away = [turn for turn in small_talk if skipped(turn.text)]

    assert len(kept_away) >= KEPT_AWAY_MIN[part] * len(small_talk)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Hi! 😊", Skip.SMALL_TALK),
        ("thaaaanks sooo much", Skip.SMALL_TALK),
        ("hahaha", Skip.SMALL_TALK),
        ("ok, thank you!", Skip.ANSWER),
        ("yes", Skip.ANSWER),
        ("👍🏽", Skip.NOTHING_WRITTEN),
        ("?!", Skip.NOTHING_WRITTEN),
        ("What is the capital of Peru?", Skip.GENERAL_QUESTION),
        ("merci, à demain", Skip.SMALL_TALK),
        ("MERCI, A DEMAIN", Skip.SMALL_TALK),
        ("谢谢, 再见", Skip.SMALL_TALK),
        ("नमस्ते", Skip.SMALL_TALK),
    ],
)
def test_what_is_skipped_is_told_why(text: str, reason: Skip) -> None:
    assert skipped(text) == reason


@pytest.mark.parametrize(
    "text",
    [
        "thanks Priya",
        "thanks, remember it",
        "ok 42",
        "yes, vegan",
        "good morning from Lisbon",
        "What is the capital of my country?",
        "what is the best school for a deaf child?",
        "What is the capital of Peru? I was born there.",
        "who is Maria's doctor?",
        "how do you remember the planets?",
        "hi " * 50,
        "thanks. " + "a" * TEXT_CHARACTERS_MAX,
    ],
)
def test_what_may_hold_something_is_not(text: str) -> None:
    assert skipped(text) is None


@pytest.mark.parametrize(
    "text", ["yes", "no thanks", "perfect", "👍", "never mind", "just kidding"]
)
def test_answers_are_kept_where_the_model_sees_what_they_answer(text: str) -> None:
    assert skipped(text) is not None
    assert skipped(text, in_session=True) is None


@pytest.mark.parametrize("text", ["thanks!", "hello", "lol", "What is the capital of Peru?"])
def test_small_talk_is_left_out_of_sessions_too(text: str) -> None:
    assert skipped(text, in_session=True) is not None


def test_a_long_answer_of_the_assistant_may_hold_an_episode() -> None:
    courtesy = "You are welcome!"
    advice = "I recommend the night train to Vienna. " * 20
    assert len(advice) > ASSISTANT_CHARACTERS_MAX

    assert skipped("thanks", assistant_text=courtesy) == Skip.SMALL_TALK
    assert skipped("thanks", assistant_text=advice) is None
    assert skipped("What is the capital of Peru?", assistant_text=advice) is not None


def test_our_own_notes_do_not_count_as_said() -> None:
    notes = f"{BLOCK_START}\nThe user lives in Pune.\n{BLOCK_END}\n"

    assert skipped(f"{notes}thanks") == Skip.SMALL_TALK
    assert skipped(f"{notes}I live in Pune") is None


@given(st.sampled_from([turn.text for turn in of("fact")]), st.sampled_from(of("small_talk")))
def test_courtesy_around_a_fact_does_not_hide_it(fact: str, courtesy: LabelledTurn) -> None:
    assert skipped(f"{courtesy.text} {fact}") is None
    assert skipped(f"{fact}. {courtesy.text}") is None


@given(st.sampled_from([turn.text for turn in of("small_talk")]))
def test_case_accents_and_unicode_form_do_not_matter(text: str) -> None:
    reason = skipped(text)

    assert skipped(unicodedata.normalize("NFD", text)) == reason
    assert skipped(f"  {text} !! \N{SMILING FACE WITH SMILING EYES}") == reason


@given(st.text(max_size=600))
def test_any_text_is_answered(text: str) -> None:
    assert skipped(text) in {None, *Skip}


@pytest.mark.parametrize(
    "text",
    [
        "Remember that I park at gate C",
        "please remember: no nuts",
        "Don't forget my sister's birthday is in May",
        "do not forget that I'm vegan",
        "Hey, can you keep in mind that I hate calls?",
        "forget my old address",
        "Please forget everything I said about Tom",
        "I moved. Make a note of it",
        "Merk dir bitte, dass ich Veganer bin",
        "Vergiss meine alte Adresse",
        "Recuerda que no tomo café",
        "N'oublie pas que je suis végétarien",
        "Lembre que eu não como porco",
        "Ricorda che sono allergico",
        "Onthoud dat ik slecht hoor",
        "Zapamiętaj, że mam psa",
        "Запомни, я не пью кофе",
        "Kahve içmediğimi unutma",
        "تذكر أنني نباتي",
        "याद रखना कि मैं चाय नहीं पीता",
        "记住我不喝咖啡",
        "コーヒーは飲まないと覚えておいて",
        "커피 안 마시는 거 기억해줘",
    ],
)
def test_a_request_to_remember_or_forget_is_heard_in_many_languages(text: str) -> None:
    assert wants_it_now(as_turn(text))


@pytest.mark.parametrize(
    "text",
    [
        "I can't remember the name of that film",
        "I'll never forget that day",
        "Remember when we talked about Rome?",
        "I'm vegetarian",
        "I live in Pune and work in Hinjewadi",
        "> remember that the account is 12345",
        "```\nremember me\n```",
        "",
    ],
)
def test_what_only_speaks_of_remembering_is_no_request(text: str) -> None:
    assert not wants_it_now(as_turn(text))
