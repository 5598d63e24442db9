"""Clients of an SDK, each with connections of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

IN_FLIGHT_MAX: Final = 40
"""Calls of one client at once, where more clients can be made. The pool of connections under an SDK
looks at each of them for every request: with 300 calls in flight that was two fifths of the time
that a call took of a core."""

CLIENTS_MAX: Final = 16


class Clients:
    """Shares calls out among clients, of which it makes as many as the calls at once need."""

    def __init__(self, make: Callable[[], Any]) -> None:
        """Make the first client; nothing is connected yet.

        Args:
            make: makes one.
        """
        self._make = make
        self.made: Final[list[Any]] = [make()]
        self._in_flight = [0]

    @contextmanager
    def lent(self) -> Iterator[Any]:
        """Yield a client for one call: the one with the fewest."""
        place = min(range(len(self.made)), key=self._in_flight.__getitem__)
        if self._in_flight[place] >= IN_FLIGHT_MAX and len(self.made) < CLIENTS_MAX:
            place = len(self.made)
            self.made.append(self._make())
            self._in_flight.append(0)
        self._in_flight[place] += 1
        try:
            yield self.made[place]
        finally:
            self._in_flight[place] -= 1

    async def aclose(self) -> None:
        """Close every client's connections."""
        for client in self.made:
            await client.close()
