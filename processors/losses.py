"""What goes with a record that is given up: what asking cost, and the turns that waited for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID

from processors.extraction import ExtractorCrashed
from schemas.errors import ExtractionFailed
from schemas.log.sealed import LogRecord
from schemas.proposals import Usage
from schemas.records import Settled


@dataclass(frozen=True, kw_only=True, slots=True)
class Loss:
    """What goes with a record.

    Attributes:
        extractor, model: who was asked about it; ``None`` where nobody was.
        usage: what asking cost all the same.
        settled: the deferred turns that close with it, and how.
    """

    extractor: str | None = None
    model: str | None = None
    usage: Usage = field(default_factory=Usage)
    settled: tuple[Settled, ...] = ()


NO_LOSS: Final = Loss()


@dataclass(kw_only=True, slots=True)
class AtStake:
    """What would go with a record that is being worked on, as far as it is known.

    It lasts over all tries of the work, so whatever the record is given up for, a bug of our own
    included, what it cost is counted, and no turn waits any longer for what will not come.

    Attributes:
        loss: what would go with it.
        failure: that no answer could be had for it; that stands, and nobody is asked again where
            its dead letter cannot be appended at once.
        turns: the records of the deferred turns that would close with it, by their ids.
        kept: the offsets of the records that were kept as dead letters.
    """

    loss: Loss = NO_LOSS
    failure: ExtractionFailed | None = None
    turns: Mapping[UUID, LogRecord] = field(default_factory=dict)
    kept: set[int] = field(default_factory=set)

    def asked(self, *, extractor: str, model: str, usage: Usage) -> None:
        """Note who was asked, and what that cost."""
        self.loss = replace(self.loss, extractor=extractor, model=model, usage=usage)

    def waiting(self, settled: Iterable[Settled], turns: Mapping[UUID, LogRecord]) -> None:
        """Note which turns wait for the record, as they close where it is given up."""
        self.loss = replace(self.loss, settled=tuple(settled))
        self.turns = turns


class TurnUnanswered(ExtractionFailed):
    """No usable answer could be had for one turn of a session; the others were decided."""


def named_error(error: BaseException) -> BaseException:
    """Return the error by whose class a dead letter is known: what an extractor raised itself."""
    return error.original if isinstance(error, ExtractorCrashed) else error
