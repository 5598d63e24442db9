"""Getting usable answers to the questions of one extraction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias
from uuid import UUID

from processors.extractors.model.answers import NotJson, NotTheSchema, items_before_cut, lists_in
from processors.extractors.model.calling import Caller, Deadline
from processors.extractors.model.provider import Answer, Question, Result, Stop
from processors.extractors.model.reading import BadItem, Reading
from processors.extractors.model.unfinished import Items, Progress, Settled, Unfinished, digest_of
from schemas.errors import ExtractionFailed, ExtractionRejected, ExtractorUnavailable
from schemas.ports import Extraction
from schemas.proposals import Operation, Usage

TOKENS_MAX: Final = (4_096, 16_384)
"""Most tokens of an answer: of the first, and of those that are asked for since one was cut off."""

PARALLEL_MAX: Final = 4
"""Most questions of one extraction at once."""

Read: TypeAlias = Callable[[dict[str, list[Any]]], Items]
"""Reads the lists of an answer, by their names."""


class Unusable(Exception):
    """An answer cannot be used as a whole.

    Attributes:
        result: what it was.
        problem: what is wrong with it, without its content.
        items: what of it can be used all the same, if nothing better comes.
    """

    def __init__(self, result: Result, problem: str, items: Items = ()) -> None:
        super().__init__(problem)
        self.result = result
        self.problem = problem
        self.items = items


@dataclass(frozen=True, kw_only=True, slots=True)
class Inquiry:
    """What is asked in one extraction.

    Attributes:
        of: the ids of what is asked about, the same whenever that is asked about again.
        questions: each with what it is about, for telling which one had no answer.
        lists: the lists that an answer must hold.
        read: reads them.
        left_out: what is not asked about, since it is beyond a limit; empty for nothing.
    """

    of: tuple[UUID, ...]
    questions: Sequence[tuple[str, Question]]
    lists: Sequence[str]
    read: Read
    left_out: str = ""


class Asker:
    """Asks until answers can be used, a bounded number of times.

    An answer that cannot be parsed, was cut off or refused, or lacks what it must hold is asked for
    again; after a cut with more room. At last of one that was cut off the complete items are kept,
    and what is missing is told. A question without a usable answer costs those of the other pieces
    nothing, unless they found nothing: what nobody could read is never "nothing to remember".
    """

    def __init__(self, caller: Caller, *, attempts_max: int, deadline_s: float) -> None:
        """Wire the parts.

        Args:
            caller: asks the provider.
            attempts_max: most answers to one question.
            deadline_s: for all questions of an extraction together.
        """
        self._caller = caller
        self._attempts_max = attempts_max
        self._deadline_s = deadline_s
        self._unfinished = Unfinished()

    @property
    def deadline_s(self) -> float:
        """How long all questions of an extraction together may take, in seconds."""
        return self._deadline_s

    async def ask(self, inquiry: Inquiry) -> Extraction:
        """Return what the answers propose.

        What was spent is told once, by whatever comes of it: the extraction or an error.

        Raises:
            ExtractionFailed: an answer did not come in time; asking again may help.
            ExtractionRejected: there is no usable answer, and each was asked for often enough.
            ExtractorUnavailable: the provider is away or refuses whatever we send.
        """
        progress = self._unfinished.take(
            inquiry.of, [question for _, question in inquiry.questions]
        )
        try:
            return await self._extraction(inquiry, progress)
        except ExtractionRejected:
            raise
        except BaseException:
            # Also where it is cancelled, since it took too long.
            self._unfinished.keep(inquiry.of, progress)
            raise

    async def _extraction(self, inquiry: Inquiry, progress: Progress) -> Extraction:
        deadline = Deadline(self._deadline_s)
        places = asyncio.Semaphore(PARALLEL_MAX)

        async def settled(question: Question) -> Settled:
            digest = digest_of(question)
            if digest not in progress.settled:
                async with places:
                    progress.settled[digest] = await self._settled(
                        question, inquiry, progress, deadline
                    )
            return progress.settled[digest]

        answers = await asyncio.gather(
            *(settled(question) for _, question in inquiry.questions), return_exceptions=True
        )
        reading, lost = Reading(), []
        for (about, _), answer in zip(inquiry.questions, _all(answers, progress), strict=True):
            if answer.items is None:
                lost.append(f"{about}: {answer.problem}")
                continue
            reading.take(answer.items)
            if answer.problem:
                reading.note(f"{about}: {answer.problem}")
        if lost and not reading.operations:
            raise ExtractionRejected(
                "; ".join(lost),
                usage=progress.told_usage(),
                stop_reasons=progress.told_stop_reasons(),
            )
        for problem in filter(None, (*lost, inquiry.left_out)):
            reading.note(problem)
        return Extraction(
            operations=tuple(reading.operations),
            invalid=tuple(reading.invalid),
            usage=progress.told_usage(),
            stop_reasons=progress.told_stop_reasons(),
        )

    async def _settled(
        self, question: Question, inquiry: Inquiry, progress: Progress, deadline: Deadline
    ) -> Settled:
        """Return what becomes of a question.

        Raises:
            ExtractionFailed, ExtractorUnavailable: nothing yet.
        """
        try:
            return await self._usable(question, inquiry, progress, deadline)
        except (Unusable, ExtractionRejected) as lost:
            return Settled(items=None, problem=str(lost))

    async def _usable(
        self, question: Question, inquiry: Inquiry, progress: Progress, deadline: Deadline
    ) -> Settled:
        """Return a usable answer, asked for as often as is allowed.

        Raises:
            Unusable: no answer could be used.
            ExtractionFailed, ExtractorUnavailable: there was none; its usage is counted already.
        """
        last = Unusable(Result.MALFORMED, "it was not asked")
        partial: Unusable | None = None
        for _ in range(self._attempts_max):
            cut_off = last.result is Result.TRUNCATED
            asked = replace(question, tokens_max=TOKENS_MAX[1] if cut_off else TOKENS_MAX[0])
            try:
                answer = await self._caller.ask(asked, deadline)
            except (ExtractionFailed, ExtractorUnavailable) as error:
                progress.usage += error.usage
                error.usage = Usage()
                raise
            progress.usage += answer.usage
            progress.stop_reasons.append(answer.stop_reason)
            try:
                items = _read(answer, inquiry)
            except Unusable as unusable:
                self._caller.count(unusable.result)
                last = unusable
                if any(isinstance(item, Operation) for item in unusable.items):
                    partial = unusable
            else:
                self._caller.count(Result.ANSWERED)
                return Settled(items=items)
        if partial is not None:
            problem = f"{partial.problem}; what stood in front of that is kept"
            return Settled(items=partial.items, problem=problem)
        if last.result is Result.SCHEMA_INVALID and last.items:
            return Settled(items=last.items)
        raise last


def _all(answers: Sequence[Settled | BaseException], progress: Progress) -> list[Settled]:
    """Return what became of each question.

    Raises:
        ExtractionFailed, ExtractorUnavailable: nothing yet, of one of them; what was spent on all
            of them is told.
    """
    settled = []
    for answer in answers:
        if isinstance(answer, Settled):
            settled.append(answer)
            continue
        if isinstance(answer, ExtractorUnavailable | ExtractionFailed):
            answer.usage = progress.told_usage()
        if isinstance(answer, ExtractionFailed):
            answer.stop_reasons = progress.told_stop_reasons()
        raise answer
    return settled


def _read(answer: Answer, inquiry: Inquiry) -> Items:
    """Return the items of an answer.

    Raises:
        Unusable: it is none.
    """
    if answer.stop is Stop.REFUSED:
        raise Unusable(Result.REFUSED, f"the model refused ({answer.stop_reason})")
    try:
        found = lists_in(answer.text, inquiry.lists)
    except (NotJson, NotTheSchema) as error:
        if answer.stop is Stop.CUT_OFF:
            complete = {name: items_before_cut(answer.text, name) for name in inquiry.lists}
            problem = f"the answer was cut off ({answer.stop_reason})"
            raise Unusable(Result.TRUNCATED, problem, inquiry.read(complete)) from None
        result = Result.MALFORMED if isinstance(error, NotJson) else Result.SCHEMA_INVALID
        raise Unusable(result, f"the answer cannot be read: {error}") from None
    items = inquiry.read(found.items)
    if items and all(isinstance(item, BadItem) for item in items):
        raise Unusable(Result.SCHEMA_INVALID, "no item of the answer can be used", items)
    return items
