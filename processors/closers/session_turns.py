"""Reading again the turns that a chat session's end settles."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from processors.deciding.occasions import WaitingText
from processors.opened import open_cause
from processors.ports import TurnRecords
from schemas.errors import RecordInvalid, SealBroken
from schemas.keyring import SubjectKeys
from schemas.log.sealed import LogRecord
from schemas.records import Closing, Settled, Turn
from schemas.tree import Punctured
from schemas.waiting import WaitingTurn

_BATCH: Final = 25

SESSION_BYTES_MAX: Final = 4 * 1024 * 1024
"""About how many bytes of turns one end of a session takes; what is beyond waits for the next."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionTurns:
    """What was found of the turns that wait.

    Attributes:
        readable: those that can be read, by offset.
        unreadable: the others, with how they close.
        records: the records of those that can be read, by their ids.
    """

    readable: tuple[WaitingText, ...]
    unreadable: tuple[Settled, ...]
    records: Mapping[UUID, LogRecord]

    @property
    def all_lost(self) -> tuple[Settled, ...]:
        """All of them, as they close where nothing is made of the session."""
        return (*self.unreadable, *map(_text_lost, self.readable))

    def answered(self, failed: Collection[UUID]) -> tuple[WaitingText, ...]:
        """Return the turns that can be decided: those that can be read, save some that failed."""
        return tuple(text for text in self.readable if text.turn.turn_id not in failed)

    def unanswered(self, failed: Collection[UUID]) -> tuple[Settled, ...]:
        """Return the others, some that failed among them, with how they close."""
        lost = (_text_lost(text) for text in self.readable if text.turn.turn_id in failed)
        return (*self.unreadable, *lost)


NO_TURNS: Final = SessionTurns(readable=(), unreadable=(), records={})


@dataclass(frozen=True, kw_only=True, slots=True)
class _Reading:
    """Turns that were read so far."""

    readable: list[WaitingText] = field(default_factory=list)
    unreadable: list[Settled] = field(default_factory=list)
    records: dict[UUID, LogRecord] = field(default_factory=dict)

    def take(self, waiting: WaitingTurn, record: LogRecord | None, keys: SubjectKeys) -> int:
        """Take one turn and return about how many bytes it holds."""
        if record is None or record.value is None:
            self.unreadable.append(_settled(waiting, Closing.ERASED))
            return 0
        opened = _opened(waiting, record, keys)
        if isinstance(opened, Settled):
            self.unreadable.append(opened)
            return 0
        self.readable.append(opened)
        self.records[waiting.turn_id] = record
        return len(record.value)

    def done(self) -> SessionTurns:
        return SessionTurns(
            readable=tuple(self.readable),
            unreadable=tuple(self.unreadable),
            records=self.records,
        )


async def read_session(
    waiting: Sequence[WaitingTurn], *, records: TurnRecords, keys: SubjectKeys, partition: int
) -> SessionTurns:
    """Read the turns of one session, from the first on, as many as fit.

    A record that is gone, or whose key was forgotten, closes as erased.

    Raises:
        LogUnavailable: the broker does not answer.
    """
    reading = _Reading()
    room = SESSION_BYTES_MAX
    for start in range(0, len(waiting), _BATCH):
        batch = waiting[start : start + _BATCH]
        found = {
            record.position.offset: record
            for record in await records.read(partition, [turn.turn_offset for turn in batch])
        }
        for turn in batch:
            room -= reading.take(turn, found.get(turn.turn_offset), keys)
            if room <= 0:
                return reading.done()
    return reading.done()


def lost(waiting: Iterable[WaitingTurn]) -> tuple[Settled, ...]:
    """Return how turns close for which nothing can be done, not even reading them."""
    return tuple(_settled(turn, Closing.DEAD_LETTERED) for turn in waiting)


def _opened(waiting: WaitingTurn, record: LogRecord, keys: SubjectKeys) -> WaitingText | Settled:
    try:
        turn = open_cause(record, record.header(), keys)
    except Punctured:
        return _settled(waiting, Closing.ERASED)
    except (SealBroken, RecordInvalid):
        # It could be read when it was deferred: its bytes have changed since.
        return _settled(waiting, Closing.DEAD_LETTERED)
    if not isinstance(turn, Turn) or turn.turn_id != waiting.turn_id:
        return _settled(waiting, Closing.DEAD_LETTERED)
    return WaitingText(turn=turn, turn_offset=waiting.turn_offset)


def _settled(waiting: WaitingTurn, closing: Closing) -> Settled:
    return Settled(turn_id=waiting.turn_id, turn_offset=waiting.turn_offset, closing=closing)


def _text_lost(text: WaitingText) -> Settled:
    return Settled(
        turn_id=text.turn.turn_id, turn_offset=text.turn_offset, closing=Closing.DEAD_LETTERED
    )
