"""Leaving a service alone that does not answer: waiting for it must not cost every call."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum


class BreakerState(StrEnum):
    """Whether a service is asked."""

    CLOSED = "closed"
    """It is."""
    OPEN = "open"
    """It is left alone."""
    TRYING = "trying"
    """One call tries whether it answers again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pauses:
    """How soon a service is left alone, and for how long.

    Attributes:
        failures_max: failures in a row before it is.
        first_s: the first pause, in seconds; each that ends in another failure is doubled.
        max_s: the longest of these.
        asked_max_s: the longest pause that is kept because the service asks for it.
    """

    failures_max: int
    first_s: float
    max_s: float
    asked_max_s: float


class LeftAlone(Exception):
    """The service did not answer shortly before, so it was not asked.

    Attributes:
        failures: how often it failed in a row.
        problem: what it failed with the last time.
        left_s: for how long it is left alone yet, in seconds; not above 0 while one call tries.
    """

    def __init__(self, *, failures: int, problem: str, left_s: float) -> None:
        super().__init__(f"failed {failures} times in a row, the last time with: {problem}")
        self.failures = failures
        self.problem = problem
        self.left_s = left_s


class Breaker:
    """A circuit breaker.

    After a number of failures in a row nobody asks for a while; then one call tries, while the
    others are still turned away, and if it fails too the pause doubles. A pause that the service
    asks for itself is kept. An answer, of whatever kind, ends it all.
    """

    def __init__(self, pauses: Pauses, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Make a breaker that is closed.

        Args:
            pauses: how soon and for how long.
            clock: a time in seconds that never goes back.
        """
        self._pauses = pauses
        self._clock = clock
        self._failures = 0
        self._pause_s = pauses.first_s
        self._until = 0.0
        self._open = False
        self._trying = False
        self._problem = ""

    @property
    def state(self) -> BreakerState:
        """Whether the service is asked."""
        if not self._open:
            return BreakerState.CLOSED
        return BreakerState.TRYING if self._trying else BreakerState.OPEN

    @property
    def problem(self) -> str:
        """What the service failed with the last time; empty while it answers."""
        return self._problem

    @contextmanager
    def attempt(self) -> Iterator[Attempt]:
        """Yield what is told how a call went; told nothing (a cancelled call), nothing changes.

        Raises:
            LeftAlone: the service is not to be asked now.
        """
        trying = self._open
        if trying:
            left_s = self._until - self._clock()
            if left_s > 0 or self._trying:
                raise LeftAlone(failures=self._failures, problem=self._problem, left_s=left_s)
            self._trying = True
        try:
            yield Attempt(self, trying=trying)
        finally:
            if trying:
                self._trying = False

    def _failed(self, problem: str, *, asked_s: float | None, for_all: bool, trying: bool) -> None:
        self._failures += 1
        self._problem = problem
        pauses = self._pauses
        kept_s = min(asked_s or 0.0, pauses.asked_max_s)
        if trying:
            self._pause_s = min(2 * self._pause_s, pauses.max_s)
        elif self._open or (self._failures < pauses.failures_max and not kept_s and not for_all):
            # What was asked before it was left alone changes nothing any more.
            return
        self._open = True
        self._until = self._clock() + max(self._pause_s, kept_s)

    def _answered(self) -> None:
        self._failures = 0
        self._open = False
        self._pause_s = self._pauses.first_s
        self._problem = ""


class Attempt:
    """One call of the service."""

    def __init__(self, breaker: Breaker, *, trying: bool) -> None:
        self._breaker = breaker
        self._trying = trying

    def failed(self, problem: str, *, asked_s: float | None = None, for_all: bool = False) -> None:
        """Tell that the service did not answer.

        Args:
            problem: what happened, without content of the call.
            asked_s: how long it asks to be left alone, in seconds, if it does.
            for_all: whether it is known that it would answer nobody.
        """
        self._breaker._failed(  # noqa: SLF001 - two halves of one thing
            problem, asked_s=asked_s, for_all=for_all, trying=self._trying
        )

    def answered(self) -> None:
        """Tell that it did."""
        self._breaker._answered()  # noqa: SLF001 - two halves of one thing
