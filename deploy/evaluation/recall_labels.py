"""Which memories the labels of a script mean, and what came out otherwise than a script says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from deploy.evaluation.recall_script_parts import Proposed
from deploy.evaluation.recall_scripts import ToldDecision, ToldTurn
from deploy.evaluation.recall_site import GENERATION
from schemas import ids
from schemas.events import (
    MemoryAdded,
    MemoryBackfilled,
    MemoryConfirmed,
    MemoryCorrected,
    MemorySuperseded,
    ProposalFlagged,
    ProposalRejected,
)
from schemas.keyring import SubjectKeys
from schemas.memory import Memory
from schemas.proposals import Action, Operation
from schemas.records import Outcome

_STORED = "stored"
_REFUSED = "refused"
_NOTHING = "nothing"


@dataclass(frozen=True, kw_only=True, slots=True)
class Misfit:
    """Something of a script of which something else became than the script says.

    Attributes:
        script: category and name.
        place: where it stands in the file.
        label: its label, if it has one.
        expected: ``stored`` or ``refused``.
        got: what became of it: ``stored``, ``nothing``, or the reasons of the gate.
    """

    script: str
    place: str
    label: str | None
    expected: str
    got: str


@dataclass(kw_only=True, slots=True)
class ScriptUser:
    """One user of one script, with what the labels mean so far.

    Attributes:
        keys: the subject's keys.
        versions: every version that was brought forth.
    """

    keys: SubjectKeys
    versions: dict[UUID, Memory] = field(default_factory=dict)
    _operations: dict[str, Operation] = field(default_factory=dict)
    _meant: defaultdict[str, list[UUID]] = field(default_factory=lambda: defaultdict(list))

    def labels_of(self, memory_id: UUID) -> frozenset[str]:
        """Return the labels that mean a memory."""
        return frozenset(label for label, meant in self._meant.items() if memory_id in meant)

    def memory(self, label: str) -> Memory | None:
        """Return the newest version that a label means; ``None`` where nothing was stored."""
        meant = self._meant[label]
        return self.versions[meant[-1]] if meant else None

    def operation(self, proposed: Proposed, says: str) -> Operation:
        """Return an operation with the memory that it names."""
        held = None if proposed.names is None else self.memory(proposed.names)
        operation = proposed.operation(
            says,
            named=None if proposed.names is None else self._operations.get(proposed.names),
            reference=None if held is None else held.memory_id,
        )
        if proposed.label is not None:
            self._operations[proposed.label] = operation
        return operation

    def note_turn(
        self, told: ToldTurn, operations: Sequence[Operation], outcome: Outcome
    ) -> list[Misfit]:
        """Note what a turn came to; return what came out otherwise than it should."""
        opened = self._note_opened(outcome)
        refused = _refused(outcome)
        confirmed = _confirmed(outcome)
        misfits = []
        for index, (proposed, operation) in enumerate(
            zip(told.told.proposes, operations, strict=True)
        ):
            got = refused.get(index, _STORED)
            meant = None
            if got == _STORED and operation.action is not Action.RETRACT:
                own = ids.memory_id(ids.outcome_id(GENERATION, outcome.turn_id), index)
                meant = own if opened.pop(own, None) is not None else next(confirmed, None)
                # Who says the same twice in one turn is told nothing of the second time.
                got = _NOTHING if meant is None and proposed.label is not None else got
            if (got != _STORED) != proposed.refused:
                misfits.append(_misfit(told, proposed.label, got, refused=proposed.refused))
            if meant is not None and proposed.label is not None:
                self._meant[proposed.label].append(meant)
        self._note_continued(opened.values())
        return misfits

    def note_decision(self, told: ToldDecision, outcome: Outcome) -> list[Misfit]:
        """Note what a person's decision came to; return what came out otherwise."""
        opened = self._note_opened(outcome)
        got = _refused(outcome).get(0, _STORED if outcome.events else _NOTHING)
        label = told.decided.label
        if label is not None and got == _STORED:
            meant = next(iter(opened), None) or next(_confirmed(outcome), None)
            if meant is None:
                got = _NOTHING
            else:
                opened.pop(meant, None)
                self._meant[label].append(meant)
        self._note_continued(opened.values())
        return [] if got == _STORED else [_misfit(told, label, got, refused=False)]

    def _note_opened(self, outcome: Outcome) -> dict[UUID, Memory]:
        opened = {memory.memory_id: memory for memory in _opened(outcome)}
        self.versions.update(opened)
        return opened

    def _note_continued(self, rest: Iterable[Memory]) -> None:
        """Note versions that go on where a late turn split what was known."""
        for memory in rest:
            for label, meant in self._meant.items():
                if any(self.versions[one].content == memory.content for one in meant):
                    self._meant[label].append(memory.memory_id)
                    break


def _opened(outcome: Outcome) -> Iterator[Memory]:
    for event in outcome.events:
        if isinstance(event, MemoryAdded | MemorySuperseded | MemoryBackfilled | MemoryCorrected):
            yield event.memory


def _confirmed(outcome: Outcome) -> Iterator[UUID]:
    for event in outcome.events:
        if isinstance(event, MemoryConfirmed):
            yield event.memory_id


def _refused(outcome: Outcome) -> dict[int, str]:
    """Return by operation why it was refused or left to a person."""
    return {
        event.operation: ", ".join(reason.value for reason in event.reasons)
        for event in outcome.events
        if isinstance(event, ProposalRejected | ProposalFlagged)
    }


def _misfit(told: ToldTurn | ToldDecision, label: str | None, got: str, *, refused: bool) -> Misfit:
    return Misfit(
        script=f"{told.script.category}/{told.script.name}",
        place=told.key,
        label=label,
        expected=_REFUSED if refused else _STORED,
        got=got,
    )
