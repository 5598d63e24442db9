"""What closes one kind of record."""

from __future__ import annotations

from typing import Protocol, TypeVar

from processors.opened import Cause, Opened
from processors.partition_state import PartitionState
from schemas.records import Outcome

CauseType_contra = TypeVar("CauseType_contra", bound=Cause, contravariant=True)


class Closer(Protocol[CauseType_contra]):
    """Decides about records of one kind."""

    async def outcome(
        self, cause: CauseType_contra, opened: Opened, state: PartitionState, /
    ) -> Outcome | None:
        """Return the outcome of a record; ``None`` where it has one already.

        Args:
            cause: what the record asks for.
            opened: the record.
            state: its partition.

        Raises:
            OwnershipLost: another worker may hold the partition.
            Answered: another worker's proposal was found meanwhile; this is to be called again.
            ExtractionFailed: the extractor gave no usable answer.
            ExtractorUnavailable: it cannot be asked at all now; the record is not at fault.
        """
        ...
