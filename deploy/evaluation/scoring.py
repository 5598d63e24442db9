"""Compare what was remembered with what people labelled.

A memory is *right* where its turn has a label with its slot and about, and it holds the label's
words. A label is *found* where a memory of its turn is right by it. One memory may be right by
several labels. A memory that a turn confirms counts as one that it gives. Kinds are not matched:
figures are told by the label's kind for what should be found and by the memory's own for what was
stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from deploy.evaluation.conversations import Label, LabelledConversation, LabelledTurn
from deploy.evaluation.running import Held, Ran
from processors.folding import without_accents
from schemas.memory import Memory
from schemas.proposals import Usage


@dataclass(frozen=True, kw_only=True, slots=True)
class Expected:
    """A label, and whether it was found.

    Attributes:
        conversation: whose it is.
        turn: the turn's place.
        label: the label.
        found: whether a memory of its turn is right by it.
    """

    conversation: LabelledConversation
    turn: int
    label: Label
    found: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Stored:
    """A memory, and whether it is right.

    Attributes:
        conversation: whose it is.
        turn: the turn's place.
        memory: the memory.
        right: whether a label of its turn asks for it.
        forbidden: what its turn says that it must never hold, and it does.
    """

    conversation: LabelledConversation
    turn: int
    memory: Memory
    right: bool
    forbidden: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Left:
    """What should have been gone at a conversation's end and was not."""

    conversation: LabelledConversation
    turn: int
    words: str
    content: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Scores:
    """What an evaluation found.

    Attributes:
        ran: what became of each conversation.
        expected: every label.
        stored: every memory.
        left: what should have been gone.
        gone_asked: of how much that was asked.
    """

    ran: tuple[Ran, ...]
    expected: tuple[Expected, ...]
    stored: tuple[Stored, ...]
    left: tuple[Left, ...]
    gone_asked: int

    @property
    def usage(self) -> Usage:
        """What asking cost, in all."""
        return sum((ran.usage for ran in self.ran), Usage())


