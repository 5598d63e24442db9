"""A subject's memories over several turns: each is decided, and its outcome folded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from processors.deciding.considered import consider
from processors.deciding.lookups import Lookups, lookups_for
from processors.deciding.occasions import Occasion, occasion_of_turn
from processors.deciding.outcome import LogPlace, decide
from projections.fold import LoggedOutcome, MemoryRow, SubjectState
from schemas.events import MemoryConfirmed
from schemas.memory import ABOUT_USER, Confidence, Embedding, MemoryKind
from schemas.ports import Related, SimilarTo, StoredMemory
from schemas.proposals import Action, InvalidItem, Operation, Proposal
from schemas.records import Origin, Outcome, Turn
from schemas.slots import Slot
from schemas.suppression import SuppressionKeying
from tests.support.related import related_rows

FIRST_DAY = datetime(2024, 1, 1, tzinfo=UTC)
NOW = datetime(2025, 1, 1, tzinfo=UTC)
GENERATION = "g1"


def new_keying() -> SuppressionKeying:
    """Return the keying of a subject of its own."""
    return SuppressionKeying.of_subject(uuid4().bytes * 2)


def day(number: float) -> datetime:
    """Return a time ``number`` days after the first day."""
    return FIRST_DAY + timedelta(days=number)


def turn(
    text: str = "",
    *,
    at: datetime = FIRST_DAY,
    assistant_text: str | None = None,
    utc_offset_minutes: int = 0,
    turn_id: UUID | None = None,
) -> Turn:
    """Return a turn."""
    return Turn(
        turn_id=turn_id or uuid4(),
        conversation_id="conversation",
        user_text=text,
        assistant_text=assistant_text,
        occurred_at=at,
        utc_offset_minutes=utc_offset_minutes,
        received_at=NOW,
        origin=Origin.HTTP,
    )


def operation(
    content: str,
    *,
    action: Action = Action.ADD,
    slot: Slot = Slot.RESIDENCE,
    about: str = ABOUT_USER,
    kind: MemoryKind = MemoryKind.SEMANTIC,
    quote: str | None = None,
    reference: UUID | None = None,
    valid_from: datetime | None = None,
    expires_at: datetime | None = None,
    **others: Any,
) -> Operation:
    """Return an operation whose quote is its content, if nothing else is given."""
    fields: dict[str, Any] = {
        "action": action,
        "kind": kind,
        "slot": slot,
        "about": about,
        "content": content,
        "importance": 3,
        "confidence": Confidence.STATED,
        "quote": content if quote is None else quote,
        "reference": reference,
        "valid_from": valid_from,
        "expires_at": expires_at,
    }
    return Operation(**(fields | others))


def proposal(
    of: Turn, operations: Sequence[Operation], invalid: Sequence[InvalidItem] = ()
) -> Proposal:
    """Return the proposal for a turn."""
    return Proposal(
        turn_id=of.turn_id,
        generation=GENERATION,
        extractor="test",
        model="test",
        prompt_hash="test",
        operations=tuple(operations),
        invalid=tuple(invalid),
        proposed_at=NOW,
    )


@dataclass(kw_only=True)
class Subject:
    """A subject whose turns are decided in the order in which they arrive.

    Attributes:
        all_confirmations: whether the store tells every confirmation, or the last one alone as the
            read model does.
        similarity_min: the cosine below which two statements are never the same in other words.
        vectors: by content, the vectors of statements; one that is not there has none.
        keying: makes the keys of what is deleted or corrected.
    """

    all_confirmations: bool = False
    similarity_min: float | None = None
    vectors: dict[str, Embedding] = field(default_factory=dict)
    state: SubjectState = field(default_factory=lambda: SubjectState(subject=uuid4()))
    outcomes: list[Outcome] = field(default_factory=list)
    keying: SuppressionKeying = field(default_factory=new_keying)
    _confirmed: defaultdict[UUID, list[datetime]] = field(default_factory=lambda: defaultdict(list))

    def says(self, at: float, *operations: Operation) -> Outcome:
        """Decide and fold a turn of that day that proposes the operations."""
        said = turn(" ".join(one.quote for one in operations), at=day(at))
        return self.take(said, proposal(said, operations))

    def take(self, said: Turn, proposed: Proposal) -> Outcome:
        """Decide a proposal for a turn and fold its outcome."""
        return self.fold(self.decide(said, proposed))

    def decide(self, said: Turn, proposed: Proposal) -> Outcome:
        """Decide a proposal for a turn without folding its outcome."""
        return self.decide_on(occasion_of_turn(said), proposed)

    def closes(self, occasion: Occasion, proposed: Proposal | None = None) -> Outcome:
        """Decide about any record and fold its outcome."""
        return self.fold(self.decide_on(occasion, proposed))

    def fold(self, outcome: Outcome) -> Outcome:
        """Fold an outcome."""
        self.state.apply(LoggedOutcome(offset=len(self.outcomes), outcome=outcome))
        self.outcomes.append(outcome)
        for event in outcome.events:
            if isinstance(event, MemoryConfirmed):
                self._confirmed[event.memory_id].append(event.confirmed_at)
        return outcome

    def decide_on(self, occasion: Occasion, proposed: Proposal | None = None) -> Outcome:
        """Decide about any record without folding its outcome."""
        considered = consider(occasion, proposed, keying=self.keying)
        vectors = {
            item.index: vector
            for item in considered.items
            if (vector := self.vectors.get(item.operation.content)) is not None
        }
        return decide(
            considered,
            LogPlace(
                generation=GENERATION, partition=0, offset=len(self.outcomes), proposals_floor=0
            ),
            related=self.related(lookups_for(considered.items, vectors)),
            embeddings=vectors,
            similarity_min=self.similarity_min,
            now=NOW,
        )

    def related(self, asked: Lookups) -> Related:
        """Return what the ledger answers."""
        return self.answer(
            slots=asked.slots,
            statement_keys=asked.statement_keys,
            memory_ids=asked.memory_ids,
            similar=asked.similar,
            turn_ids=asked.turn_ids,
            suppression_keys=asked.suppression_keys,
        )

    def answer(
        self,
        *,
        slots: Collection[tuple[Slot, str]],
        statement_keys: Collection[bytes],
        memory_ids: Collection[UUID],
        similar: Collection[SimilarTo],
        turn_ids: Collection[UUID],
        suppression_keys: Collection[bytes],
    ) -> Related:
        """Return what the port's contract says that the ledger answers."""
        rows = related_rows(
            self.state.memories.values(),
            slots=slots,
            statement_keys=statement_keys,
            memory_ids=memory_ids,
            similar=similar,
            turn_ids=turn_ids,
        )
        told = self.state.suppressed
        return Related(
            versions=tuple(self._stored(row) for row in rows),
            suppressed={key: told[key] for key in suppression_keys if key in told},
        )

    def live(self, slot: Slot = Slot.RESIDENCE, about: str = ABOUT_USER) -> list[str]:
        """Return the contents that are held to be true now."""
        return [row.memory.content for row in self.rows(slot, about) if row.memory.valid_to is None]

    def rows(self, slot: Slot = Slot.RESIDENCE, about: str = ABOUT_USER) -> list[MemoryRow]:
        """Return the versions of an attribute that were not retracted, in order of time."""
        return sorted(
            (
                row
                for row in self.state.memories.values()
                if row.retracted_at is None
                and row.memory.slot is slot
                and row.memory.about == about
            ),
            key=lambda row: (
                row.memory.valid_from,
                row.memory.valid_to or datetime.max.replace(tzinfo=UTC),
            ),
        )

    def history(
        self, slot: Slot = Slot.RESIDENCE, about: str = ABOUT_USER
    ) -> list[tuple[str, datetime, datetime | None]]:
        """Return what held from when until when, neighbours that state the same as one."""
        told: list[tuple[str, datetime, datetime | None]] = []
        for row in self.rows(slot, about):
            memory = row.memory
            if memory.valid_from == memory.valid_to:
                continue
            if told and told[-1][0] == memory.content and told[-1][2] == memory.valid_from:
                told[-1] = (memory.content, told[-1][1], memory.valid_to)
            else:
                told.append((memory.content, memory.valid_from, memory.valid_to))
        return told

    def _stored(self, row: MemoryRow) -> StoredMemory:
        confirmed = self._confirmed[row.memory.memory_id]
        return StoredMemory(
            memory=row.memory,
            retracted=row.retracted_at is not None,
            confirmed_at=tuple(confirmed) if self.all_confirmations else (row.last_confirmed_at,),
            merged_into=row.merged_into,
            pinned_at=row.pinned_at,
        )
