"""What became of every turn of an imported file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from producers.importers.records import Conversation, Unreadable


@dataclass(frozen=True, kw_only=True, slots=True)
class RefusedTurn:
    """A turn that could not be imported.

    Attributes:
        turn_id: its id in the export.
        reason: what is wrong with it and what to do.
    """

    turn_id: str
    reason: str


@dataclass(kw_only=True, slots=True)
class ConversationReport:
    """What became of one conversation's turns.

    Attributes:
        user_id: whose it is; ``None`` where nobody told, so that every turn was refused.
        conversation_id: the export's own id.
        title: what it is called, if it is.
        accepted: how many were appended.
        already_there: how many the ledger held before.
        repeated: how many came a second time within the file.
        refused: those that could not be.
        left_out: how many messages or parts are not turns to import, by reason.
        notes: how often something was read in a way worth telling, by what it was.
    """

    user_id: str | None
    conversation_id: str
    title: str | None
    accepted: int = 0
    already_there: int = 0
    repeated: int = 0
    refused: list[RefusedTurn] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportReport:
    """What became of a file.

    Attributes:
        format: the format it was read as.
        conversations: one report for each conversation, in the order of the file.
        unreadable: what could not be read at all.
    """

    format: str
    conversations: tuple[ConversationReport, ...]
    unreadable: tuple[Unreadable, ...]

    @property
    def accepted(self) -> int:
        """How many turns were appended."""
        return sum(conversation.accepted for conversation in self.conversations)

    @property
    def already_there(self) -> int:
        """How many turns the ledger held before."""
        return sum(conversation.already_there for conversation in self.conversations)

    @property
    def repeated(self) -> int:
        """How many turns came a second time within the file."""
        return sum(conversation.repeated for conversation in self.conversations)

    @property
    def refused(self) -> int:
        """How many turns could not be imported."""
        return sum(len(conversation.refused) for conversation in self.conversations)

    @property
    def left_out(self) -> dict[str, int]:
        """How many messages or parts were left out, by reason."""
        total: Counter[str] = Counter()
        for conversation in self.conversations:
            total.update(conversation.left_out)
        return dict(total)


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportProgress:
    """How far an import has come.

    Attributes:
        accepted: turns appended.
        already_there: turns that the ledger held before.
        refused: turns that could not be imported.
        unreadable: parts of the file that could not be read.
        bytes_read: how much of the file was read.
    """

    accepted: int
    already_there: int
    refused: int
    unreadable: int
    bytes_read: int


class ReportBuilder:
    """Collects what becomes of a file's turns, by user and conversation."""

    def __init__(self, format_name: str) -> None:
        self._format = format_name
        self._conversations: dict[tuple[str | None, str], ConversationReport] = {}
        self._unreadable: list[Unreadable] = []
        # Kept as they grow: a sum over every conversation for each batch would be quadratic.
        self._accepted = 0
        self._already_there = 0
        self._refused = 0
        self._bytes_read = 0

    def note_read(self, position: int) -> None:
        """Note up to which byte the file was read."""
        self._bytes_read = position

    def note_unreadable(self, part: Unreadable) -> None:
        """Note a part of the file that could not be read."""
        self._unreadable.append(part)

    def conversation(self, user_id: str | None, read: Conversation) -> ConversationReport:
        """Return the report of a conversation, with what was read of it added."""
        report = self._conversations.setdefault(
            (user_id, read.conversation_id),
            ConversationReport(
                user_id=user_id, conversation_id=read.conversation_id, title=read.title
            ),
        )
        report.left_out.update(read.left_out)
        report.notes.update(read.notes)
        return report

    def note_accepted(self, report: ConversationReport) -> None:
        """Note that a turn of a conversation was appended."""
        report.accepted += 1
        self._accepted += 1

    def note_already_there(self, report: ConversationReport) -> None:
        """Note that the ledger held a turn of a conversation before."""
        report.already_there += 1
        self._already_there += 1

    def note_refused(self, report: ConversationReport, turn: RefusedTurn) -> None:
        """Note that a turn of a conversation could not be imported."""
        report.refused.append(turn)
        self._refused += 1

    def progress(self) -> ImportProgress:
        """Return the sums so far."""
        return ImportProgress(
            accepted=self._accepted,
            already_there=self._already_there,
            refused=self._refused,
            unreadable=len(self._unreadable),
            bytes_read=self._bytes_read,
        )

    def report(self) -> ImportReport:
        """Return what became of the file so far."""
        return ImportReport(
            format=self._format,
            conversations=tuple(self._conversations.values()),
            unreadable=tuple(self._unreadable),
        )
