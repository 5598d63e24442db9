"""How well the gate tells what must be refused from what looks like it: precision and recall."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from deploy.evaluation.gate_cases import GateCase
from processors.gate import narrowed, refusals
from schemas.events import RejectionReason

PRECISION_MIN: Final = 0.95
RECALL_MIN: Final = 0.95
"""What each rule is held to."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """How often a reason was told rightly and wrongly.

    Attributes:
        hits: cases in which it was expected and told.
        false_alarms: cases in which it was told and not expected.
        misses: cases in which it was expected and not told.
    """

    hits: int = 0
    false_alarms: int = 0
    misses: int = 0

    @property
    def precision(self) -> float | None:
        """The share of what was told that was right; ``None`` where it was never told."""
        told = self.hits + self.false_alarms
        return self.hits / told if told else None

    @property
    def recall(self) -> float | None:
        """The share of what was expected that was told; ``None`` where nothing was."""
        expected = self.hits + self.misses
        return self.hits / expected if expected else None

    @property
    def held(self) -> bool:
        """Whether it keeps to the bounds."""
        precision, recall = self.precision, self.recall
        return (precision is None or precision >= PRECISION_MIN) and (
            recall is None or recall >= RECALL_MIN
        )

    def __add__(self, other: Score) -> Score:
        """Return both together."""
        return Score(
            hits=self.hits + other.hits,
            false_alarms=self.false_alarms + other.false_alarms,
            misses=self.misses + other.misses,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class WrongCase:
    """A case in which the gate did not tell exactly the reasons that were expected."""

    case: GateCase
    got: tuple[RejectionReason, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class GateScores:
    """What a run over the cases gave.

    Attributes:
        cases: how many there were.
        rules: by reason, the score over all cases.
        languages: by language, the score over all reasons.
        wrong: the cases that went wrong.
    """

    cases: int
    rules: dict[RejectionReason, Score]
    languages: dict[str, Score]
    wrong: Sequence[WrongCase]

    @property
    def total(self) -> Score:
        """The score over all cases and reasons."""
        return sum(self.rules.values(), Score())

    @property
    def held(self) -> bool:
        """Whether every rule keeps to the bounds."""
        return all(score.held for score in self.rules.values())


def measure_gate(cases: Iterable[GateCase]) -> GateScores:
    """Judge every case as a worker would and compare with what it expects."""
    count = 0
    rules: defaultdict[RejectionReason, Score] = defaultdict(Score)
    languages: defaultdict[str, Score] = defaultdict(Score)
    wrong: list[WrongCase] = []
    for case in cases:
        count += 1
        said = case.said()
        got = refusals(narrowed(case.proposed(), said), said)
        languages[case.language] += Score()
        for reason in {*got, *case.expect}:
            score = _score(told=reason in got, expected=reason in case.expect)
            rules[reason] += score
            languages[case.language] += score
        if set(got) != set(case.expect):
            wrong.append(WrongCase(case=case, got=got))
    ordered = {reason: rules[reason] for reason in RejectionReason if reason in rules}
    return GateScores(
        cases=count, rules=ordered, languages=dict(sorted(languages.items())), wrong=wrong
    )


def _score(*, told: bool, expected: bool) -> Score:
    return Score(
        hits=told and expected,
        false_alarms=told and not expected,
        misses=expected and not told,
    )
