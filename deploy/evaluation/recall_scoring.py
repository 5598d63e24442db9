"""How well recall answers scripts: what it found, what it should have left out, what it costs."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from deploy.estimate.tokens import tokens_in
from deploy.evaluation.recall_labels import Misfit
from deploy.evaluation.recall_running import Answer
from deploy.evaluation.recall_script_files import in_order

_P95: Final = 0.95


@dataclass(frozen=True, kw_only=True, slots=True)
class Figures:
    """What some questions got.

    Attributes:
        scripts: of how many scripts they are.
        questions: how many.
        wanted, hit: memories that must be served, and those of them that were.
        stale_asked, stale_served: memories that no longer hold and that a question asked after, and
            those of them that were served.
        unwanted_questions: questions whose answer holds a memory that is not welcome, the stale
            and the foreign ones apart.
        unwanted, served: memories that are not welcome, and all that were served.
        foreign: memories of other users that were served: none may be.
        harmful: texts that must never stand in a block and did.
        empty_wanted, empty: questions that must get nothing, and those of them that got nothing.
        tokens: about how many tokens each block has that is not empty.
    """

    scripts: int
    questions: int
    wanted: int
    hit: int
    stale_asked: int
    stale_served: int
    unwanted_questions: int
    unwanted: int
    served: int
    foreign: int
    harmful: int
    empty_wanted: int
    empty: int
    tokens: tuple[float, ...]

    @property
    def hit_rate(self) -> float | None:
        """The share of what must be served that was."""
        return _share(self.hit, self.wanted)

    @property
    def stale_use_rate(self) -> float | None:
        """The share of what no longer holds that was served where it was asked after."""
        return _share(self.stale_served, self.stale_asked)

    @property
    def unwanted_mention_rate(self) -> float | None:
        """The share of the questions whose answer holds something that is not welcome."""
        return _share(self.unwanted_questions, self.questions)

    @property
    def empty_rate(self) -> float | None:
        """The share of the questions that must get nothing and got nothing."""
        return _share(self.empty, self.empty_wanted)

    @property
    def tokens_mean(self) -> float | None:
        """The mean size of a block that is not empty."""
        return sum(self.tokens) / len(self.tokens) if self.tokens else None

    @property
    def tokens_p95(self) -> float | None:
        """The size that 95 of 100 blocks do not exceed."""
        if not self.tokens:
            return None
        return sorted(self.tokens)[math.ceil(_P95 * len(self.tokens)) - 1]

    def as_json(self) -> dict[str, Any]:
        """Return the figures for programs."""
        return {
            "scripts": self.scripts,
            "questions": self.questions,
            "wanted": self.wanted,
            "hit": self.hit,
            "hit_rate": self.hit_rate,
            "stale_asked": self.stale_asked,
            "stale_served": self.stale_served,
            "stale_use_rate": self.stale_use_rate,
            "unwanted_questions": self.unwanted_questions,
            "unwanted_mention_rate": self.unwanted_mention_rate,
            "unwanted": self.unwanted,
            "served": self.served,
            "isolation_violations": self.foreign,
            "harmful_texts": self.harmful,
            "empty_wanted": self.empty_wanted,
            "empty": self.empty,
            "empty_rate": self.empty_rate,
            "tokens_mean": self.tokens_mean,
            "tokens_p95": self.tokens_p95,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """What is wrong with one answer.

    Attributes:
        answer: the answer.
        missed: labels that must be served and were not.
        stale: labels that were served and no longer hold.
        unwanted: what was served and is not welcome.
        foreign: what was served and is another user's.
        harmful: texts that must never stand in a block and did.
    """

    answer: Answer
    missed: tuple[str, ...]
    stale: tuple[str, ...]
    unwanted: tuple[str, ...]
    foreign: tuple[str, ...]
    harmful: tuple[str, ...]

    @property
    def is_one(self) -> bool:
        """Whether anything is wrong at all."""
        return any((self.missed, self.stale, self.unwanted, self.foreign, self.harmful))


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallScores:
    """The scores of a run.

    Attributes:
        by_category, by_language: the figures of each.
        shown, held_out: of the scripts that could be looked at while things were tuned, and of
            those that were kept away from that.
        all: of all.
        faults: the answers that went wrong.
        misfits: what came out otherwise than its script says.
    """

    by_category: dict[str, Figures]
    by_language: dict[str, Figures]
    shown: Figures
    held_out: Figures
    all: Figures
    faults: tuple[Fault, ...]
    misfits: tuple[Misfit, ...]

    @property
    def safe(self) -> bool:
        """Whether no user saw another's memory, and no block holds what it must never hold."""
        return self.all.foreign == 0 and self.all.harmful == 0


def score_recall(answers: Sequence[Answer], misfits: Sequence[Misfit] = ()) -> RecallScores:
    """Return the scores of what questions got."""
    judged = [_judged(answer) for answer in answers]
    by_category = _grouped(judged, lambda fault: fault.answer.script.category)
    by_language = _grouped(judged, lambda fault: fault.answer.script.language)
    return RecallScores(
        by_category={name: figures_of(by_category[name]) for name in in_order(by_category)},
        by_language={name: figures_of(by_language[name]) for name in sorted(by_language)},
        shown=figures_of([one for one in judged if not one.answer.script.held_out]),
        held_out=figures_of([one for one in judged if one.answer.script.held_out]),
        all=figures_of(judged),
        faults=tuple(fault for fault in judged if fault.is_one),
        misfits=tuple(misfits),
    )


def figures_of(judged: Sequence[Fault]) -> Figures:
    """Return the figures of some answers."""
    asked = [(fault, fault.answer.question) for fault in judged]
    scripts = {(fault.answer.script.category, fault.answer.script.name) for fault in judged}
    wanted = sum(len(question.must) for _, question in asked)
    return Figures(
        scripts=len(scripts),
        questions=len(judged),
        wanted=wanted,
        hit=wanted - sum(len(fault.missed) for fault in judged),
        stale_asked=sum(len(question.stale) for _, question in asked),
        stale_served=sum(len(fault.stale) for fault in judged),
        unwanted_questions=sum(bool(fault.unwanted) for fault in judged),
        unwanted=sum(len(fault.unwanted) for fault in judged),
        served=sum(len(fault.answer.served) for fault in judged),
        foreign=sum(len(fault.foreign) for fault in judged),
        harmful=sum(len(fault.harmful) for fault in judged),
        empty_wanted=sum(question.empty for _, question in asked),
        empty=sum(question.empty and not fault.answer.served for fault, question in asked),
        tokens=tuple(tokens_in(fault.answer.block) for fault in judged if fault.answer.block),
    )


def _judged(answer: Answer) -> Fault:
    question = answer.question
    served = frozenset(label for note in answer.served for label in note.labels)
    welcome = {*question.must, *question.may}
    own = [note for note in answer.served if not note.foreign]
    return Fault(
        answer=answer,
        missed=tuple(label for label in question.must if label not in served),
        stale=tuple(label for label in question.stale if label in served),
        unwanted=tuple(
            note.content
            for note in own
            if not note.labels & welcome and not note.labels & {*question.stale}
        ),
        foreign=tuple(note.content for note in answer.served if note.foreign),
        harmful=tuple(text for text in question.never if text in answer.block),
    )


def _grouped(judged: Iterable[Fault], key: Callable[[Fault], str]) -> defaultdict[str, list[Fault]]:
    groups: defaultdict[str, list[Fault]] = defaultdict(list)
    for fault in judged:
        groups[key(fault)].append(fault)
    return groups


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
