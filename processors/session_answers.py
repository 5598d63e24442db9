"""The answers for the single turns of a session, kept until they make up its proposal.

A session that cannot be answered as a whole is asked about turn by turn, so that one bad turn costs
itself alone. Where the extractor is away in the middle of that, what was answered before is kept,
since it is paid for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias
from uuid import UUID

from schemas.errors import ExtractionFailed
from schemas.ports import Extraction
from schemas.proposals import InvalidItem, Usage
from schemas.records import Turn

SESSIONS_MAX: Final = 100
"""Most sessions whose answers are kept; the oldest is asked about again."""

Answer: TypeAlias = Extraction | ExtractionFailed
"""What came of asking; a failure's usage is that of all attempts."""


@dataclass(kw_only=True, slots=True)
class SessionAnswers:
    """What came of asking about one session so far.

    Attributes:
        whole: what came of asking about it as a whole: a failure, or nothing was asked.
        of_turns: what came of asking about single turns, by their ids.
    """

    whole: ExtractionFailed | None = None
    of_turns: dict[UUID, Answer] = field(default_factory=dict)

    def add(self, turn: Turn, answer: Answer) -> None:
        """Keep what came of asking about a turn."""
        self.of_turns[turn.turn_id] = (
            answer if isinstance(answer, ExtractionFailed) else _of_turn(turn, answer)
        )

    def failed(self, turns: Sequence[Turn]) -> tuple[UUID, ...]:
        """Return those of the session's turns for which no answer could be had."""
        return tuple(
            turn.turn_id
            for turn in turns
            if isinstance(self.of_turns[turn.turn_id], ExtractionFailed)
        )

    def together(self, turns: Sequence[Turn]) -> Extraction:
        """Return the answers as one, with what everything cost, failures included.

        Args:
            turns: the session's turns, each asked about. What was answered for one that was
                forgotten since is left out.

        Raises:
            ExtractionFailed: there is no answer for any turn.
        """
        found = [self.of_turns[turn.turn_id] for turn in turns]
        answers = [one for one in found if isinstance(one, Extraction)]
        usage = sum((one.usage for one in self._asked()), Usage())
        stop_reasons = tuple(reason for one in self._asked() for reason in one.stop_reasons)
        if not answers:
            *_, failure = (one for one in found if isinstance(one, ExtractionFailed))
            failure.usage, failure.stop_reasons = usage, stop_reasons
            raise failure
        invalid: list[InvalidItem] = []
        place = 0
        for answer in answers:
            invalid += (
                item.model_copy(update={"position": place + item.position})
                for item in answer.invalid
            )
            place += len(answer.operations) + len(answer.invalid)
        skipped = {answer.skipped for answer in answers}
        return Extraction(
            operations=tuple(operation for answer in answers for operation in answer.operations),
            invalid=tuple(invalid),
            usage=usage,
            stop_reasons=stop_reasons,
            skipped=skipped.pop() if len(skipped) == 1 else None,
        )

    def _asked(self) -> Iterator[Answer]:
        if self.whole is not None:
            yield self.whole
        yield from self.of_turns.values()


class Unfinished:
    """The answers for sessions that have no proposal yet, by the ids of the records that end them.

    A session that is given up on the way, such as one whose partition went to another worker, is
    forgotten once ``SESSIONS_MAX`` younger ones are kept.
    """

    def __init__(self) -> None:
        self._kept: dict[UUID, SessionAnswers] = {}

    def of(self, record_id: UUID) -> SessionAnswers:
        """Return what is kept for a session, to be added to."""
        answers = self._kept.pop(record_id, None) or SessionAnswers()
        self._kept[record_id] = answers
        if len(self._kept) > SESSIONS_MAX:
            del self._kept[next(iter(self._kept))]
        return answers

    def forget(self, record_id: UUID) -> None:
        """Keep the answers for a session no longer."""
        self._kept.pop(record_id, None)


def _of_turn(turn: Turn, extraction: Extraction) -> Extraction:
    """Return an answer whose operations say of which turn of a session they are."""
    operations = tuple(
        operation.model_copy(update={"turn_id": turn.turn_id})
        for operation in extraction.operations
    )
    return replace(extraction, operations=operations)
