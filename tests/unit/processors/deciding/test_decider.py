"""What is asked of the ledger and of the embedder before something is decided."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Collection, Sequence
from typing import Any, cast
from uuid import UUID, uuid4

import numpy as np
import pytest

from processors.deciding.considered import Considered, consider
from processors.deciding.decider import Decider
from processors.deciding.occasions import Occasion, occasion_of_turn, unasked
from processors.deciding.outcome import LogPlace
from schemas.errors import EmbedderUnavailable
from schemas.memory import MemoryKind, Source
from schemas.ports import Ledger, Related, SimilarTo, Vectors
from schemas.proposals import Action, Operation, Proposal
from schemas.records import Outcome
from schemas.slots import Slot
from schemas.suppression import SuppressionKeying
from tests.support.deciding import GENERATION, NOW, Subject, operation, proposal, turn
from tests.unit.processors.deciding.occasions import curation, kinds, opened
from tests.unit.processors.deciding.test_curated import fact

LIKES, ENJOYS = "Likes tea", "Enjoys tea"


class Embedding:
    """Gives every text the same vector, or cannot be asked."""

    name = "same"
    dimension = 2
    min_similarity = 0.5

    def __init__(self, *, similarity: float | None = 0.7, down: bool = False) -> None:
        self.same_statement_similarity = similarity
        self.down = down
        self.calls: list[list[str]] = []

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(list(texts))
        if self.down:
            raise EmbedderUnavailable("nobody there")
        return np.tile(np.array([[1, 0]], dtype=np.float32), (len(texts), 1))


class Asked:
    """Answers out of a subject's fold, and counts its questions."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.questions = 0
        self.similar: list[SimilarTo] = []

    async def related(
        self,
        *,
        subject: UUID,
        slots: Collection[tuple[Slot, str]],
        statement_keys: Collection[bytes],
        memory_ids: Collection[UUID],
        similar: Collection[SimilarTo] = (),
        turn_ids: Collection[UUID] = (),
        suppression_keys: Collection[bytes] = (),
    ) -> Related:
        assert subject == self.subject.state.subject
        self.questions += 1
        self.similar.extend(similar)
        return self.subject.answer(
            slots=slots,
            statement_keys=statement_keys,
            memory_ids=memory_ids,
            similar=similar,
            turn_ids=turn_ids,
            suppression_keys=suppression_keys,
        )


class Scene:
    """A subject whose records are decided by asking."""

    def __init__(self, **embedder: Any) -> None:
        self.subject = Subject()
        self.ledger = Asked(self.subject)
        self.embedder = Embedding(**embedder)
        self.decider = Decider(
            ledger=cast("Ledger", self.ledger), embedder=self.embedder, clock=lambda: NOW
        )

    def decides(self, occasion: Occasion, proposed: Proposal | None) -> Outcome:
        """Decide and fold."""
        place = LogPlace(generation=GENERATION, partition=0, offset=0, proposals_floor=0)
        outcome = asyncio.run(
            self.decider.outcome(
                occasion,
                proposed,
                subject=self.subject.state.subject,
                keying=self.subject.keying,
                place=place,
            )
        )
        return self.subject.fold(outcome)

    def says(self, *operations: Operation) -> Outcome:
        """Decide and fold a turn that proposes the operations."""
        said = turn(" ".join(one.quote for one in operations))
        return self.decides(occasion_of_turn(said), proposal(said, operations))


def likes(content: str, **changed: Any) -> Operation:
    return operation(content, **({"slot": Slot.PREFERENCE} | changed))


def test_a_statement_is_embedded_once_for_comparing_and_storing() -> None:
    scene = Scene()
    memory = opened(scene.says(likes(LIKES)).events[0])
    assert memory.embedding is not None
    assert scene.embedder.calls == [[LIKES]]
    assert kinds(scene.says(likes(ENJOYS)).events) == ["memory-confirmed"]
    assert (scene.embedder.calls, scene.ledger.questions) == ([[LIKES], [ENJOYS]], 2)


def test_nothing_is_compared_by_an_embedder_that_cannot_tell() -> None:
    scene = Scene(similarity=None)
    scene.says(likes(LIKES))
    assert kinds(scene.says(likes(LIKES)).events) == ["memory-confirmed"]
    assert (scene.ledger.similar, scene.embedder.calls) == ([], [[LIKES]])
    assert kinds(scene.says(likes(ENJOYS)).events) == ["memory-added"]


def test_an_embedder_that_is_away_is_asked_once_and_nothing_is_lost() -> None:
    scene = Scene(down=True)
    memory = opened(scene.says(likes(LIKES)).events[0])
    assert memory.embedding is None
    assert scene.embedder.calls == [[LIKES]]
    assert kinds(scene.says(likes(ENJOYS)).events) == ["memory-added"]


@pytest.mark.parametrize(
    "changed",
    [
        {"kind": MemoryKind.EPISODIC},
        {"action": Action.RETRACT},
        {"action": Action.UPDATE, "reference": uuid4()},
        {"content": " "},
    ],
)
def test_only_what_may_repeat_something_is_compared(changed: dict[str, Any]) -> None:
    scene = Scene()
    scene.says(likes(LIKES).model_copy(update=changed))
    assert scene.ledger.similar == []


def test_what_the_gate_refuses_asks_nobody_anything() -> None:
    scene = Scene()
    said = turn("Hello")
    scene.decides(occasion_of_turn(said), proposal(said, [likes(LIKES)]))
    scene.decides(occasion_of_turn(said), proposal(said, []))
    scene.decides(unasked(occasion_of_turn(said)), None)
    assert (scene.ledger.questions, scene.embedder.calls) == (0, [])


@pytest.mark.parametrize(("characters", "elsewhere"), [(10, False), (25_000, True)])
def test_long_texts_are_judged_beside_the_loop(
    characters: int, elsewhere: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []

    def noting(
        occasion: Occasion, proposed: Proposal | None, *, keying: SuppressionKeying
    ) -> Considered:
        threads.append(threading.get_ident())
        return consider(occasion, proposed, keying=keying)

    monkeypatch.setattr("processors.deciding.decider.consider", noting)
    scene = Scene()
    said = turn(f"{LIKES}. " + "x" * characters)
    scene.decides(occasion_of_turn(said), proposal(said, [likes(LIKES)]))
    assert [thread != threading.get_ident() for thread in threads] == [elsewhere]
    assert scene.subject.live(Slot.PREFERENCE) == [LIKES]


def test_a_systems_fact_needs_no_proposal_and_a_turn_does() -> None:
    scene = Scene()
    told = fact(LIKES, kind=MemoryKind.SEMANTIC, slot=Slot.PREFERENCE)
    scene.decides(curation(told, source=Source.SYSTEM, at=NOW), None)
    assert scene.subject.live(Slot.PREFERENCE) == [LIKES]
    with pytest.raises(ValueError, match="without a proposal"):
        scene.decides(occasion_of_turn(turn("Hello")), None)
