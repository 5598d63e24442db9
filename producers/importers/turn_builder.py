"""Making turns of the messages of one conversation, in the order in which they are told.

A turn is a message of the user and what the assistant said up to the user's next message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from itertools import groupby

from producers.importers.left_out import LeftOut, Note
from producers.importers.records import ImportedTurn
from producers.importers.stable_ids import StableIds


class Role(StrEnum):
    """Whose words are imported."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One message of an export, as its format says it.

    Attributes:
        role: who said it; ``None`` where that is not one of the two.
        text: what was said.
        moment: when, in UTC; ``None`` where it is not told.
        name: the export's own id of it; ``None`` where it has none.
        place: where in the file it stands, for people.
        author: whose it is, where the format tells for each message.
        reason: why it is left out whatever it says, or ``None``.
        parts_left_out: how many of its parts are no text.
        attachments_left_out: how many files were sent with it.
    """

    role: Role | None
    text: str = ""
    moment: datetime | None = None
    name: str | None = None
    place: str
    author: str | None = None
    reason: LeftOut | None = None
    parts_left_out: int = 0
    attachments_left_out: int = 0


@dataclass(kw_only=True, slots=True)
class _Draft:
    """A turn to which the assistant may still add."""

    client_turn_id: str
    place: str
    user_text: str
    occurred_at: datetime | None
    author: str | None
    note: Note | None
    answers: list[str] = field(default_factory=list)

    def finished(self) -> ImportedTurn:
        return ImportedTurn(
            client_turn_id=self.client_turn_id,
            place=self.place,
            user_text=self.user_text,
            assistant_text="\n\n".join(self.answers) or None,
            occurred_at=self.occurred_at,
            note=self.note,
        )


class TurnBuilder:
    """Collects turns, and counts what becomes of no turn.

    Attributes:
        left_out: how many messages or parts were left out, by reason.
        notes: how often something was read in a way worth telling, beside what the turns note.
    """

    def __init__(
        self,
        *,
        prefix: str,
        times: Iterable[datetime | None] = (),
        undated: bool = False,
    ) -> None:
        """Begin a conversation.

        Args:
            prefix: begins the id of each of its turns.
            times: the conversation's own times; the first that is told serves messages at its
                beginning which tell none.
            undated: whether a message that no time can be found for is imported all the same, as
                said at the time of the import: in formats that know no times.
        """
        self.left_out: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self._prefix = prefix
        self._ids = StableIds(prefix)
        self._conversation_time = next((moment for moment in times if moment is not None), None)
        self._undated = undated
        self._drafts: list[_Draft] = []
        self._open: _Draft | None = None
        self._last_time: datetime | None = None

    def leave_out(self, reason: LeftOut, count: int = 1) -> None:
        """Count what is not imported."""
        if count:
            self.left_out[reason] += count

    def take(self, message: Message) -> None:
        """Make a message a turn, or a part of one, or count it."""
        before = self._last_time
        self._last_time = message.moment or before
        self.leave_out(LeftOut.NOT_TEXT, message.parts_left_out)
        self.leave_out(LeftOut.ATTACHMENT, message.attachments_left_out)
        if message.role == Role.USER:
            # Also where the message is left out: what follows does not answer the one before.
            self._open = None
        if message.reason is not None:
            self.leave_out(message.reason)
        elif message.role is None:
            self.leave_out(LeftOut.UNKNOWN_ROLE)
        elif not message.text.strip():
            self.leave_out(LeftOut.NO_TEXT)
        elif message.role == Role.USER:
            self._begin(message, before)
        elif self._open is None:
            self.leave_out(LeftOut.NO_QUESTION)
        else:
            self._open.answers.append(message.text)

    def turns(self) -> tuple[ImportedTurn, ...]:
        """Return the turns so far, in order."""
        return tuple(draft.finished() for draft in self._drafts)

    def turns_by_author(self) -> Iterator[tuple[str | None, tuple[ImportedTurn, ...]]]:
        """Yield the turns so far, in order, those of one author that follow each other together."""
        for author, drafts in groupby(self._drafts, key=lambda draft: draft.author):
            yield author, tuple(draft.finished() for draft in drafts)

    def _begin(self, message: Message, before: datetime | None) -> None:
        occurred_at, note = self._time_of(message, before)
        if occurred_at is None and not self._undated:
            self.leave_out(LeftOut.NO_TIME)
            return
        self._open = _Draft(
            client_turn_id=self._id_of(message),
            place=message.place,
            user_text=message.text,
            occurred_at=occurred_at,
            author=message.author,
            note=note,
        )
        self._drafts.append(self._open)

    def _time_of(
        self, message: Message, before: datetime | None
    ) -> tuple[datetime | None, Note | None]:
        if message.moment is not None:
            return message.moment, None
        if before is not None:
            return before, Note.TIME_BEFORE
        if self._conversation_time is not None:
            return self._conversation_time, Note.TIME_CONVERSATION
        return None, Note.TIME_UNTOLD

    def _id_of(self, message: Message) -> str:
        if message.name:
            return f"{self._prefix}:{message.name}"
        moment = "" if message.moment is None else message.moment.isoformat()
        return self._ids.next_id(message.text, moment)
