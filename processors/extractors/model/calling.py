"""Asking a provider: within a deadline, again where that may help, and not while it is away."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from processors import model_metrics
from processors.extractors.model.provider import Answer, Provider, ProviderFault, Question, Result
from schemas.breaker import Attempt, Breaker, BreakerState, LeftAlone, Pauses
from schemas.errors import ExtractionFailed, ExtractionRejected, ExtractorUnavailable
from schemas.proposals import Usage

logger = logging.getLogger(__name__)

REQUESTS_MAX: Final = 4
"""Most requests for one answer while the provider gives none."""

BACKOFF_FIRST_S: Final = 0.5
BACKOFF_MAX_S: Final = 8.0
ASKED_PAUSE_MAX_S: Final = 30.0
"""The longest pause that is waited for within a call; for a longer one the turn waits outside."""

PAUSES: Final = Pauses(failures_max=5, first_s=5.0, max_s=60.0, asked_max_s=300.0)

_PROBE_TOKENS: Final = 256
_PROBE_TEXT: Final = "Hello."


class Deadline:
    """The time by which an extraction must be done.

    Args:
        seconds: from now on.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._ends = time.monotonic() + seconds

    @property
    def left_s(self) -> float:
        """The seconds that are left; below 0 when it is over."""
        return self._ends - time.monotonic()

    def __str__(self) -> str:
        """Return how long it was."""
        return f"{self._seconds:g} s"


@dataclass(frozen=True, kw_only=True, slots=True)
class Timing:
    """How long calls may take.

    Attributes:
        call_s: one request.
        probe_s: the request by which the provider's fault is told from a turn's.
    """

    call_s: float
    probe_s: float


