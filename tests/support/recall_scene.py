"""What recall weighs and serves, made by hand: no store is asked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np

from projections.near_duplicates import Saying
from projections.recall_held import Held, held_of
from projections.recall_policies import Policy
from projections.recall_selection import Ranked, Selected, rank, select, tokens_of_frame
from projections.recall_weights import Weighed, weigh
from projections.recalled import RecalledMemory
from projections.words.analysis import question_words
from projections.words.postings import packed_words
from schemas.memory import ABOUT_USER, Confidence, MemoryKind, Precision, Source
from schemas.ports import TokenCounter
from schemas.slots import Slot

NOW = datetime(2026, 6, 1, tzinfo=UTC)
MIN_SIMILARITY = 0.5
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_KINDS = {MemoryKind.EPISODIC: 1, MemoryKind.PROCEDURAL: 2, MemoryKind.SEMANTIC: 0}


@dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """One memory that holds."""

    content: str = "Likes tea"
    cosine: float | None = 0.0
    kind: MemoryKind = MemoryKind.SEMANTIC
    slot: Slot = Slot.NOTE
    about: str = ABOUT_USER
    importance: int = 1
    days_old: float = 0.0
    pinned_days_ago: float | None = None
    vector: tuple[float, ...] | None = None

    @property
    def safety(self) -> bool:
        """Whether it is of the highest importance for the user's safety."""
        return self.importance == 5 and self.slot in {Slot.ALLERGY, Slot.NEED}


class WordCounter:
    """Counts words as tokens."""

    name = "words"
    exact = True

    def count(self, text: str) -> int:
        """Return how many there are."""
        return len(text.split())


def held(*notes: Note) -> Held:
    """Return what weighs some notes; the id of the n-th is n."""
    pins = [note.pinned_days_ago for note in notes if note.pinned_days_ago is not None]
    return held_of(
        {
            "stored": len(notes),
            "facts": b"".join(_facts(note, place) for place, note in enumerate(notes)),
            "cosines": np.array(
                [np.nan if note.cosine is None else note.cosine for note in notes], ">f4"
            ).tobytes(),
            "pinned_ats": _times(pins),
            "words": b"".join(packed_words(note.content, 384) for note in notes),
            "turns_next": None,
            "first_open": None,
        }
    )


def weighed(policy: Policy, *notes: Note, asks: str = "anything") -> Weighed:
    """Return what some notes are worth."""
    return weigh(
        held(*notes),
        question_words(asks),
        policy,
        min_similarity=MIN_SIMILARITY,
        now_s=NOW.timestamp(),
    )


def selected(
    policy: Policy,
    *notes: Note,
    asks: str = "anything",
    limit: int = 10,
    budget_tokens: int = 10_000,
    counter: TokenCounter | None = None,
) -> tuple[Ranked, Selected]:
    """Return which notes are served."""
    worth = weighed(policy, *notes, asks=asks)
    ranked = rank(worth, policy, limit=limit)
    wanted = [*ranked.always, *ranked.wanted]
    counter = counter or WordCounter()
    return ranked, select(
        ranked,
        {place: _saying(place, notes[place]) for place in wanted},
        worth,
        policy,
        limit=limit,
        budget_tokens=budget_tokens,
        frame_tokens=tokens_of_frame(counter),
        counter=counter,
    )


def places(result: Selected) -> list[int]:
    """Return which notes were served, in their order."""
    return [memory.memory_id.int for memory in result.memories]


def recalled(note: Note, place: int = 0) -> RecalledMemory:
    """Return a note as it is served."""
    valid_from = NOW - timedelta(days=note.days_old)
    return RecalledMemory(
        memory_id=UUID(int=place),
        lineage_id=UUID(int=place),
        score=note.cosine,
        kind=note.kind,
        content=note.content,
        slot=note.slot,
        about=note.about,
        importance=note.importance,
        confidence=Confidence.STATED,
        source=Source.USER,
        provenance=None,
        quote=note.content,
        turn_id=UUID(int=place),
        valid_from=valid_from,
        valid_from_precision=Precision.MOMENT,
        valid_to=None,
        recorded_at=valid_from,
        pinned=note.pinned_days_ago is not None,
    )


def _saying(place: int, note: Note) -> Saying:
    vector = None if note.vector is None else np.array(note.vector, "<f2").tobytes()
    return Saying(memory=recalled(note, place), vector=vector)


def _facts(note: Note, place: int) -> bytes:
    marks = (
        note.importance * 16
        + _KINDS[note.kind]
        + 4 * note.safety
        + 8 * (note.pinned_days_ago is not None)
    )
    return UUID(int=place).bytes + _times([note.days_old]) + marks.to_bytes(2, "big")


def _times(days_ago: list[float]) -> bytes:
    since = [(NOW - timedelta(days=days) - _EPOCH).total_seconds() for days in days_ago]
    return (np.array(since, dtype=np.float64) * 1_000_000).astype(">i8").tobytes()
