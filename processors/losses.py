"""What goes with a record that is given up: what asking cost, and the turns that waited for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from processors.extraction import ExtractorCrashed
from schemas.errors import ExtractionFailed
from schemas.proposals import Usage
from schemas.records import Closing, Settled


@dataclass(frozen=True, kw_only=True, slots=True)
class Loss:
    """What goes with a record.

    Attributes:
        usage: what asking the extractor cost all the same.
        settled: the deferred turns that close with it, and how.
    """

    usage: Usage = field(default_factory=Usage)
    settled: tuple[Settled, ...] = ()


NO_LOSS: Final = Loss()


class SessionGivenUp(ExtractionFailed):
    """The extractor gave no usable answer for a session: its turns are dead letters with its end.

    Attributes:
        original: what went wrong.
        settled: how each turn that waited closes.
    """

    def __init__(self, original: ExtractionFailed, settled: Iterable[Settled]) -> None:
        super().__init__(str(original), usage=original.usage, stop_reasons=original.stop_reasons)
        self.original = original
        self.settled = given_up(settled)


def given_up(settled: Iterable[Settled]) -> tuple[Settled, ...]:
    """Return deferred turns as dead letters; one that is erased stays erased."""
    return tuple(
        turn
        if turn.closing is Closing.ERASED
        else turn.model_copy(update={"closing": Closing.DEAD_LETTERED})
        for turn in settled
    )


def loss_of(error: BaseException) -> Loss:
    """Return what goes with a record that is given up for ``error``."""
    if not isinstance(error, ExtractionFailed):
        return NO_LOSS
    settled = error.settled if isinstance(error, SessionGivenUp) else ()
    return Loss(usage=error.usage, settled=settled)


def named_error(error: BaseException) -> BaseException:
    """Return the error by whose class a dead letter is known: what an extractor raised itself."""
    if isinstance(error, SessionGivenUp):
        return named_error(error.original)
    return error.original if isinstance(error, ExtractorCrashed) else error
