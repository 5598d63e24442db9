"""Asking the extractor: with a deadline, and a bounded number of times."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final
from uuid import UUID

from processors import metrics
from processors.session_answers import Answer, SessionAnswers, Unfinished
from processors.spent import Spent
from processors.storable import storable
from processors.summary_asking import summarised
from schemas.errors import ExtractionFailed, ExtractionRejected, ExtractorUnavailable
from schemas.injection import cut_injection
from schemas.memory import Memory
from schemas.ports import (
    ConsolidationRequest,
    Consolidator,
    Extraction,
    ExtractionRequest,
    Extractor,
    KnownMemory,
    SessionExtractor,
    SessionRequest,
    Summarizer,
    SummaryRequest,
)
from schemas.proposals import Proposal
from schemas.records import Turn
from schemas.summaries import ProposedSummary

logger = logging.getLogger(__name__)

_BACKOFF_FIRST_S: Final = 0.5
_BACKOFF_MAX_S: Final = 10.0


class ExtractorCrashed(ExtractionFailed):
    """The extractor raised what nobody foresaw.

    Attributes:
        original: what it raised. Its message may quote the turn, so it is not repeated.
    """

    def __init__(self, extractor: str, original: BaseException) -> None:
        super().__init__(f"{extractor} raised {type(original).__name__}: mend the extractor")
        self.original = original


class ExtractionTimedOut(ExtractionFailed):
    """The extractor gave no answer before its deadline."""


class Proposer:
    """Makes the proposal for a turn out of what the extractor answers."""

    def __init__(
        self,
        extractor: Extractor,
        *,
        generation: str,
        in_flight_max: int,
        attempts_max: int,
        timeout_s: float,
        clock: Callable[[], datetime],
    ) -> None:
        """Wire the parts.

        Args:
            extractor: proposes memories.
            generation: the generation that asks.
            in_flight_max: most calls at once.
            attempts_max: most calls for one turn.
            timeout_s: deadline of one call.
            clock: the time, aware.
        """
        self._extractor = extractor
        self._generation = generation
        self._slots = asyncio.Semaphore(in_flight_max)
        self._attempts_max = attempts_max
        self._timeout_s = timeout_s
        self._clock = clock
        self._spent = Spent()
        self._unfinished = Unfinished()

    @property
    def extractor(self) -> str:
        """The name of the extractor that is asked."""
        return self._extractor.name

    @property
    def model(self) -> str:
        """The model that is asked."""
        return self._extractor.model

    @property
    def known_max(self) -> int:
        """How many of the user's memories the extractor wants to be shown."""
        return self._extractor.known_max

    async def propose(
        self, turn: Turn, known: Sequence[Memory], *, allowed: Callable[[], None]
    ) -> Proposal:
        """Return the proposal for a turn.

        Args:
            turn: the turn as it was accepted.
            known: the user's nearest live memories.
            allowed: called right before each call of the extractor; raises to prevent it.

        Raises:
            ExtractionFailed: no usable answer after the allowed number of attempts; its usage is
                that of all of them.
            ExtractorUnavailable: the extractor cannot be asked now; what was spent until then is
                counted into the proposal that stands at last.
        """
        request = ExtractionRequest(turn=without_injection(turn), known=_named(known))
        extraction = await self._answer(
            turn.turn_id, lambda: self._extractor.extract(request), allowed
        )
        return self._proposal(turn.turn_id, extraction)

    async def propose_for_session(
        self,
        record_id: UUID,
        turns: Sequence[Turn],
        known: Sequence[Memory],
        *,
        allowed: Callable[[], None],
    ) -> Proposal:
        """Return the proposal for a chat session that is over.

        One that cannot be answered as a whole is asked about turn by turn, as is every session
        where the extractor reads turns alone: the turns that fail then are named in the proposal,
        and cost the others nothing.

        Args:
            record_id: the id of the record that ends it.
            turns: its turns as they were accepted, in the order in which they were said.
            known: the user's nearest live memories.
            allowed: called right before each call of the extractor; raises to prevent it.

        Raises:
            ExtractionFailed: no usable answer for any of the turns after the allowed number of
                attempts; its usage is that of all of them.
            ExtractorUnavailable: the extractor cannot be asked now; what was answered until then is
                kept, and not asked for again.
        """
        bare, named = tuple(map(without_injection, turns)), _named(known)
        answers = self._unfinished.of(record_id)
        try:
            failed: tuple[UUID, ...] = ()
            extraction = await self._whole(
                record_id, SessionRequest(turns=bare, known=named), answers, allowed
            )
            if extraction is None:
                await self._turn_by_turn(record_id, bare, named, answers, allowed)
                extraction, failed = storable(answers.together(bare)), answers.failed(bare)
        except (asyncio.CancelledError, ExtractionFailed):
            self._unfinished.forget(record_id)
            raise
        self._unfinished.forget(record_id)
        return self._proposal(record_id, extraction, failed=failed)

    async def _whole(
        self,
        record_id: UUID,
        session: SessionRequest,
        answers: SessionAnswers,
        allowed: Callable[[], None],
    ) -> Extraction | None:
        """Return the answer for a whole session; ``None`` where its turns are to be asked about."""
        extractor = self._extractor
        if not isinstance(extractor, SessionExtractor) or answers.whole is not None:
            return None
        try:
            return await self._answer(
                record_id, lambda: extractor.extract_session(session), allowed
            )
        except ExtractionFailed as error:
            if len(session.turns) == 1:
                # Asked about alone it is the same question.
                raise
            answers.whole = error
            logger.warning("a session is asked about turn by turn: %s", type(error).__name__)
            return None

    async def _turn_by_turn(
        self,
        record_id: UUID,
        turns: Sequence[Turn],
        known: tuple[KnownMemory, ...],
        answers: SessionAnswers,
        allowed: Callable[[], None],
    ) -> None:
        for turn in turns:
            if turn.turn_id in answers.of_turns:
                continue
            request = ExtractionRequest(turn=turn, known=known)
            ask = partial(self._extractor.extract, request)
            try:
                answer: Answer = await self._answer(record_id, ask, allowed)
            except ExtractionFailed as error:
                logger.warning("no answer for a turn of a session: %s", type(error).__name__)
                answer = error
            answers.add(turn, answer)

    @property
    def consolidates(self) -> bool:
        """Whether the extractor can look through a subject's memories."""
        return isinstance(self._extractor, Consolidator)

    async def propose_consolidation(
        self,
        record_id: UUID,
        memories: Sequence[Memory],
        now: datetime,
        *,
        allowed: Callable[[], None],
    ) -> Proposal:
        """Return the proposal for a consolidation.

        Args:
            record_id: the id of the record that starts it.
            memories: what is looked through.
            now: when it was started.
            allowed: called right before each call of the extractor; raises to prevent it.

        Raises:
            ExtractionFailed: no usable answer after the allowed number of attempts.
        """
        extractor = self._extractor
        assert isinstance(extractor, Consolidator), "asked for what it cannot do"  # noqa: S101 - `consolidates` is asked first
        request = ConsolidationRequest(memories=_named(memories), now=now)
        extraction = await self._answer(record_id, lambda: extractor.consolidate(request), allowed)
        return self._proposal(record_id, extraction)

    @property
    def summarises(self) -> bool:
        """Whether the extractor can tell what a session came to."""
        return isinstance(self._extractor, Summarizer)

    def nothing_asked(self, record_id: UUID) -> Proposal:
        """Return the proposal for a session of which no turn waits."""
        return self._proposal(record_id, Extraction(operations=()))

    async def with_summary(
        self,
        proposal: Proposal,
        turns: Sequence[Turn],
        summary: ProposedSummary,
        *,
        allowed: Callable[[], None],
    ) -> Proposal:
        """Return a proposal with the summary of turns; see :mod:`processors.summary_asking`."""
        extractor = self._extractor
        assert isinstance(extractor, Summarizer), "asked for what it cannot do"  # noqa: S101 - `summarises` is asked first
        said = tuple(sorted(turns, key=lambda turn: turn.occurred_at))
        request = SummaryRequest(turns=said)
        return await summarised(
            proposal, summary, lambda: self._call(lambda: extractor.summarise(request), allowed)
        )

    async def _answer(
        self,
        record_id: UUID,
        ask: Callable[[], Awaitable[Extraction]],
        allowed: Callable[[], None],
    ) -> Extraction:
        """Return a usable answer, asked for as often as is allowed, with what all of them cost."""
        backoff_s = _BACKOFF_FIRST_S
        for attempt in range(1, self._attempts_max + 1):
            try:
                extraction = await self._call(ask, allowed)
            except ExtractorUnavailable as error:
                self._spent.add(record_id, error.usage)
                raise
            except ExtractionFailed as error:
                self._spent.add(record_id, error.usage, error.stop_reasons)
                if attempt == self._attempts_max or isinstance(error, ExtractionRejected):
                    error.usage, error.stop_reasons = self._spent.take(record_id)
                    raise
                await asyncio.sleep(backoff_s)
                backoff_s = min(2 * backoff_s, _BACKOFF_MAX_S)
            else:
                usage, stop_reasons = self._spent.take(record_id)
                return replace(
                    extraction,
                    usage=usage + extraction.usage,
                    stop_reasons=(*stop_reasons, *extraction.stop_reasons),
                )
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _call(
        self, ask: Callable[[], Awaitable[Extraction]], allowed: Callable[[], None]
    ) -> Extraction:
        async with self._slots:
            allowed()
            metrics.IN_FLIGHT.inc()
            started = time.monotonic()
            result = "failed"
            try:
                extraction = storable(await self._answer_in_time(ask))
                result = "answered"
            except ExtractionTimedOut:
                result = "timed_out"
                raise
            except ExtractorUnavailable:
                result = "unavailable"
                raise
            except ExtractionFailed:
                raise
            except Exception as error:
                # An extractor of one's own may fail in any way.
                raise ExtractorCrashed(self._extractor.name, error) from error
            finally:
                metrics.IN_FLIGHT.dec()
                metrics.EXTRACTIONS.labels(result).inc()
                metrics.EXTRACTION_SECONDS.observe(time.monotonic() - started)
        metrics.INVALID_ITEMS.inc(len(extraction.invalid))
        return extraction

    async def _answer_in_time(self, ask: Callable[[], Awaitable[Extraction]]) -> Extraction:
        """Return what the extractor answers before its deadline.

        It runs in a task of its own, so that a cancellation that it raises itself is told from one
        of this lane, and one that it swallows does not outlast the deadline.
        """
        task = asyncio.create_task(self._extract(ask))
        task.add_done_callback(_look_at)
        try:
            await asyncio.wait({task}, timeout=self._timeout_s)
            if not task.done():
                raise ExtractionTimedOut(
                    f"{self._extractor.name} gave no answer within {self._timeout_s:g} s"
                )
            if task.cancelled():
                raise ExtractorCrashed(self._extractor.name, asyncio.CancelledError())
            return task.result()
        finally:
            task.cancel()

    async def _extract(self, ask: Callable[[], Awaitable[Extraction]]) -> Extraction:
        try:
            return await ask()
        except (Exception, asyncio.CancelledError):
            raise
        except BaseException as error:
            # SystemExit and its like would end the whole worker, and the next one likewise.
            raise ExtractorCrashed(self._extractor.name, error) from error

    def _proposal(
        self, record_id: UUID, extraction: Extraction, *, failed: tuple[UUID, ...] = ()
    ) -> Proposal:
        return Proposal(
            turn_id=record_id,
            generation=self._generation,
            extractor=self._extractor.name,
            model=self._extractor.model,
            prompt_hash=self._extractor.prompt_hash,
            operations=extraction.operations,
            invalid=extraction.invalid,
            usage=extraction.usage,
            stop_reasons=extraction.stop_reasons,
            skipped=extraction.skipped,
            failed=failed,
            proposed_at=self._clock(),
        )


def _named(known: Sequence[Memory]) -> tuple[KnownMemory, ...]:
    """Return memories under the short names by which an answer may refer to them."""
    return tuple(
        KnownMemory(reference=f"m{number}", memory=memory)
        for number, memory in enumerate(known, start=1)
    )


def _look_at(task: asyncio.Task[Extraction]) -> None:
    # What an extractor raises after its deadline is nobody's answer any more.
    if not task.cancelled():
        task.exception()


def without_injection(turn: Turn) -> Turn:
    """Return a turn whose texts hold no block of notes that recall had put there."""
    user_text = cut_injection(turn.user_text)
    assistant_text = None if turn.assistant_text is None else cut_injection(turn.assistant_text)
    if (user_text, assistant_text) == (turn.user_text, turn.assistant_text):
        return turn
    return turn.model_copy(update={"user_text": user_text, "assistant_text": assistant_text})
