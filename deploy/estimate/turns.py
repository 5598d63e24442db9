"""The turns of a file that could be imported, by chat session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final
from uuid import uuid4

from producers.importers.destinations import Unappended
from producers.importers.report import ImportReport
from producers.importers.run import import_file
from producers.turns_input import TurnInput
from schemas.clock import utc_now
from schemas.records import Origin, Turn
from schemas.settings import DEFAULT_TENANT

TURNS_MAX: Final = 100_000
"""Most turns that are kept in memory and counted; those behind them are told and left out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadTurns:
    """What a file holds.

    Attributes:
        conversations: the turns by user and conversation, each in the order in which it was said.
        report: what the import reads of it, and what it cannot.
        left_out: how many turns are beyond ``TURNS_MAX``.
    """

    conversations: Sequence[Sequence[Turn]]
    report: ImportReport
    left_out: int

    @property
    def turns(self) -> int:
        """How many turns are counted."""
        return sum(map(len, self.conversations))


class _Kept:
    """Where an import goes that keeps its turns for a look at them."""

    def __init__(self, now: datetime) -> None:
        self.conversations: dict[tuple[str, str], list[Turn]] = {}
        self.left_out = 0
        self._kept = 0
        self._now = now

    async def held(
        self,
        tenant: str,  # noqa: ARG002 - the protocol's
        turns: Sequence[TurnInput],
    ) -> list[bool]:
        """Return that nothing is there."""
        return [False] * len(turns)

    async def append(
        self,
        tenant: str,  # noqa: ARG002 - the protocol's
        turns: Sequence[TurnInput],
    ) -> list[Unappended | None]:
        """Keep turns, and find fault with nothing."""
        for turn in turns:
            if self._kept >= TURNS_MAX:
                self.left_out += 1
                continue
            self._kept += 1
            key = (turn.user_id, turn.conversation_id)
            self.conversations.setdefault(key, []).append(self._as_said(turn))
        return [None] * len(turns)

    def _as_said(self, turn: TurnInput) -> Turn:
        said_at = turn.occurred_at or self._now
        return Turn(
            turn_id=uuid4(),
            conversation_id=turn.conversation_id,
            user_text=turn.user_text,
            assistant_text=turn.assistant_text,
            occurred_at=said_at,
            utc_offset_minutes=turn.utc_offset_minutes,
            received_at=said_at,
            origin=Origin.IMPORT,
        )


async def read_turns(path: Path, *, format_name: str, user: str | None) -> ReadTurns:
    """Return the turns of a file, read as an import reads them. Nothing is appended.

    Raises:
        InvalidInput: the file cannot be read, or a user must be named.
    """
    now = utc_now()
    kept = _Kept(now)
    report = await import_file(
        kept,
        tenant=DEFAULT_TENANT,
        user=user,
        path=path,
        format_name=format_name,
        clock=lambda: now,
    )
    return ReadTurns(
        conversations=[
            sorted(turns, key=lambda turn: turn.occurred_at)
            for turns in kept.conversations.values()
        ],
        report=report,
        left_out=kept.left_out,
    )


def sessions_of(
    conversation: Sequence[Turn], *, idle_s: float, turns_max: int
) -> Iterator[list[Turn]]:
    """Yield the turns of each chat session of a conversation.

    Args:
        conversation: its turns, in order.
        idle_s: after how many seconds without a turn a session is over.
        turns_max: most turns that one end of a session settles.
    """
    session: list[Turn] = []
    for turn in conversation:
        if session:
            quiet_s = (turn.occurred_at - session[-1].occurred_at).total_seconds()
            if quiet_s >= idle_s or len(session) == turns_max:
                yield session
                session = []
        session.append(turn)
    if session:
        yield session
