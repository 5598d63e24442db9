"""A proposal as the gate leaves it: what each operation rests on, and what speaks against it.

Everything about it that does not depend on the ledger is settled here, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from processors.about import ABOUT_CHARACTERS_MAX, canonical_about
from processors.deciding.gating import Gate
from processors.deciding.occasions import STATING, Occasion, Saying
from processors.expiry import expiry_of
from schemas.events import LEFT_TO_A_PERSON, RejectionReason
from schemas.memory import ABOUT_ASSISTANT, MemoryKind, Precision
from schemas.proposals import Action, Operation, Proposal, Speaker
from schemas.slots import Slot
from schemas.suppression import SuppressionKeying


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One operation that is decided.

    Attributes:
        index: its place in the proposal, from which the ids of what it brings forth follow.
        operation: the operation, with ``about`` in its one spelling.
        saying: what it rests on.
        reasons: every reason for which it must not be carried out, as far as that can be told
            without the ledger: what a consolidation proposes is judged with the memories it names.
        keying: makes the keys of what its subject deleted or corrected.
    """

    index: int
    operation: Operation
    saying: Saying
    reasons: tuple[RejectionReason, ...]
    keying: SuppressionKeying = field(repr=False)

    @property
    def states(self) -> bool:
        """Whether it states something."""
        return self.operation.action in {Action.ADD, Action.UPDATE}

    @property
    def named(self) -> tuple[UUID, ...]:
        """The memories that it names."""
        operation = self.operation
        named = (operation.reference, operation.against, *operation.merges)
        return tuple(memory_id for memory_id in named if memory_id is not None)

    @property
    def may_repeat(self) -> bool:
        """Whether it may state in other words what is held: an update says that something changed.

        What happened or was said at one time is never the same as at another.
        """
        operation = self.operation
        adds = operation.action is Action.ADD or (
            operation.action is Action.UPDATE and operation.reference is None
        )
        return adds and not self.reasons and operation.kind is not MemoryKind.EPISODIC

    @property
    def valid_from(self) -> datetime:
        """Since when it is true: never after it was said, whatever was proposed."""
        said_at = self.saying.said_at
        return min(self.operation.valid_from or said_at, said_at)

    @property
    def valid_from_precision(self) -> Precision:
        """How exactly that was told; the time of the words is exact."""
        told = self.operation.valid_from
        if told is None or told > self.saying.said_at:
            return Precision.MOMENT
        return self.operation.valid_from_precision

    @property
    def suppression_keys(self) -> frozenset[bytes]:
        """The keys under which a person may have deleted or corrected what it states."""
        operation = self.operation
        if operation.action is Action.MERGE:
            return frozenset({self.keying.words_key(operation.about, operation.content)})
        return self.keying.stated_keys(
            _Stated(
                kind=operation.kind,
                slot=operation.slot,
                about=operation.about,
                content=operation.content,
                valid_from=self.valid_from,
                turn_id=self.saying.turn_id,
                quote=operation.quote,
            )
        )

    @property
    def expires_at(self) -> datetime | None:
        """When what it states ceases by itself."""
        operation = self.operation
        return expiry_of(
            kind=operation.kind,
            slot=operation.slot,
            confidence=operation.confidence,
            told=operation.expires_at,
            said_at=self.saying.said_at,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Stated:
    """A statement as :class:`schemas.suppression.Statement` wants it."""

    kind: MemoryKind
    slot: Slot
    about: str
    content: str
    valid_from: datetime
    turn_id: UUID
    quote: str


def left_to_a_person(reasons: Sequence[RejectionReason]) -> tuple[RejectionReason, ...]:
    """Return the reasons for which a person decides; none where anything else forbids it.

    How little a model thinks of a claim does not: staff must hear of it all the same.
    """
    left = tuple(reason for reason in reasons if reason in LEFT_TO_A_PERSON)
    return left if set(reasons) <= {*left, RejectionReason.NOT_WORTH_KEEPING} else ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Considered:
    """What is decided, as far as that can be told without the ledger.

    Attributes:
        occasion: what it is decided for.
        proposal: what was proposed for it; ``None`` where nobody was asked.
        items: the operations, in the order in which they are decided: that in which their words
            were said, and then that of the proposal.
        unplaced: the places of the operations that name no turn of the occasion, and of the items
            of the answer that could not be read, which stand behind the operations.
    """

    occasion: Occasion
    proposal: Proposal | None
    items: tuple[Item, ...]
    unplaced: tuple[int, ...]


def consider(
    occasion: Occasion, proposal: Proposal | None = None, *, keying: SuppressionKeying
) -> Considered:
    """Ask the gate about every operation.

    Args:
        occasion: what is to be decided.
        proposal: what was proposed for it; a curation needs none.
        keying: makes the keys of what the subject deleted or corrected.

    Raises:
        ValueError: there is neither a proposal nor an operation of the occasion's own.
    """
    operations = occasion.operations
    if operations is None:
        if proposal is None:
            raise ValueError(f"a {occasion.kind} cannot be decided without a proposal")
        operations = proposal.operations
    gate = Gate(occasion)
    items: list[Item] = []
    unplaced: list[int] = []
    for index, operation in enumerate(operations):
        saying = occasion.saying_of(operation)
        if saying is None:
            unplaced.append(index)
        else:
            item = Item(
                index=index,
                operation=gate.narrowed(_canonical(operation), saying),
                saying=saying,
                reasons=(),
                keying=keying,
            )
            items.append(_judged(item, occasion, gate))
    order = {saying.turn_id: place for place, saying in enumerate(occasion.sayings)}
    items.sort(key=lambda item: order[item.saying.turn_id])
    unread = 0 if proposal is None else len(proposal.invalid)
    unplaced.extend(range(len(operations), len(operations) + unread))
    return Considered(
        occasion=occasion, proposal=proposal, items=tuple(items), unplaced=tuple(unplaced)
    )


def _judged(item: Item, occasion: Occasion, gate: Gate) -> Item:
    """Return an item with the reasons against it."""
    operation, saying = item.operation, item.saying
    reasons: tuple[RejectionReason, ...] = ()
    if operation.action not in occasion.actions:
        reasons = (RejectionReason.INVALID_ITEM,)
    elif operation.action in STATING:
        reasons = gate.refusals(operation, saying)
    item = replace(item, reasons=reasons)
    if not 0 < len(operation.about) <= ABOUT_CHARACTERS_MAX:
        # Told once: the gate may have found it empty.
        reasons = tuple(dict.fromkeys((*reasons, RejectionReason.INVALID_ITEM)))
        item = replace(item, reasons=reasons)
    if item.states and item.expires_at is not None and item.expires_at <= saying.said_at:
        return replace(item, reasons=(*reasons, RejectionReason.ALREADY_PAST))
    return item


def _canonical(operation: Operation) -> Operation:
    about = canonical_about(operation.about)
    if operation.said_by is Speaker.ASSISTANT:
        about = ABOUT_ASSISTANT
    if about == operation.about:
        return operation
    return operation.model_copy(update={"about": about})
