"""What memories and questions are found by: the same words, whatever the language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.words.analysis import QUESTION_WORDS_MAX, document_words, question_words


def _found(question: str, memory: str) -> list[str]:
    """Return the words of a question that a memory holds."""
    held = document_words(memory).counts
    return [word.text for word in question_words(question) if held.keys() & set(word.forms)]


@pytest.mark.parametrize(
    ("question", "memory", "found"),
    [
        pytest.param("What are my allergies?", "Has an allergy to nuts", ["allergies"], id="stems"),
        pytest.param("CAFÉ?", "Loves the cafe round the corner", ["café"], id="case-and-marks"),
        pytest.param("Straße", "Wohnt in der Hauptstrasse, Strasse 4", ["strasse"], id="folding"),
        pytest.param("order ZX-4411", "ZX-4411 arrived late", ["zx", "4411"], id="numbers"),
        pytest.param("C++ or C#?", "Writes C++", ["c++"], id="signs-of-names"),
        pytest.param(
            "Welche Allergien habe ich?", "Hat eine Allergie gegen Eis", ["allergien"], id="german"
        ),
        # Nothing in it tells the language, so it is found by the form that asks none.
        pytest.param("Bin ich vegetarisch?", "Vegetarisch", ["vegetarisch"], id="no-function-word"),
        pytest.param("¿Dónde trabajo?", "Trabaja en un banco", ["trabajo"], id="spanish"),
        pytest.param("Где я работаю?", "Работает в банке", ["работаю"], id="russian"),
        pytest.param("我对什么过敏", "用户对花生过敏", ["过敏"], id="chinese"),
        pytest.param("茶", "喜欢喝茶", ["茶"], id="one-han-character"),
        pytest.param("ナッツ", "ピーナッツアレルギーがある", ["ナッ", "ッツ"], id="kana"),
        pytest.param("땅콩", "땅콩에 알레르기가 있다", ["땅콩"], id="korean"),
        pytest.param("ถั่ว", "ฉันแพ้ถั่วลิสง", ["ถั่ว"], id="thai"),
        pytest.param("एलर्जी", "मुझे मूँगफली से एलर्जी है", ["एलर्जी"], id="hindi"),
        pytest.param("Ann's cat", "The cat of Ann", ["ann's", "cat"], id="possessive"),
    ],
)  # fmt: skip
def test_a_question_finds_the_words_of_a_memory(
    question: str, memory: str, found: list[str]
) -> None:
    assert _found(question, memory) == found


@pytest.mark.parametrize(
    "text", ["hello", "Hi!", "thank you", "Danke, ja", "what is it?", "¿qué es?", "...", "🙂"]
)
def test_a_text_without_matter_has_no_words(text: str) -> None:
    assert question_words(text) == []


def test_normal_forms_of_unicode_are_one() -> None:
    assert question_words("e\u0301cole") == question_words("\u00e9cole")
    assert question_words("\uff34okyo") == question_words("tokyo")


def test_a_repeated_word_counts_in_a_memory_and_once_in_a_question() -> None:
    (word,) = question_words("tea tea teas")
    (form,) = word.forms
    assert document_words("tea tea teas").counts[form] == 3
    assert document_words("tea tea teas").length == 3


def test_of_an_endless_question_the_beginning_counts() -> None:
    words = question_words(" ".join(f"word{number}" for number in range(500)))
    assert len(words) == QUESTION_WORDS_MAX
    assert words[0].text == "word0"


@given(st.text(max_size=200))
def test_whatever_a_text_holds_it_finds_itself(text: str) -> None:
    held = document_words(text).counts.keys()
    assert all(held & set(word.forms) for word in question_words(text))
