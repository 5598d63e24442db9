"""What was answered already, and paid for, of extractions that did not come to their end."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Final, TypeAlias
from uuid import UUID

from processors.extractors.model.provider import Question
from processors.extractors.model.reading import BadItem
from schemas.proposals import Operation, Usage

KEPT_MAX: Final = 256
"""Most extractions of which answers are kept; of more, the one that was kept first is forgotten."""

KEPT_S: Final = 900.0
"""How long answers are kept: three times the longest pause that a provider is granted."""

_STOP_REASONS_MAX: Final = 100

Items: TypeAlias = Sequence[Operation | BadItem]


@dataclass(frozen=True, kw_only=True, slots=True)
class Settled:
    """What became of a question that is not asked again.

    Attributes:
        items: what was answered; ``None`` where there is no usable answer.
        problem: what is missing of it, or why there is none; empty for nothing.
    """

    items: Items | None
    problem: str = ""


@dataclass(kw_only=True, slots=True)
class Progress:
    """How far an extraction has come.

    Attributes:
        settled: by :func:`digest_of` of each question that is not asked again, what became of it.
        usage: what was spent and not told yet.
        stop_reasons: why the model stopped, as far as not told yet, call by call.
    """

    settled: dict[bytes, Settled] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    stop_reasons: list[str] = field(default_factory=list)

    def told_usage(self) -> Usage:
        """Return what was spent and not told yet, which counts as told from now on."""
        usage, self.usage = self.usage, Usage()
        return usage

    def told_stop_reasons(self) -> tuple[str, ...]:
        """Return why the model stopped, as far as not told yet; likewise."""
        reasons = tuple(self.stop_reasons)
        self.stop_reasons.clear()
        return reasons


@dataclass(frozen=True, kw_only=True, slots=True)
class _Kept:
    progress: Progress
    until: float


class Unfinished:
    """Keeps the progress of extractions while they wait to be tried again.

    Under a limit of tokens a minute an extraction of several questions may never get all of them
    answered at once. What is kept is what the model made of a user's words, so it is kept in memory
    alone, and neither for long nor for many.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Keep nothing yet.

        Args:
            clock: a time in seconds that never goes back.
        """
        self._clock = clock
        self._kept: dict[tuple[UUID, ...], _Kept] = {}

    def take(self, of: tuple[UUID, ...], questions: Sequence[Question]) -> Progress:
        """Return the progress of an extraction, and keep it no longer.

        Args:
            of: the ids of what is asked about.
            questions: what is asked now; the answers to all others are left out.
        """
        self._forget_old()
        kept = self._kept.pop(of, None)
        if kept is None:
            return Progress()
        asked = {digest_of(question) for question in questions}
        progress = kept.progress
        progress.settled = {
            digest: settled for digest, settled in progress.settled.items() if digest in asked
        }
        return progress

    def keep(self, of: tuple[UUID, ...], progress: Progress) -> None:
        """Keep the progress of an extraction that is to be tried again, if there is any."""
        if not progress.settled and not progress.stop_reasons and progress.usage == Usage():
            return
        del progress.stop_reasons[:-_STOP_REASONS_MAX]
        self._kept.pop(of, None)
        self._kept[of] = _Kept(progress=progress, until=self._clock() + KEPT_S)
        self._forget_old()

    def __len__(self) -> int:
        """Return of how many extractions something is kept."""
        return len(self._kept)

    def _forget_old(self) -> None:
        now = self._clock()
        # They lie in the order in which they were kept, and each is kept as long.
        while self._kept:
            of = next(iter(self._kept))
            if len(self._kept) <= KEPT_MAX and self._kept[of].until > now:
                return
            del self._kept[of]


def digest_of(question: Question) -> bytes:
    """Return what tells a question from every other one."""
    return sha256(json.dumps(asdict(question), sort_keys=True).encode()).digest()
