"""What users say, made up from a seed: every text is said once."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

_CITY_SHARE = 0.3
_WORDS = ("tea", "train", "garden", "violin", "harbour", "bread", "snow", "market", "lamp", "river")


class Conversations:
    """Users who take turns.

    Attributes:
        seed: what everything follows from.
        users: their ids.
    """

    def __init__(self, *, seed: int, users: int, prefix: str = "user") -> None:
        self.seed = seed
        self.users = [f"{prefix}-{number}" for number in range(users)]
        self._random = random.Random(seed)
        self._said = 0
        # Each turn has a second of its own, and none lies ahead.
        self._begin = datetime.now(UTC) - timedelta(days=2)

    def turns(self, count: int) -> list[dict[str, Any]]:
        """Return the next turns, of every user about as many, in the order of their times."""
        return [self.turn(user=self._random.choice(self.users)) for _ in range(count)]

    def turn(self, *, user: str, text: str | None = None) -> dict[str, Any]:
        """Return the next turn, of one user."""
        self._said += 1
        return {
            "user_id": user,
            "conversation_id": f"conversation of {user}",
            "turn_id": f"{user}/{self._said}",
            "user_text": self._text() if text is None else text,
            "occurred_at": (self._begin + timedelta(seconds=self._said)).isoformat(),
        }

    def _text(self) -> str:
        if self._random.random() < _CITY_SHARE:
            return f"I moved, city=Town{self._said} it is."
        words = " ".join(self._random.choices(_WORDS, k=6))
        return f"On day {self._said} I thought of {words}."
