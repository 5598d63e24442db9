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


def turns(number: int, users: int) -> list[dict[str, Any]]:
    """Return new turns, the users of which come round in turn.

    Args:
        number: how many.
        users: how many users say them, new ones at every call.
    """
    run = uuid4().hex[:8]
    return [
        {
            "user_id": f"bench-{run}-{place % users}",
            "conversation_id": f"bench-{run}",
            "turn_id": f"bench-{run}-{place}",
            "user_text": (
                f"Note {place}: the {_TOPICS[place % len(_TOPICS)]} meeting moved to room "
                f"{place * 7 % _ROOMS} because of item {uuid4().hex[:6]}."
            ),
            "assistant_text": "Noted, thank you.",
        }
        for place in range(number)
    ]


def in_lists(items: Sequence[dict[str, Any]], size: int) -> Iterator[list[dict[str, Any]]]:
    """Yield items in lists of at most ``size``."""
    rest = iter(items)
    while taken := list(islice(rest, size)):
        yield taken
