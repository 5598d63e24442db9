"""Opening a batch's outcomes under key states that were read inside the fence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias
from uuid import UUID

from projections.batch import Poison, SealedOutcome
from projections.changes import Change, Insert, changes
from projections.flag_fold import decided_flags, raised_flags
from projections.summary_fold import sources_of, summary_of
from schemas import ids
from schemas.errors import RecordInvalid, SealBroken
from schemas.keyring import Erased, SubjectKeys
from schemas.log.sealed import open_record
from schemas.memory import Memory
from schemas.records import Closing, Outcome
from schemas.tree import Punctured


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenedOutcome:
    """An outcome that closes a turn of a subject.

    Attributes:
        subject: whose turn it closes.
        tenant: the subject's tenant; ``None`` for the system's own subject.
        offset: where it stands in the memories topic.
        outcome: what was decided.
        changes: what that changes.
        forgotten: the turns whose keys are gone, of those that its summary was made from.
    """

    subject: UUID
    tenant: str | None
    offset: int
    outcome: Outcome
    changes: tuple[Change, ...]
    forgotten: frozenset[UUID] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class ErasedOutcome:
    """An outcome whose turn is erased.

    Attributes:
        subject: whose turn it was; ``None`` where only the system speaks of it.
        outcome_id: the id of the turn's outcome.
        offset: where the record stands in the memories topic.
    """

    subject: UUID | None
    outcome_id: UUID
    offset: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RefusedOutcome:
    """An outcome that was set aside, and that closes its turn as dead-lettered.

    Attributes:
        subject: whose turn it was, as its header says.
        outcome_id: the id of the turn's outcome, as its header says.
        partition: where the record stands, which is where its turn stands.
        offset: where the record stands in the memories topic.
    """

    subject: UUID
    outcome_id: UUID
    partition: int
    offset: int


@dataclass(kw_only=True, slots=True)
class Opened:
    """What became of a batch's outcomes.

    Attributes:
        outcomes: those that close a turn; of several for one turn the first.
        erased: those whose turn is erased.
        poison: those that cannot be used.
        refused: of all that cannot be used, those that close a turn, each time the first.
        duplicates: how many were left out, since an earlier one of the batch closed their turn.
    """

    outcomes: list[OpenedOutcome] = field(default_factory=list)
    erased: list[ErasedOutcome] = field(default_factory=list)
    poison: list[Poison] = field(default_factory=list)
    refused: list[RefusedOutcome] = field(default_factory=list)
    duplicates: int = 0


def open_outcomes(
    sealed: Iterable[SealedOutcome],
    keys: Mapping[UUID, SubjectKeys | Erased],
    *,
    poison: Iterable[Poison] = (),
    generation: str,
    system_subject: UUID,
) -> Opened:
    """Open outcomes, in the order of each partition.

    Of a turn's outcomes the one of the lowest offset counts, usable or not.

    Args:
        sealed: the outcomes.
        keys: the state of every subject that they name.
        poison: what was found to be of no use before it was opened.
        generation: the generation that is projected.
        system_subject: the subject that speaks for those that are erased.
    """
    opened = Opened()
    closed: set[tuple[UUID, UUID]] = set()
    for item in sealed:
        found = _open(item, keys[item.header.subject], generation, system_subject)
        match found:
            case Poison():
                opened.poison.append(found)
            case ErasedOutcome():
                opened.erased.append(found)
            case OpenedOutcome():
                turn = (found.subject, found.outcome.turn_id)
                if turn in closed:
                    opened.duplicates += 1
                else:
                    closed.add(turn)
                    opened.outcomes.append(found)
    _refuse(opened, (*poison, *opened.poison))
    return opened


_TurnKey: TypeAlias = tuple[UUID, UUID, int]
"""A turn by its subject, the id of its outcome, and its partition."""


def _refuse(opened: Opened, poison: Sequence[Poison]) -> None:
    """Let what is of no use close its turn, unless an earlier outcome of the batch did."""
    refused: dict[_TurnKey, int] = {}
    for item in poison:
        header, at = item.header, item.record.position
        if header is not None:
            key = (header.subject, header.record_id, at.partition)
            refused[key] = min(at.offset, refused.get(key, at.offset))
    if not refused:
        return
    erased = {item.outcome_id: item.offset for item in reversed(opened.erased)}
    outcomes, opened.outcomes = opened.outcomes, []
    for found in outcomes:
        outcome_id = ids.outcome_id(found.outcome.generation, found.outcome.turn_id)
        key = (found.subject, outcome_id, found.outcome.turn_partition)
        if refused.get(key, found.offset) < found.offset:
            opened.duplicates += 1
        else:
            opened.outcomes.append(found)
            refused.pop(key, None)
    opened.refused += (
        RefusedOutcome(subject=subject, outcome_id=outcome_id, partition=partition, offset=offset)
        for (subject, outcome_id, partition), offset in refused.items()
        if offset < erased.get(outcome_id, offset + 1)
    )


def _open(
    sealed: SealedOutcome, state: SubjectKeys | Erased, generation: str, system_subject: UUID
) -> OpenedOutcome | ErasedOutcome | Poison:
    record, subject = sealed.record, sealed.header.subject
    offset = record.position.offset
    unreadable = ErasedOutcome(subject=subject, outcome_id=sealed.header.record_id, offset=offset)
    if isinstance(state, Erased):
        return unreadable
    try:
        outcome = open_record(Outcome, record, state)
        changed = changes(outcome, subject)
        _check(outcome, sealed, changed, generation)
    except Punctured:
        # A leaf is missing only where its destruction was recorded with the seeds that are left.
        return unreadable
    except SealBroken as error:
        return Poison(record=record, stage="open", error=error)
    except RecordInvalid as error:
        return Poison(record=record, stage="decode", error=error)
    if outcome.closing is Closing.ERASED and subject == system_subject:
        outcome_id = ids.outcome_id(generation, outcome.turn_id)
        return ErasedOutcome(subject=None, outcome_id=outcome_id, offset=offset)
    return OpenedOutcome(
        subject=subject,
        tenant=state.tenant,
        offset=offset,
        outcome=outcome,
        changes=changed,
        forgotten=frozenset(_forgotten(outcome, state)),
    )


def _forgotten(outcome: Outcome, keys: SubjectKeys) -> Iterator[UUID]:
    """Yield the turns whose keys are gone, of those that a summary was made from."""
    for source in sources_of(outcome):
        try:
            keys.leaf_key(source.leaf)
        except Punctured:
            yield source.turn_id


def _check(
    outcome: Outcome, sealed: SealedOutcome, changed: tuple[Change, ...], generation: str
) -> None:
    """Refuse what its schema allows and the read model cannot hold or must not believe.

    Raises:
        RecordInvalid: it belongs elsewhere, or a text holds what Postgres has no room for.
    """
    if outcome.generation != generation:
        raise RecordInvalid(f"outcome: it is of another generation than {generation}")
    if outcome.turn_partition != sealed.record.position.partition:
        raise RecordInvalid("outcome: it lies in another partition than its turn")
    if sealed.header.record_id != ids.outcome_id(generation, outcome.turn_id):
        raise RecordInvalid("outcome: its id is not the one that its turn has in this generation")
    for change in changed:
        if isinstance(change, Insert) and _holds_nul(_texts(change.memory)):
            raise RecordInvalid("outcome: a text of a memory holds a NUL character")
    if _holds_nul(_other_texts(outcome)):
        raise RecordInvalid("outcome: a text beside its memories holds a NUL character")


def _holds_nul(texts: Iterable[str | None]) -> bool:
    return any(text is not None and "\0" in text for text in texts)


def _texts(memory: Memory) -> Iterator[str | None]:
    yield from (memory.content, memory.about, memory.quote, memory.conversation_id)
    if memory.provenance is not None:
        origin = memory.provenance
        yield from (origin.system, origin.type, origin.reference)


def _other_texts(outcome: Outcome) -> Iterator[str | None]:
    yield from (outcome.extractor, outcome.model)
    if outcome.deferral is not None:
        yield outcome.deferral.conversation_id
    yield outcome.conversation_id
    summary = summary_of(outcome)
    if summary is not None:
        yield from (summary.conversation_id, summary.summary, summary.prompt_hash)
    for raised in raised_flags(outcome):
        operation = raised.proposed
        yield from (operation.content, operation.about, operation.quote, raised.conversation_id)
    for decided in decided_flags(outcome):
        yield from (decided.decision.actor, decided.decision.reason)
