"""The turns that benches post: distinct sentences of an ordinary length, of many users in turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final
from uuid import uuid4

LIST_TURNS: Final = 500
"""How many turns one request carries: the most that it may."""

_ROOMS: Final = 97
_TOPICS: Final = ("budget", "launch", "hiring", "garden", "holiday", "kitchen", "school", "car")


class TurnSource:
    """What a number of users say, one after the other, time and again.

    Args:
        users: how many there are; nobody was heard of any of them before.
    """

    def __init__(self, users: int) -> None:
        self._users = users
        self._run = f"bench-{uuid4().hex[:8]}"
        self._said = 0

    def take(self, number: int) -> list[dict[str, Any]]:
        """Return the next turns, as ``POST /v1/turns`` takes them."""
        places = range(self._said, self._said + number)
        self._said += number
        return [
            {
                "user_id": f"{self._run}-{place % self._users}",
                "conversation_id": self._run,
                "turn_id": f"{self._run}-{place}",
                "user_text": (
                    f"Note {place}: the {_TOPICS[place % len(_TOPICS)]} meeting moved to room "
                    f"{place * 7 % _ROOMS} because of item {uuid4().hex[:6]}."
                ),
                "assistant_text": "Noted, thank you.",
            }
            for place in places
        ]


def in_lists(items: Sequence[dict[str, Any]], size: int) -> Iterator[list[dict[str, Any]]]:
    """Yield items in lists of at most ``size``."""
    rest = iter(items)
    while taken := list(islice(rest, size)):
        yield taken
