"""What an importer makes of a file, and the interface it does so by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import BinaryIO, Protocol


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedTurn:
    """One turn of an export: a user's message and what the assistant answered to it.

    Attributes:
        client_turn_id: follows from the export alone and never from the file or the turn's place
            in it, so that the same turn in a later export is the same turn.
        place: where in the file it stands, for people, such as ``line 17``.
        user_text: what the user said.
        assistant_text: what the assistant answered up to the user's next message, or ``None``.
        occurred_at: when the user said it, in UTC; ``None`` counts as the time of the import.
        utc_offset_minutes: the zone it was said in, in minutes east of UTC; 0 where untold.
        note: how it was read, where that is worth telling if it is appended; or ``None``.
    """

    client_turn_id: str
    place: str
    user_text: str
    assistant_text: str | None
    occurred_at: datetime | None
    utc_offset_minutes: int = 0
    note: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversation:
    """One conversation of an export, or a part of one.

    Attributes:
        conversation_id: the export's own id.
        title: what it is called, if it is.
        turns: its turns, in order.
        place: where in the file it stands, for people.
        user_id: whose it is, where the export names users; ``None`` for the user the import is
            for. It wins over that user.
        account: the vendor's account that it belongs to, where the export tells. The user the
            import is for may stand for one account, never for several.
        left_out: how many messages or parts were left out, by reason.
        notes: how often something was read in a way worth telling, by what it was, beside what
            its turns note.
    """

    conversation_id: str
    title: str | None
    turns: tuple[ImportedTurn, ...]
    place: str
    user_id: str | None = None
    account: str | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Unreadable:
    """A part of an export that could not be read; the parts around it were.

    Attributes:
        place: where in the file, such as ``conversation 3`` or ``line 17``.
        reason: what is wrong with it.
        conversation_id: the export's own id, where it could be read.
    """

    place: str
    reason: str
    conversation_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PassedOver:
    """A part of an export that holds no conversation, such as a picture beside the chats.

    Attributes:
        place: where, such as ``file user.json``.
        reason: why it is not read.
    """

    place: str
    reason: str


Part = Conversation | Unreadable | PassedOver


class Importer(Protocol):
    """Reads one format of export."""

    @property
    def name(self) -> str:
        """What ``--format`` calls it."""
        ...

    @property
    def title(self) -> str:
        """What it is, for people, in a few words."""
        ...

    @property
    def names_users(self) -> bool:
        """Whether the format can say whose a conversation is."""
        ...

    def recognises(self, head: bytes) -> bool:
        """Whether a file that begins with ``head`` is of this format.

        It is UTF-8; a byte order mark is cut off already.
        """
        ...

    def parts(self, stream: BinaryIO, *, now: datetime) -> Iterator[Part]:
        """Yield what the file holds, in its order and in bounded memory.

        Args:
            stream: the file in UTF-8, behind its byte order mark; it is read once, forwards.
            now: the current time, aware; what lies in the future is refused.

        Raises:
            InvalidInput: the file as a whole cannot be of this format.
        """
        ...
