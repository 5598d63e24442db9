"""When two statements count as the same one."""

from __future__ import annotations

import unicodedata
from datetime import timedelta, timezone
from typing import Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from schemas.memory import MemoryKind, folded, statement_key
from tests.support.log_writer import NOON, at

FORMS: tuple[Literal["NFC", "NFD", "NFKC", "NFKD"], ...] = ("NFC", "NFD", "NFKC", "NFKD")
SEMANTIC, EPISODIC = MemoryKind.SEMANTIC, MemoryKind.EPISODIC

# Letters that have both cases, of three alphabets, composed and not; the dotless i, whose capital
# is another letter's, is none of them.
_LETTERS = st.sampled_from("abcxyzåéüßşñøœΐάωжёй")
_PLAIN_WORDS = st.text(_LETTERS, min_size=1, max_size=8) | st.integers(0, 9999).map(str)
_OTHER_WORDS = st.sampled_from(
    ["緑茶", "東京", "서울", "नमस्ते", "ไทย", "🍵", "C++", "-5", "1.5", "c#"]
)
words = st.lists(_PLAIN_WORDS | _OTHER_WORDS, min_size=1, max_size=6)
spaces = st.text(" \t\n\u00a0\u3000", min_size=1, max_size=3)
endings = st.text(".,;:!?…。、\uff01\uff1f\"'()«»", max_size=3)
encodable = st.text(st.characters(exclude_categories=["Cs"]))


def key(content: str, **changed: object) -> bytes:
    """The key of a fact about the user."""
    given_: dict[str, object] = {"kind": SEMANTIC, "about": "user", "valid_from": NOON}
    given_ |= changed
    return statement_key(content=content, **given_)  # type: ignore[arg-type]  # one of many


@given(words, st.data())
def test_case_spacing_punctuation_and_unicode_form_do_not_matter(
    said: list[str], data: st.DataObject
) -> None:
    plain = " ".join(said)
    other = "".join(
        f"{data.draw(st.sampled_from([word, word.upper(), word.title()]))}"
        f"{data.draw(endings)}{data.draw(spaces)}"
        for word in said
    )

    for form in FORMS:
        assert folded(unicodedata.normalize(form, other)) == folded(plain)
        assert key(unicodedata.normalize(form, other)) == key(plain)


@given(words, words)
def test_other_words_in_another_order_or_number_matter(said: list[str], other: list[str]) -> None:
    same = [folded(word) for word in said] == [folded(word) for word in other]

    assert (folded(" ".join(said)) == folded(" ".join(other))) == same


@given(encodable)
@example("\u0345")
@example("0?A@\x1b")
@example("a@b\u200b?c")
@example("(x@y).")
@example("_@_ _://_")
@example("a .b")
@example("ŉ...")
def test_folding_again_changes_nothing(text: str) -> None:
    once = folded(text)

    assert folded(once) == once


@given(encodable)
def test_a_text_with_something_in_it_never_becomes_empty(text: str) -> None:
    assert bool(folded(text)) == bool(text)


@given(st.integers(-10_000, 10_000), st.integers(-10_000, 10_000))
def test_numbers_and_their_signs_matter(one: int, other: int) -> None:
    assert (key(f"Owes {one} euros.") == key(f"owes {other} euros")) == (one == other)


@given(
    st.decimals(0, 999, places=2, allow_nan=False), st.decimals(0, 999, places=2, allow_nan=False)
)
def test_the_point_of_a_number_matters(one: object, other: object) -> None:
    assert (key(f"Weighs {one} kg") == key(f"Weighs {other} kg.")) == (one == other)
    assert key(f"Weighs {one} kg") != key(f"Weighs {str(one).replace('.', '')} kg")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Is allergic to nuts", "Is not allergic to nuts"),
        ("Writes C", "Writes C++"),
        ("Writes C", "Writes C#"),
        ("Writes C++", "Writes C#"),
        ("Uses .NET", "Uses NET"),
        ("Pays 5% interest", "Pays 5 interest"),
        ("It was -5 degrees", "It was 5 degrees"),
        ("Version 1.5", "Version 15"),
        ("Costs $5", "Costs 5"),
        ("Costs $5", "Costs €5"),
        ("Born 1990-01-02", "Born 1990-10-2"),
        ("Lives at 12/3", "Lives at 123"),
        ("Writes to a.b@example.org", "Writes to a-b@example.org"),
        ("Writes to ann@b.example", "Writes to ann b example"),
        ("Is @ann", "Is Ann"),
        ("Calls it foo_bar", "Calls it foobar"),
        ("Reads https://a.example/b-c", "Reads https://a.example/b_c"),
        ("Likes 🍵", "Likes ☕"),
        ("Rated 👍", "Rated 👎"),
        ("Loves résumés", "Loves resumes"),
        ("住在东京", "住在京都"),
        ("?", "!"),
    ],
)
def test_what_changes_the_meaning_matters(one: str, other: str) -> None:
    assert key(one) != key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Lives in Zürich.", "lives in  ZÜRICH"),
        ("Zu\u0308rich", "Zürich"),
        ("Straße", "STRASSE"),
        ("Is well-known", "is well known"),
        ("Don't shout!", "don\u2019t shout"),
        ("Lives in Bern...and likes it", "Lives in Bern… and likes it"),
        ("Likes “tea”", '"likes" tea'),
        ("Writes to a.b@example.org.", "writes to A.B@example.org"),
        ("Writes (mostly) C#.", "writes mostly C#"),
        ("\uff46\uff55\uff4c\uff4c width", "full width"),
        ("緑茶が好き。", "緑茶が好き"),
        ("ΐ", "Ϊ\u0301"),
    ],
)
def test_what_does_not_change_the_meaning_does_not_matter(one: str, other: str) -> None:
    assert key(one) == key(other)


def test_the_parts_of_a_statement_are_kept_apart() -> None:
    assert key("b", about="a") != key("a", about="b")
    assert key("a b", about="c") != key("b", about="c a")
    assert key("a", kind=MemoryKind.PROCEDURAL) != key("a")
    assert key("a", about="Sister") == key("a", about="sister")


def test_an_episode_is_bound_to_its_time_and_a_fact_is_not() -> None:
    zone = timezone(timedelta(hours=9))

    assert key("Went climbing", kind=EPISODIC) != key(
        "Went climbing", kind=EPISODIC, valid_from=at(1)
    )
    assert key("Went climbing", kind=EPISODIC) == key(
        "went climbing.", kind=EPISODIC, valid_from=NOON.astimezone(zone)
    )
    assert key("Lives in Bern") == key("Lives in Bern", valid_from=at(1))


def test_a_key_is_the_same_in_every_release() -> None:
    assert key("Lives in Zürich.").hex() == "e19ef31caa382633b0327cbf078b6fe9"
