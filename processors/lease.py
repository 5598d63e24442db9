"""Whether the broker may have given our partitions away meanwhile."""

from __future__ import annotations

from typing import Protocol


class Lease(Protocol):
    """The time for which the consumer group cannot have handed our partitions to another worker.

    It runs from the last heartbeat that the broker accepted. A process that was paused for longer
    than the session finds it spent before it finds out anything else.
    """

    def remaining_s(self) -> float:
        """Return the seconds that are left; negative when it is spent."""
        ...

    async def renewed(self) -> None:
        """Return once a heartbeat that was sent after this call is accepted."""
        ...