@dataclass(kw_only=True, slots=True)
class Figures:
    """Precision and recall of one group."""

    labels: int = 0
    found: int = 0
    stored: int = 0
    right: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the counts, and the shares; ``None`` for a share of nothing."""
        return {
            "labels": self.labels,
            "found": self.found,
            "stored": self.stored,
            "right": self.right,
            "precision": _share(self.right, self.stored),
            "recall": _share(self.found, self.labels),
        }


@dataclass(kw_only=True, slots=True)
class Grouped:
    """Figures by kind, slot and language, and of all."""

    all: Figures = field(default_factory=Figures)
    by: dict[str, dict[str, Figures]] = field(
        default_factory=lambda: {"kind": {}, "slot": {}, "language": {}}
    )

    def groups(self, **names: str) -> Iterable[Figures]:
        """Return the figures that something with these names counts in."""
        yield self.all
        for grouping, name in names.items():
            yield self.by[grouping].setdefault(name, Figures())


def score(ran: Sequence[Ran]) -> Scores:
    """Compare what was remembered with the labels."""
    expected: list[Expected] = []
    stored: list[Stored] = []
    left: list[Left] = []
    asked = 0
    for one in ran:
        conversation = one.conversation
        for place, turn in enumerate(conversation.turns):
            held = [it for it in one.held if it.turn == place]
            expected += _expected(conversation, place, turn, held)
            stored += [_stored(conversation, turn, it) for it in held]
            asked += len(turn.gone)
            left += [
                Left(conversation=conversation, turn=place, words=words, content=memory.content)
                for words in turn.gone
                for memory in one.live
                if _holds(memory.content, words)
            ]
    return Scores(
        ran=tuple(ran),
        expected=tuple(expected),
        stored=tuple(stored),
        left=tuple(left),
        gone_asked=asked,
    )


def grouped(scores: Scores) -> Grouped:
    """Return precision and recall by kind, slot and language. A label counts by its first slot."""
    result = Grouped()
    for expected in scores.expected:
        for figures in result.groups(
            kind=expected.label.kind.value,
            slot=expected.label.slots[0].value,
            language=expected.conversation.language,
        ):
            figures.labels += 1
            figures.found += expected.found
    for stored in scores.stored:
        for figures in result.groups(
            kind=stored.memory.kind.value,
            slot=stored.memory.slot.value,
            language=stored.conversation.language,
        ):
            figures.stored += 1
            figures.right += stored.right
    return result


def as_json(scores: Scores, *, listed: bool) -> dict[str, Any]:
    """Return the figures as JSON.

    Args:
        scores: what was found.
        listed: whether each miss and each wrong memory is listed, beside their numbers.
    """
    figures = grouped(scores)
    wrong = [stored for stored in scores.stored if not stored.right]
    missed = [expected for expected in scores.expected if not expected.found]
    forbidden = [stored for stored in scores.stored if stored.forbidden]
    told: dict[str, Any] = {
        "conversations": len(scores.ran),
        "turns": sum(len(ran.conversation.turns) for ran in scores.ran),
        "all": figures.all.as_json(),
        **{
            f"by_{grouping}": {name: groups[name].as_json() for name in sorted(groups)}
            for grouping, groups in figures.by.items()
        },
        "forbidden_stored": len(forbidden),
        "gone": {"asked": scores.gone_asked, "left": len(scores.left)},
        "refused": _counted(reason for ran in scores.ran for reason in ran.refused),
        "flagged": sum(ran.flagged for ran in scores.ran),
        "skipped": sum(ran.skipped for ran in scores.ran),
        "failed": _counted(error for ran in scores.ran for error in ran.failed),
        "usage": scores.usage.model_dump(),
    }
    if listed:
        told |= {
            "missed": [_missed_json(one) for one in missed],
            "wrong": [_stored_json(one) for one in wrong],
            "forbidden": [_stored_json(one) for one in forbidden],
            "left": [
                {
                    "conversation": one.conversation.name,
                    "turn": one.turn,
                    "words": one.words,
                    "content": one.content,
                }
                for one in scores.left
            ],
        }
    return told


def right_by(label: Label, memory: Memory) -> bool:
    """Whether a memory is what a label asks for."""
    return (
        memory.slot in label.slots
        and without_accents(memory.about) in map(without_accents, label.about)
        and all(any(_holds(memory.content, word) for word in group) for group in label.words)
    )


def _expected(
    conversation: LabelledConversation, place: int, turn: LabelledTurn, held: Sequence[Held]
) -> list[Expected]:
    return [
        Expected(
            conversation=conversation,
            turn=place,
            label=label,
            found=any(right_by(label, it.memory) for it in held),
        )
        for label in turn.memories
        if not label.optional
    ]


def _stored(conversation: LabelledConversation, turn: LabelledTurn, held: Held) -> Stored:
    return Stored(
        conversation=conversation,
        turn=held.turn,
        memory=held.memory,
        right=any(right_by(label, held.memory) for label in turn.memories),
        forbidden=tuple(words for words in turn.never if _holds(held.memory.content, words)),
    )


def _holds(content: str, words: str) -> bool:
    return without_accents(words) in without_accents(content)


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _counted(names: Iterable[str]) -> dict[str, int]:
    counts = Counter(names)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _missed_json(expected: Expected) -> dict[str, Any]:
    turn = expected.conversation.turns[expected.turn]
    return {
        "conversation": expected.conversation.name,
        "turn": expected.turn,
        "user": turn.user,
        "label": expected.label.model_dump(mode="json"),
    }


def _stored_json(stored: Stored) -> dict[str, Any]:
    memory = stored.memory
    return {
        "conversation": stored.conversation.name,
        "turn": stored.turn,
        "user": stored.conversation.turns[stored.turn].user,
        "kind": memory.kind.value,
        "slot": memory.slot.value,
        "about": memory.about,
        "content": memory.content,
        **({"never": list(stored.forbidden)} if stored.forbidden else {}),
    }
