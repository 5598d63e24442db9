"""How a curation comes to its outcome: nobody is asked, code carries out what was decided."""

from __future__ import annotations

from processors.asking import Asking
from processors.closers.places import Places
from processors.deciding.decider import Decider
from processors.deciding.occasions import occasion_of_curation
from processors.opened import Opened
from processors.partition_state import PartitionState
from schemas.commands import Curation, PersonCorrects, PersonDeletes, PersonPins
from schemas.records import Outcome


class CurationCloser:
    """Closes curations.

    Args:
        asking: tells whether a record still needs its outcome.
        decider: decides.
        places: where outcomes belong.
    """

    def __init__(self, *, asking: Asking, decider: Decider, places: Places) -> None:
        self._asking = asking
        self._decider = decider
        self._places = places

    async def outcome(
        self, curation: Curation, opened: Opened, state: PartitionState
    ) -> Outcome | None:
        """Return what becomes of a curation; see :class:`~processors.closers.closer.Closer`."""
        if not await self._asking.is_open(opened, state):
            return None
        decision = curation.decision
        if isinstance(decision, PersonCorrects | PersonPins | PersonDeletes):
            return await self._decider.curate(
                curation,
                decision,
                subject=opened.keys.subject,
                keying=opened.keying,
                place=self._places.of(opened, state),
            )
        return await self._decider.outcome(
            occasion_of_curation(curation),
            None,
            subject=opened.keys.subject,
            keying=opened.keying,
            place=self._places.of(opened, state),
        )
