"""What the ledger must be asked before something can be decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from processors.deciding.considered import Item
from processors.versions import RETRACTABLE_KINDS
from schemas.memory import statement_key
from schemas.proposals import Action
from schemas.slots import SINGLE_VALUED, Slot


@dataclass(frozen=True, kw_only=True, slots=True)
class Lookups:
    """The questions for ``Ledger.related``.

    Attributes:
        slots: the attributes of one value that are stated, each with its about.
        statement_keys: the keys of the statements that may be held already.
        memory_ids: the memories that are referred to.
    """

    slots: frozenset[tuple[Slot, str]]
    statement_keys: frozenset[bytes]
    memory_ids: frozenset[UUID]

    @property
    def empty(self) -> bool:
        """Whether there is nothing to ask."""
        return not (self.slots or self.statement_keys or self.memory_ids)


def lookups_for(items: Sequence[Item]) -> Lookups:
    """Return what must be asked, at once, for all items that the gate lets pass."""
    passed = [item for item in items if not item.reasons]
    stated = [item for item in passed if item.states or item.operation.action is Action.RETRACT]
    return Lookups(
        slots=frozenset(
            (item.operation.slot, item.operation.about)
            for item in stated
            if item.operation.slot in SINGLE_VALUED
        ),
        statement_keys=frozenset(key for item in stated for key in _keys(item)),
        memory_ids=frozenset(memory_id for item in passed for memory_id in _named(item)),
    )


def _keys(item: Item) -> set[bytes]:
    operation = item.operation
    kinds = {operation.kind}
    if operation.action is Action.RETRACT:
        kinds.update(RETRACTABLE_KINDS)
    return {
        statement_key(kind, operation.about, operation.content, item.valid_from) for kind in kinds
    }


def _named(item: Item) -> tuple[UUID, ...]:
    operation = item.operation
    named = (operation.reference, operation.against, *operation.merges)
    return tuple(memory_id for memory_id in named if memory_id is not None)
