"""The words of the turn that a quote repeats, though it was changed a little."""

from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.extractors.model.quotes import exact_words

SAID = "Hi,  I don\u2019t eat\nmeat \u2013 and I <3 \u201cspicy\u201d food & tea."


@pytest.mark.parametrize(
    ("quote", "meant"),
    [
        ("I <3", "I <3"),
        ("I don't eat meat", "I don\u2019t eat\nmeat"),
        ("eat meat - and", "eat\nmeat \u2013 and"),
        ('"spicy" food', "\u201cspicy\u201d food"),
        ("I &lt;3 &quot;spicy&quot; food &amp; tea", "I <3 \u201cspicy\u201d food & tea"),
        ("  Hi, I  ", "Hi,  I"),
        ("", ""),
    ],
)
def test_it_is_found_in_another_spelling(quote: str, meant: str) -> None:
    assert exact_words(quote, SAID) == meant


@pytest.mark.parametrize("quote", ["I eat meat", "i don't eat meat", "tea and coffee", "<4"])
def test_words_that_were_not_said_stay_as_they_are(quote: str) -> None:
    assert exact_words(quote, SAID) == quote


def test_characters_that_nobody_sees_stand_between_the_words_that_were_said() -> None:
    said = "I live\U000e0001\U000e0041 in Bern"

    assert exact_words("I live in Bern", said) == said


@given(text=st.text(max_size=200), data=st.data())
def test_any_part_of_a_text_is_found_as_it_stands(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))

    assert exact_words(text[start:end], text) in text
    assert exact_words(html.escape(text[start:end]), text)[:0] == ""