class Caller:
    """Asks a provider.

    What may pass by itself is tried again up to ``REQUESTS_MAX`` times, after a pause that grows
    and is half chance, or after the one that the provider asks for, as long as it fits into the
    deadline. A circuit breaker is around it all: while the provider gives no answers, or refuses
    whatever it is sent, turns wait without asking.

    A request that is refused, or not answered in time, may be at fault itself. Then a short and
    harmless one is sent, unless another call was answered meanwhile: if that fails too, it is the
    provider, and the turn waits; if not, it is the turn.
    """

    def __init__(
        self,
        provider: Provider,
        timing: Timing,
        *,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Wire the parts.

        Args:
            provider: sends one request.
            timing: how long it may take.
            sleep: waits between requests, in seconds.
            clock: a time in seconds that never goes back.
        """
        self._provider = provider
        self._timing = timing
        self._sleep = sleep
        self._clock = clock
        self._breaker = Breaker(PAUSES, clock=clock)
        self._answered_at = -1.0
        model_metrics.watch_breaker(
            extractor=provider.name, model=provider.model, state=lambda: self._breaker.state
        )

    @property
    def problem(self) -> str | None:
        """Why the provider is not asked now, or ``None`` where it is."""
        if self._breaker.state is BreakerState.CLOSED:
            return None
        return f"the model {self._provider.model} is left alone: {self._breaker.problem}"

    async def ask(self, question: Question, deadline: Deadline) -> Answer:
        """Return the model's answer, whatever it says.

        The usage of the answer includes that of requests before it that had none.

        Raises:
            ExtractorUnavailable: the provider is away or refuses whatever we send.
            ExtractionFailed: it answers others, but did not answer this in time.
            ExtractionRejected: it refuses this request and takes others.
        """
        began = self._clock()
        try:
            with self._breaker.attempt() as attempt:
                try:
                    answer = await self._answer(question, deadline)
                except ProviderFault as fault:
                    raise await self._judged(fault, question, attempt, began) from None
                self._succeeded(attempt)
                return answer
        except LeftAlone as alone:
            raise ExtractorUnavailable(
                f"the model {self._provider.model} is left alone since it {alone}",
                # While one call tries, a whole call may go by.
                retry_after_s=max(alone.left_s, PAUSES.first_s),
            ) from None

    async def aclose(self) -> None:
        """Close the connections."""
        await self._provider.aclose()

    def count(self, result: Result) -> None:
        """Count how a call ended."""
        model_metrics.MODEL_CALLS.labels(
            self._provider.name, self._provider.model, result.value
        ).inc()

    async def _answer(self, question: Question, deadline: Deadline) -> Answer:
        spent = Usage()
        backoff_s = BACKOFF_FIRST_S
        for request in range(1, REQUESTS_MAX + 1):
            timeout_s = min(self._timing.call_s, max(deadline.left_s, 0.01))
            try:
                answer = await self._sent(question, timeout_s)
            except ProviderFault as fault:
                spent += fault.usage
                fault.usage = spent
                pause_s = _pause_s(fault, backoff_s)
                if (
                    not fault.passes
                    or request == REQUESTS_MAX
                    or pause_s > ASKED_PAUSE_MAX_S
                    or pause_s >= deadline.left_s
                ):
                    raise
                await self._sleep(pause_s)
                backoff_s = min(2 * backoff_s, BACKOFF_MAX_S)
            else:
                return Answer(
                    text=answer.text,
                    stop=answer.stop,
                    stop_reason=answer.stop_reason,
                    usage=spent + answer.usage,
                )
        raise AssertionError("unreachable: the last request returns or raises")

    async def _sent(self, question: Question, timeout_s: float) -> Answer:
        try:
            answer = await self._provider.ask(question, timeout_s=timeout_s)
        except ProviderFault as fault:
            self.count(fault.result)
            raise
        model_metrics.count_tokens(
            extractor=self._provider.name, model=self._provider.model, usage=answer.usage
        )
        return answer

    async def _judged(
        self, fault: ProviderFault, question: Question, attempt: Attempt, began: float
    ) -> Exception:
        """Return the error for a call without an answer, by whose fault it is."""
        if fault.result not in (Result.NOT_TAKEN, Result.TIMED_OUT):
            return self._away(fault, attempt, for_all=fault.result is Result.DENIED)
        if self._answered_at < began:
            probe = await self._probe(question)
            fault.usage += probe if isinstance(probe, Usage) else probe.usage
            if isinstance(probe, ProviderFault):
                alike = fault.result is Result.NOT_TAKEN and probe.result is Result.NOT_TAKEN
                if alike:
                    fault.problem += ", also for a harmless request: check the model's settings"
                return self._away(fault, attempt, for_all=alike)
        self._succeeded(attempt)
        if fault.result is Result.NOT_TAKEN:
            return ExtractionRejected(
                f"the model refuses this request and takes others: {fault}", usage=fault.usage
            )
        return ExtractionFailed(
            f"the model answers others, but not this request: {fault}", usage=fault.usage
        )

    async def _probe(self, question: Question) -> Usage | ProviderFault:
        """Return what a harmless request cost, or why it was not answered either."""
        harmless = Question(
            system=question.system,
            text=_PROBE_TEXT,
            schema=question.schema,
            schema_name=question.schema_name,
            tokens_max=_PROBE_TOKENS,
        )
        try:
            answer = await self._sent(harmless, self._timing.probe_s)
        except ProviderFault as fault:
            return fault
        self.count(Result.ANSWERED)
        return answer.usage

    def _succeeded(self, attempt: Attempt) -> None:
        attempt.answered()
        self._answered_at = self._clock()

    def _away(self, fault: ProviderFault, attempt: Attempt, *, for_all: bool) -> Exception:
        attempt.failed(str(fault), asked_s=fault.asked_s, for_all=for_all)
        logger.warning("the model %s gives no answer: %s", self._provider.model, fault)
        return ExtractorUnavailable(
            f"the model {self._provider.model} gives no answer: {fault}",
            retry_after_s=PAUSES.first_s if fault.asked_s is None else fault.asked_s,
            usage=fault.usage,
        )


def _pause_s(fault: ProviderFault, backoff_s: float) -> float:
    # Half of it is chance, so that turns that failed together do not return together.
    spread = 0.5 + random.random() / 2  # noqa: S311 - spreads load, no secret
    if fault.asked_s is None:
        return backoff_s * spread
    return fault.asked_s * (1 + (1 - spread) / 5)
