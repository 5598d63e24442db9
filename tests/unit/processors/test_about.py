"""One person has one spelling."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.about import canonical_about


@pytest.mark.parametrize(
    ("about", "canonical"),
    [
        ("user", "user"),
        (" The  User", "user"),
        ("user\u200b", "user"),
        ("\ufeffus\u00ader", "user"),
        ("Me\u3164", "user"),
        ("\x00Ann\x1fBell\n", "ann bell"),
        ("Zoe\u0308", "zo\u00eb"),
        ("Ann\ufe0f", "ann"),
        ("\u200b\u2060", ""),
        ("\u2800", ""),
        ("", ""),
    ],
)
def test_what_shows_nothing_makes_nobody_else(about: str, canonical: str) -> None:
    assert canonical_about(about) == canonical


@given(
    st.text(
        st.characters(codec="latin-1") | st.sampled_from("\u200b\ufe0f\u0308\u3164"), max_size=40
    )
)
def test_the_one_spelling_is_its_own(about: str) -> None:
    once = canonical_about(about)
    assert canonical_about(once) == once
