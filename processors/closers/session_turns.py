"""Reading again the turns that a chat session's end settles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

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
    """

    readable: tuple[WaitingText, ...]
    unreadable: tuple[Settled, ...]

    @property
    def all_lost(self) -> tuple[Settled, ...]:
        """All of them, as they close where nothing is made of the session."""
        lost = (
            Settled(
                turn_id=waiting.turn.turn_id,
                turn_offset=waiting.turn_offset,
                closing=Closing.DEAD_LETTERED,
            )
            for waiting in self.readable
        )
        return (*self.unreadable, *lost)


async def read_session(
    waiting: Sequence[WaitingTurn], *, records: TurnRecords, keys: SubjectKeys, partition: int
) -> SessionTurns:
    """Read the turns of one session, from the first on, as many as fit.

    A record that is gone, or whose key was forgotten, closes as erased.

    Raises:
        LogUnavailable: the broker does not answer.
    """
    readable: list[WaitingText] = []
    unreadable: list[Settled] = []
    room = SESSION_BYTES_MAX
    for start in range(0, len(waiting), _BATCH):
        batch = waiting[start : start + _BATCH]
        found = {
            record.position.offset: record
            for record in await records.read(partition, [turn.turn_offset for turn in batch])
        }
        for turn in batch:
            record = found.get(turn.turn_offset)
            opened = _opened(turn, record, keys)
            if isinstance(opened, Settled):
                unreadable.append(opened)
                continue
            readable.append(opened)
            room -= len(record.value or b"") if record is not None else 0
            if room <= 0:
                return SessionTurns(readable=tuple(readable), unreadable=tuple(unreadable))
    return SessionTurns(readable=tuple(readable), unreadable=tuple(unreadable))


def _opened(
    waiting: WaitingTurn, record: LogRecord | None, keys: SubjectKeys
) -> WaitingText | Settled:
    if record is None or record.value is None:
        return _settled(waiting, Closing.ERASED)
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
