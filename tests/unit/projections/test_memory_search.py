"""Searching one's memories for words: nothing that holds them is left out, page by page."""

from __future__ import annotations

import asyncio
from typing import Final
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.memory_search import QUERY_CHARACTERS_MAX, MemorySearch, folded
from schemas.errors import InputTooLarge, InvalidInput
from tests.unit.projections.listed import Listed, version

SUBJECT: Final = uuid4()


def found(*contents: str, query: str, limit: int = 50, looked_at_max: int = 2_000) -> list[str]:
    """Return what all pages of a search hold, in order."""
    listed = Listed(*(version(number, content) for number, content in enumerate(contents)))
    search = MemorySearch(listed, generation="g1", looked_at_max=looked_at_max)

    async def read() -> list[str]:
        texts: list[str] = []
        cursor: str | None = None
        for _ in range(len(contents) + 2):
            page = await search.search(SUBJECT, query, cursor=cursor, limit=limit)
            assert len(page.memories) <= limit
            texts += [memory.content for memory in page.memories]
            cursor = page.next_cursor
            if cursor is None:
                return texts
        raise AssertionError("the search does not end")

    return asyncio.run(read())


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("Lives in Zürich", "ZURICH"),
        ("Lives in Zürich", "zu\u0308rich lives"),
        ("Wohnt in der Hauptstraße", "STRASSE"),
        ("寿司が好き", "寿司"),
        ("\uff34\uff45\uff41 in full width", "tea"),
        ("Paid 50% of it", "50%"),
        ("Has a_b in it", "a_b"),
        ("Любит чай", "ЧАЙ"),
        ("يعيش في القاهرة", "القاهرة"),
        ("서울에 산다", "서울"),
    ],
)
def test_words_are_found_however_they_are_written(content: str, query: str) -> None:
    assert found("Something else", content, query=query) == [content]


@pytest.mark.parametrize("query", ["%", "_", "zurich bern", "\\", "acme-corp"])
def test_nothing_is_found_that_does_not_hold_every_word(query: str) -> None:
    assert found("Lives in Zürich", "Works at acme", query=query) == []


def test_the_words_that_caused_a_memory_and_whom_it_is_about_are_looked_at_too() -> None:
    listed = Listed(
        version(1, "Is a vegetarian", quote="I never eat steak"),
        version(2, "Likes it", about="Lea"),
    )
    search = MemorySearch(listed, generation="g1")
    for query, content in (("steak", "Is a vegetarian"), ("lea", "Likes it")):
        page = asyncio.run(search.search(SUBJECT, query))
        assert [memory.content for memory in page.memories] == [content]


@pytest.mark.parametrize("query", ["user", "use"])
def test_that_a_memory_is_about_the_user_is_no_word_of_it(query: str) -> None:
    assert found("Likes tea", "Is a user of Linux", query=query) == ["Is a user of Linux"]


def test_a_page_looks_at_so_many_memories_and_the_next_goes_on_behind_them() -> None:
    contents = [f"{'tea' if number % 7 == 3 else 'milk'} {number}" for number in range(40)]
    wanted = [content for content in contents if content.startswith("tea")]
    assert found(*contents, query="tea", looked_at_max=5) == wanted
    assert found(*contents, query="tea", looked_at_max=5, limit=1) == wanted


def test_the_last_page_says_that_it_is_the_last_one() -> None:
    listed = Listed(version(1, "tea"), version(2, "tea"), version(3, "milk"))
    page = asyncio.run(MemorySearch(listed, generation="g1").search(SUBJECT, "tea", limit=2))
    assert (len(page.memories), page.next_cursor) == (2, None)


def test_half_of_a_korean_syllable_is_no_word() -> None:
    assert found("각", query="가") == []


def test_a_user_of_whom_nothing_was_heard_finds_nothing() -> None:
    listed = Listed(version(1, "tea"))
    page = asyncio.run(MemorySearch(listed, generation="g1").search(None, "tea"))
    assert (page.memories, page.next_cursor) == ((), None)


@pytest.mark.parametrize("query", ["", "  ", "\u0301", "a\x00b"])
def test_a_query_without_a_word_is_refused(query: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        found("tea", query=query)
    assert refused.value.field == "query"


def test_a_query_above_the_limit_is_refused() -> None:
    with pytest.raises(InputTooLarge):
        found("tea", query="x" * (QUERY_CHARACTERS_MAX + 1))


def test_a_cursor_continues_no_other_search() -> None:
    listed = Listed(*(version(number, "tea") for number in range(3)))
    search = MemorySearch(listed, generation="g1")
    page = asyncio.run(search.search(SUBJECT, "tea", limit=1))
    for subject, query in ((SUBJECT, "milk"), (uuid4(), "tea")):
        with pytest.raises(InvalidInput) as refused:
            asyncio.run(search.search(subject, query, cursor=page.next_cursor))
        assert refused.value.field == "cursor"


@given(st.text(min_size=1))
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert folded(folded(text)) == folded(text)


@given(
    words=st.lists(st.text("abcä", min_size=1, max_size=4), min_size=1, max_size=4),
    before=st.lists(st.text("abc ", max_size=12), max_size=8),
    limit=st.integers(1, 4),
    looked_at_max=st.integers(1, 6),
)
def test_a_memory_is_found_by_its_own_words_wherever_it_stands(
    words: list[str], before: list[str], limit: int, looked_at_max: int
) -> None:
    content = " ".join(words)
    answer = found(
        *before, content, query=content.upper(), limit=limit, looked_at_max=looked_at_max
    )
    assert content in answer
