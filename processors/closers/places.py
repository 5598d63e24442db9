"""Where outcomes belong in the log."""

from __future__ import annotations

from processors.asking import Asking
from processors.deciding.outcome import LogPlace
from processors.opened import Opened
from processors.partition_state import PartitionState


class Places:
    """Tells where the outcome of a record belongs.

    Args:
        asking: knows the proposals.
        generation: the generation that is written.
    """

    def __init__(self, asking: Asking, *, generation: str) -> None:
        self._asking = asking
        self._generation = generation

    def of(
        self, opened: Opened, state: PartitionState, *, proposal_offset: int | None = None
    ) -> LogPlace:
        """Return the place of a record's outcome.

        Args:
            opened: the record.
            state: its partition.
            proposal_offset: where its proposal stands; ``None`` where nobody was asked.
        """
        return LogPlace(
            generation=self._generation,
            partition=state.partition,
            offset=opened.record.position.offset,
            proposal_offset=proposal_offset,
            proposals_floor=state.known.floor(
                closing=self._asking.proposal_id(opened.cause.turn_id)
            ),
        )
