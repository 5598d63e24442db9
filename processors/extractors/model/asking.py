"""Getting usable answers to the questions of one extraction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from processors.extractors.model.answers import NotJson, NotTheSchema, items_before_cut, lists_in
from processors.extractors.model.calling import Caller, Deadline
from processors.extractors.model.provider import Answer, Question, Result, Stop
from processors.extractors.model.reading import BadItem, Reading
from schemas.errors import ExtractionFailed, ExtractionRejected, ExtractorUnavailable
from schemas.ports import Extraction
from schemas.proposals import Operation, Usage

TOKENS_MAX: Final = (4_096, 16_384)
"""Most tokens of an answer: of the first, and of those that are asked for since one was cut off."""

PARALLEL_MAX: Final = 4
"""Most questions of one extraction at once."""

Items: TypeAlias = Sequence[Operation | BadItem]
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
class Asking:
    """What is asked in one extraction.

    Attributes:
        questions: each with what it is about, for telling which one had no answer.
        lists: the lists that an answer must hold.
        read: reads them.
        left_out: what is not asked about, since it is beyond a limit; empty for nothing.
    """

    questions: Sequence[tuple[str, Question]]
    lists: Sequence[str]
    read: Read
    left_out: str = ""


@dataclass(kw_only=True, slots=True)
class _Spent:
    usage: Usage = field(default_factory=Usage)
    stop_reasons: list[str] = field(default_factory=list)


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

    async def ask(self, asking: Asking) -> Extraction:
        """Return what the answers propose.

        Raises:
            ExtractionFailed: an answer did not come in time; asking again may help.
            ExtractionRejected: there is no usable answer, and each was asked for often enough.
            ExtractorUnavailable: the provider is away or refuses whatever we send.
        """
        spent, deadline = _Spent(), Deadline(self._deadline_s)
        places = asyncio.Semaphore(PARALLEL_MAX)

        async def answered(question: Question) -> tuple[Items, str]:
            async with places:
                return await self._items(question, asking, spent, deadline)

        answers = await asyncio.gather(
            *(answered(question) for _, question in asking.questions), return_exceptions=True
        )
        _raise_first(answers, spent)
        reading, lost = Reading(), []
        for (about, _), answer in zip(asking.questions, answers, strict=True):
            if isinstance(answer, BaseException):
                lost.append(f"{about}: {answer}")
                continue
            items, missing = answer
            reading.take(items)
            if missing:
                reading.note(f"{about}: {missing}")
        if lost and not reading.operations:
            raise ExtractionRejected(
                "; ".join(lost), usage=spent.usage, stop_reasons=tuple(spent.stop_reasons)
            )
        for problem in filter(None, (*lost, asking.left_out)):
            reading.note(problem)
        return Extraction(
            operations=tuple(reading.operations),
            invalid=tuple(reading.invalid),
            usage=spent.usage,
            stop_reasons=tuple(spent.stop_reasons),
        )

    async def _items(
        self, question: Question, asking: Asking, spent: _Spent, deadline: Deadline
    ) -> tuple[Items, str]:
        """Return the items of a usable answer, and what is missing of it, if anything.

        Raises:
            Unusable: no answer could be used.
        """
        last = Unusable(Result.MALFORMED, "it was not asked")
        partial: Unusable | None = None
        for _ in range(self._attempts_max):
            cut_off = last.result is Result.TRUNCATED
            asked = replace(question, tokens_max=TOKENS_MAX[1] if cut_off else TOKENS_MAX[0])
            try:
                answer = await self._caller.ask(asked, deadline)
            except ExtractionRejected as rejected:
                spent.usage += rejected.usage
                rejected.usage = Usage()
                raise
            spent.usage += answer.usage
            spent.stop_reasons.append(answer.stop_reason)
            try:
                items = _read(answer, asking)
            except Unusable as unusable:
                self._caller.count(unusable.result)
                last = unusable
                if any(isinstance(item, Operation) for item in unusable.items):
                    partial = unusable
            else:
                self._caller.count(Result.ANSWERED)
                return items, ""
        if partial is not None:
            return partial.items, f"{partial.problem}; what stood in front of that is kept"
        if last.result is Result.SCHEMA_INVALID and last.items:
            return last.items, ""
        raise last


def _raise_first(answers: Sequence[object], spent: _Spent) -> None:
    """Raise what keeps the whole extraction from an end, if anything does."""
    for answer in answers:
        if isinstance(answer, Unusable | ExtractionRejected):
            continue
        if isinstance(answer, ExtractorUnavailable | ExtractionFailed):
            answer.usage += spent.usage
        if isinstance(answer, ExtractionFailed):
            answer.stop_reasons = tuple(spent.stop_reasons)
        if isinstance(answer, BaseException):
            raise answer


def _read(answer: Answer, asking: Asking) -> Items:
    """Return the items of an answer.

    Raises:
        Unusable: it is none.
    """
    if answer.stop is Stop.REFUSED:
        raise Unusable(Result.REFUSED, f"the model refused ({answer.stop_reason})")
    try:
        found = lists_in(answer.text, asking.lists)
    except (NotJson, NotTheSchema) as error:
        if answer.stop is Stop.CUT_OFF:
            complete = {name: items_before_cut(answer.text, name) for name in asking.lists}
            problem = f"the answer was cut off ({answer.stop_reason})"
            raise Unusable(Result.TRUNCATED, problem, asking.read(complete)) from None
        result = Result.MALFORMED if isinstance(error, NotJson) else Result.SCHEMA_INVALID
        raise Unusable(result, f"the answer cannot be read: {error}") from None
    items = asking.read(found.items)
    if items and all(isinstance(item, BadItem) for item in items):
        raise Unusable(Result.SCHEMA_INVALID, "no item of the answer can be used", items)
    return items
