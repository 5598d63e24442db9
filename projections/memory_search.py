"""Searching what holds now of one subject for words, as the user would: none of it is left out.

Recall serves what is near enough to a question. Somebody who looks for what is stored of them wants
all that holds a word, whatever a threshold makes of it.
"""

from __future__ import annotations

import unicodedata
from typing import Final
from uuid import UUID

from projections.cursors import Cursor, listing_digest, require_between
from projections.memories import LIMIT_DEFAULT, LIMIT_MAX, ListedMemory, Memories, MemoryPage
from schemas.errors import InvalidInput
from schemas.memory import ABOUT_USER
from schemas.text import clean_text

QUERY_CHARACTERS_MAX: Final = 200
"""The most characters of what is searched for."""

LOOKED_AT_MAX: Final = 2_000
"""The most memories that one page looks at; the next one goes on behind them."""

_STEP: Final = 500


class MemorySearch:
    """Finds the memories that hold every word of a query, in themselves or in their quote.

    Of whom a memory speaks belongs to it, where that is not the user.
    """

    def __init__(
        self, memories: Memories, *, generation: str, looked_at_max: int = LOOKED_AT_MAX
    ) -> None:
        """Wire a search.

        Args:
            memories: lists what there is.
            generation: the generation whose memories those are.
            looked_at_max: the most memories that one page looks at.
        """
        self._memories = memories
        self._generation = generation
        self._looked_at_max = looked_at_max

    async def search(
        self,
        subject: UUID | None,
        query: str,
        *,
        cursor: str | None = None,
        limit: int = LIMIT_DEFAULT,
    ) -> MemoryPage:
        """Return a page of what is found, the latest recorded first.

        Upper and lower case, accents and the forms of one character are not told apart. A page may
        hold few memories or none and still have a ``next_cursor``: it looked at as many as one page
        may.

        Args:
            subject: whose memories; ``None`` for a user of whom nothing was ever heard.
            query: words, in any order.
            cursor: ``next_cursor`` of the page before.
            limit: the most memories of the page, 1 to ``LIMIT_MAX``.

        Raises:
            InvalidInput: an argument cannot be used.
            ReadModelUnavailable: the read model cannot be reached.
        """
        words = _words(query)
        require_between("limit", limit, LIMIT_MAX)
        listing = listing_digest(subject, "search", *words)
        after = (
            None if cursor is None else Cursor.decode(cursor, listing, arguments="user and query")
        )
        found: list[ListedMemory] = []
        full_at: Cursor | None = None
        looked_at = 0
        while looked_at < self._looked_at_max:
            step = min(_STEP, self._looked_at_max - looked_at)
            rows = await self._memories.live_after(subject, after, limit=step)
            for row in rows:
                after = Cursor(moment=row.recorded_at, row_id=row.memory_id, listing=listing)
                if not _holds(row, words):
                    continue
                if len(found) == limit:  # there is one more: the page has a next one
                    return self._page(found, full_at)
                found.append(row)
                full_at = after
            looked_at += step
            if len(rows) < step:
                return self._page(found, None)
        return self._page(found, after)

    def _page(self, found: list[ListedMemory], after: Cursor | None) -> MemoryPage:
        return MemoryPage(
            memories=tuple(found),
            next_cursor=None if after is None else after.encode(),
            generation=self._generation,
        )


def folded(text: str) -> str:
    """Return a text as it is compared: without case, accents and differences of form."""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    plain = "".join(sign for sign in decomposed if not unicodedata.combining(sign))
    # Composed again: half of a Korean syllable is no word.
    return unicodedata.normalize("NFC", plain)


def _words(query: str) -> list[str]:
    text = clean_text("query", query, max_characters=QUERY_CHARACTERS_MAX)
    words = sorted({word for word in folded(text).split() if word})
    if not words:
        raise InvalidInput(
            field="query", problem="holds nothing to search for", remedy="send a word"
        )
    return words


def _holds(memory: ListedMemory, words: list[str]) -> bool:
    # Nearly every memory is about the user, who is named there by a word that nobody said.
    about = "" if memory.about == ABOUT_USER else memory.about
    text = folded(f"{memory.content}\n{about}\n{memory.quote}")
    return all(word in text for word in words)
