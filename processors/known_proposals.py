"""Which proposals of a partition are still needed, and from where a successor must read them."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from uuid import UUID


class KnownProposals:
    """The books from which an outcome's floor is told.

    The floor is a promise to whoever takes the partition over: below it no open turn has a
    proposal. So it rests on three facts only.

    - Everything below ``end`` is known here, without a hole: an append that was not acknowledged,
      or one of another worker that does not know yet that the partition has moved, may lie in a
      hole, and the floor stays below it until the hole is read.
    - A proposal is needed until the outcome of its turn is *delivered*: one that is decided and
      lost would else leave its proposal out of a successor's sight.
    - A proposal that stood already when the partition was taken over is needed until its turn is
      worked on, or until every turn that could be its own is closed.
    """

    def __init__(self) -> None:
        self._end = 0
        self._ahead: set[int] = set()
        self._needed: dict[UUID, int] = {}
        self._heap: list[tuple[int, UUID]] = []
        self._standing: list[tuple[int, frozenset[UUID]]] = []

    @property
    def end(self) -> int:
        """Every offset below it is known."""
        return self._end

    @property
    def has_hole(self) -> bool:
        """Whether something was appended beyond ``end``."""
        return bool(self._ahead)

    @property
    def needed(self) -> int:
        """How many proposals are needed."""
        return len(self._needed)

    def appended(self, proposal_id: UUID, offset: int) -> None:
        """Note that this worker's append of a proposal was acknowledged at ``offset``."""
        self._need(proposal_id, offset)
        self._ahead.add(offset)
        self._close_up()

    def read(self, found: Iterable[tuple[UUID, int]], *, end: int, turns_end: int) -> None:
        """Note what was read from ``self.end`` to ``end``.

        Args:
            found: id and offset of each proposal.
            end: the end that the proposals topic had when it was read.
            turns_end: the end that the turns topic had *afterwards*: every turn that a proposal
                was found for stands below it.
        """
        ids = set()
        for proposal_id, offset in found:
            self._need(proposal_id, offset)
            ids.add(proposal_id)
        if ids:
            self._standing.append((turns_end, frozenset(ids)))
        self._end = max(self._end, end)
        self._close_up()

    def closed(self, proposal_id: UUID) -> None:
        """Note that the outcome of the proposal's turn is delivered."""
        self._needed.pop(proposal_id, None)

    def turns_closed_below(self, head: int) -> frozenset[UUID]:
        """Note that every turn below ``head`` is closed; return the proposals this frees."""
        freed: set[UUID] = set()
        kept = []
        for turns_end, ids in self._standing:
            if turns_end <= head:
                freed |= ids
            else:
                kept.append((turns_end, ids))
        self._standing = kept
        for proposal_id in freed:
            self._needed.pop(proposal_id, None)
        return frozenset(freed)

    def floor(self, *, closing: UUID | None = None) -> int:
        """Return the offset below which no open turn has a proposal, once ``closing`` is closed."""
        first = self._lowest()
        if first is None:
            return self._end
        if first[1] != closing:
            return min(first[0], self._end)
        heapq.heappop(self._heap)
        second = self._lowest()
        heapq.heappush(self._heap, first)
        return self._end if second is None else min(second[0], self._end)

    def _need(self, proposal_id: UUID, offset: int) -> None:
        known = self._needed.get(proposal_id)
        if known is None or offset < known:
            self._needed[proposal_id] = offset
            heapq.heappush(self._heap, (offset, proposal_id))

    def _lowest(self) -> tuple[int, UUID] | None:
        heap = self._heap
        while heap and self._needed.get(heap[0][1]) != heap[0][0]:
            heapq.heappop(heap)
        return heap[0] if heap else None

    def _close_up(self) -> None:
        self._ahead = {offset for offset in self._ahead if offset >= self._end}
        while self._end in self._ahead:
            self._ahead.discard(self._end)
            self._end += 1
