"""The threshold of meaning hangs on the question's language, and on whether it asks at all."""

from __future__ import annotations

import pytest

from projections.embedders.minilm import MIN_SIMILARITY
from projections.embedders.minilm import NAME as MINILM
from projections.recall_threshold import NOTHING_ASKED, OTHER_LANGUAGES_MIN, threshold_for


def _threshold(question: str, embedder: str = MINILM, usual: float = MIN_SIMILARITY) -> float:
    return threshold_for(question, embedder=embedder, usual=usual)


@pytest.mark.parametrize(
    "question",
    [
        "Hello!",
        "thanks, bye",
        "Hola",
        "Привет!",
        "你好",
        "ありがとう",
        "안녕하세요",
        "مرحبا",
        "नमस्ते",
    ],
)
def test_a_greeting_asks_for_nothing(question: str) -> None:
    assert _threshold(question) == NOTHING_ASKED


@pytest.mark.parametrize(
    "question",
    [
        "Where do I live?",
        "Who am I?",
        "hello, where do I live?",
        "Anna Bern 2026",
        "42",
        "?!",
        "😀",
    ],
)
def test_english_and_what_names_no_language_keep_the_embedders_threshold(question: str) -> None:
    assert _threshold(question) == MIN_SIMILARITY


@pytest.mark.parametrize(
    "question",
    [
        "我住在哪里?",
        "私はどこに住んでいますか",
        "나는 어디에 살아요?",
        "ฉันอาศัยอยู่ที่ไหน",
        "Где я живу?",
        "मैं कहाँ रहता हूँ?",
        "أين أسكن؟",
        "Wo wohne ich und was esse ich nicht?",
        "¿Dónde vivo y qué es lo que no como?",
        "我的 iPhone 是什么颜色的?",
    ],
)
def test_in_another_language_an_english_embedder_must_be_nearer(question: str) -> None:
    assert _threshold(question) == OTHER_LANGUAGES_MIN[MINILM]


def test_an_embedder_of_all_languages_keeps_its_threshold() -> None:
    assert _threshold("我住在哪里?", embedder="multilingual", usual=0.8) == 0.8


def test_a_higher_threshold_that_was_set_is_never_lowered() -> None:
    assert _threshold("我住在哪里?", usual=0.7) == 0.7
