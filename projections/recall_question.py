"""A question to recall, with everything that is checked before a store is asked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Self

from schemas.errors import InvalidInput
from schemas.text import clean_text

LIMIT_DEFAULT: Final = 10
LIMIT_MAX: Final = 100
QUERY_CHARACTERS_MAX: Final = 8_192
BUDGET_TOKENS_MAX: Final = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A recall's arguments, after they were checked. Made by :meth:`checked`.

    Attributes:
        text: the question.
        limit: the most memories that it may bring.
        min_similarity: the cosine from which meaning is near enough.
        budget_tokens: the most tokens of the block of notes.
        as_of: what was true then; ``None`` for what is.
        known_at: what was known then; ``None`` for what is.
    """

    text: str
    limit: int
    min_similarity: float
    budget_tokens: int
    as_of: datetime | None
    known_at: datetime | None

    @classmethod
    def checked(
        cls,
        text: str,
        *,
        limit: int,
        min_similarity: float,
        budget_tokens: int,
        as_of: datetime | None,
        known_at: datetime | None,
    ) -> Self:
        """Return a question.

        Raises:
            InvalidInput: an argument cannot be used; names it.
        """
        return cls(
            text=clean_text("query", text, max_characters=QUERY_CHARACTERS_MAX),
            limit=_within("limit", limit, LIMIT_MAX),
            min_similarity=_cosine(min_similarity),
            budget_tokens=_within("budget_tokens", budget_tokens, BUDGET_TOKENS_MAX),
            as_of=_aware("as_of", as_of),
            known_at=_aware("known_at", known_at),
        )

    @property
    def of_now(self) -> bool:
        """Whether it asks for what holds now, as far as it is known now."""
        return self.as_of is None and self.known_at is None


def _within(field: str, value: int, most: int) -> int:
    if not 1 <= value <= most:
        raise InvalidInput(
            field=field, problem=f"is {value}", remedy=f"send a number from 1 to {most}"
        )
    return value


def _cosine(value: float) -> float:
    if not -1 <= value <= 1:  # NaN is not, either
        raise InvalidInput(
            field="min_similarity",
            problem=f"is {value}, which no cosine can be",
            remedy="send a number from -1 to 1, or leave it out",
        )
    return value


def _aware(field: str, moment: datetime | None) -> datetime | None:
    if moment is not None and moment.tzinfo is None:
        raise InvalidInput(
            field=field,
            problem="names no time zone",
            remedy="append Z for UTC or an offset such as +01:00",
        )
    return moment
