"""Whatever persons decide and users say, in whatever order: what a person decided counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from projections.fold import MemoryRow
from schemas.commands import Decision, PersonRemembers
from schemas.events import MemoriesDeleted, ProposalRejected, RejectionReason
from schemas.memory import ABOUT_USER, Confidence, Memory, MemoryKind, folded
from schemas.proposals import Action, Operation
from schemas.records import Outcome
from schemas.slots import Slot
from tests.support.curating import decide_curation, decision_of, decisions_about
from tests.support.deciding import Subject, day, operation, proposal, turn

FEW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
PLACES = ("Lives in Pune", "Lives in Goa", "Lives in Oslo")
TASTES = ("Likes tea", "Likes mate")

Step: TypeAlias = Callable[[Subject], Outcome | None]
"""Something that is said or decided, and folded; ``None`` where nothing is held to decide about."""


def _says(at: int, one: Operation) -> Step:
    def step(subject: Subject) -> Outcome:
        return subject.says(at, one)

    return step


def _remembers(at: int, content: str, *, pinned: bool) -> Step:
    def step(subject: Subject) -> Outcome:
        return _decides(
            subject,
            at,
            PersonRemembers(
                kind=MemoryKind.SEMANTIC,
                slot=_slot(content),
                about=ABOUT_USER,
                content=content,
                importance=3,
                pinned=pinned,
            ),
        )

    return step


def _decides_about(at: int, which: int, sort: int) -> Step:
    def step(subject: Subject) -> Outcome | None:
        held = sorted(subject.state.memories.values(), key=lambda row: row.memory.memory_id)
        if not held:
            return None
        decisions = decisions_about(held[which % len(held)].memory)
        return _decides(subject, at, decisions[sort % len(decisions)])

    return step


def _decides(subject: Subject, at: int, decision: Decision) -> Outcome:
    curation = decision_of(decision, at)
    outcome = decide_curation(subject, curation)
    assert decide_curation(subject, curation) == outcome
    return subject.fold(outcome)


def _slot(content: str) -> Slot:
    return Slot.RESIDENCE if content in PLACES else Slot.PREFERENCE


_CONTENTS = st.sampled_from((*PLACES, *TASTES))
_DAYS = st.integers(0, 30)
_OPERATIONS = st.builds(
    lambda content, action, confidence: operation(
        content, slot=_slot(content), action=action, confidence=confidence
    ),
    _CONTENTS,
    st.sampled_from([Action.ADD, Action.ADD, Action.RETRACT]),
    st.sampled_from(Confidence),
)
_STEPS = st.one_of(
    st.builds(_says, _DAYS, _OPERATIONS),
    st.builds(_says, _DAYS, _OPERATIONS),
    st.builds(_remembers, _DAYS, _CONTENTS, pinned=st.booleans()),
    st.builds(_decides_about, _DAYS, st.integers(0, 9), st.integers(0, 3)),
)
stories = st.lists(_STEPS, max_size=12)


def _decided_at(row: MemoryRow) -> object:
    return row.memory.curated_at or row.pinned_at


@FEW
@given(story=stories, last=st.tuples(_DAYS, _OPERATIONS))
def test_no_proposal_withdraws_what_a_person_decided_or_ends_it_by_what_was_said_before(
    story: list[Step], last: tuple[int, Operation]
) -> None:
    subject = Subject()
    for step in story:
        step(subject)
    before = dict(subject.state.memories)
    at, proposed = last
    subject.says(at, proposed)
    for memory_id, row in before.items():
        if _decided_at(row) is None:
            continue
        after = subject.state.memories[memory_id]
        assert after.retracted_at == row.retracted_at
        assert after.merged == row.merged
        moments = [it for it in (row.memory.curated_at, row.pinned_at) if it is not None]
        if day(at) <= max(moments) or proposed.confidence is Confidence.INFERRED:
            assert after.memory.valid_to == row.memory.valid_to
            assert after.memory.expires_at == row.memory.expires_at


@FEW
@given(story=stories, which=st.integers(0, 9), at=_DAYS, late=_DAYS)
def test_what_a_person_deletes_is_gone_and_comes_only_from_words_said_since(
    story: list[Step], which: int, at: int, late: int
) -> None:
    subject = Subject()
    for step in story:
        step(subject)
    held = sorted(subject.state.memories.values(), key=lambda row: row.memory.memory_id)
    if not held:
        return
    victim = held[which % len(held)].memory
    lineage = {it.memory.memory_id for it in held if it.memory.lineage_id == victim.lineage_id}
    outcome = _decides(subject, at, decisions_about(victim)[3])
    assert lineage.isdisjoint(subject.state.memories)
    (deleted,) = (event for event in outcome.events if isinstance(event, MemoriesDeleted))
    assert lineage <= set(deleted.memory_ids)
    again = subject.says(late, operation(victim.content, slot=victim.slot))
    suppressed = [
        event
        for event in again.events
        if isinstance(event, ProposalRejected) and RejectionReason.SUPPRESSED in event.reasons
    ]
    # Another decision of the story may have suppressed the same for longer.
    latest = max(subject.state.suppressed.values())
    if late <= at or day(late) > latest:
        assert bool(suppressed) is (late <= at)


@FEW
@given(story=stories)
def test_no_two_memories_of_one_attribute_say_the_same_and_one_value_holds(
    story: list[Step],
) -> None:
    subject = Subject()
    for step in story:
        step(subject)
    served = [
        row.memory
        for row in subject.state.memories.values()
        if row.retracted_at is None and row.memory.valid_to is None and row.merged is None
    ]
    said = [(memory.slot, folded(memory.content)) for memory in served]
    assert len(said) == len(set(said))
    assert len([it for it in served if _lasts(it)]) <= 1


def _lasts(memory: Memory) -> bool:
    return memory.slot is Slot.RESIDENCE and memory.confidence is Confidence.STATED


@FEW
@given(story=stories)
def test_every_outcome_counts_once_however_often_it_is_read(story: list[Step]) -> None:
    subject = Subject()
    for step in story:
        outcome = step(subject)
        if outcome is None:
            continue
        before = dict(subject.state.memories), dict(subject.state.suppressed)
        subject.fold(outcome)
        subject.outcomes.pop()
        assert (subject.state.memories, subject.state.suppressed) == before


def test_the_stories_reach_every_sort_of_decision() -> None:
    subject = Subject()
    said = turn("I live in Pune", at=day(1))
    subject.take(said, proposal(said, [operation("Lives in Pune", quote="I live in Pune")]))
    for sort in range(4):
        assert _decides_about(5, 0, sort)(subject) is not None
