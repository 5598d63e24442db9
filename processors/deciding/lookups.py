"""What the ledger must be asked before something can be decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final
from uuid import UUID

from processors.deciding.considered import Item, left_to_a_person
from processors.versions import RETRACTABLE_KINDS
from schemas.memory import Embedding, statement_key
from schemas.ports import SimilarTo
from schemas.proposals import Action
from schemas.slots import SINGLE_VALUED, Slot

SIMILAR_MAX: Final = 8
"""The most statements that a new one is compared with: what says the same is among the nearest."""

NO_VECTORS: Final[Mapping[int, Embedding]] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True, slots=True)
class Lookups:
    """The questions for ``Ledger.related``.

    Attributes:
        slots: the attributes of one value that are stated, each with its about.
        statement_keys: the keys of the statements that may be held already.
        memory_ids: the memories that are referred to.
        similar: asks for the live statements that a new one may only word differently.
        turn_ids: the turns that may have caused what is looked for.
        suppression_keys: the keys under which a person may have deleted or corrected it.
    """

    slots: frozenset[tuple[Slot, str]]
    statement_keys: frozenset[bytes]
    memory_ids: frozenset[UUID]
    similar: tuple[SimilarTo, ...] = ()
    turn_ids: frozenset[UUID] = frozenset()
    suppression_keys: frozenset[bytes] = frozenset()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to ask."""
        named = self.slots or self.statement_keys or self.memory_ids
        return not (named or self.turn_ids or self.suppression_keys)


def lookups_for(items: Sequence[Item], vectors: Mapping[int, Embedding] = NO_VECTORS) -> Lookups:
    """Return what must be asked, at once, for all items that the gate lets pass.

    Args:
        items: the items.
        vectors: by the index of those that are compared with what is held, their vectors.
    """
    passed = [item for item in items if not item.reasons]
    stated = [item for item in passed if item.states or item.operation.action is Action.RETRACT]
    # What a person is left to decide must not show what was deleted.
    kept = [item for item in items if not item.reasons or left_to_a_person(item.reasons)]
    return Lookups(
        slots=frozenset(
            (item.operation.slot, item.operation.about)
            for item in stated
            if item.operation.slot in SINGLE_VALUED
        ),
        statement_keys=frozenset(key for item in stated for key in _keys(item)),
        memory_ids=frozenset(memory_id for item in passed for memory_id in item.named),
        similar=tuple(
            _similar_to(item, vectors[item.index]) for item in passed if item.index in vectors
        ),
        suppression_keys=frozenset(
            key for item in kept if _brings_forth(item) for key in item.suppression_keys
        ),
    )


def _brings_forth(item: Item) -> bool:
    return item.states or item.operation.action is Action.MERGE


def _similar_to(item: Item, vector: Embedding) -> SimilarTo:
    operation = item.operation
    return SimilarTo(
        slot=operation.slot,
        about=operation.about,
        kind=operation.kind,
        vector=vector,
        most=SIMILAR_MAX,
    )


def _keys(item: Item) -> set[bytes]:
    operation = item.operation
    kinds = {operation.kind}
    if operation.action is Action.RETRACT:
        kinds.update(RETRACTABLE_KINDS)
    return {
        statement_key(kind, operation.about, operation.content, item.valid_from) for kind in kinds
    }
