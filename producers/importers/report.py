"""What became of a file, in bounded memory: totals of everything, and the first of each kind."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from producers.importers.recent import Recent
from producers.importers.records import Conversation, ImportedTurn, PassedOver, Unreadable
from producers.importers.stable_ids import digest_of

CONVERSATIONS_KEPT_MAX: Final = 1_000
"""How many conversations have a row of their own; the others are in the totals."""

REFUSALS_KEPT_MAX: Final = 200
"""How many refused turns, unreadable parts and files passed over are named, of each; the others are
counted."""

_COUNTED_APART_MAX: Final = 100_000
_SHOWN_CHARACTERS_MAX: Final = 200

Item = TypeVar("Item")


@dataclass(kw_only=True, slots=True)
class Kept(Generic[Item]):
    """The first of many, and how many there were.

    Attributes:
        first: the first of them.
        total: how many there were.
    """

    first: list[Item] = field(default_factory=list)
    total: int = 0

    def add(self, item: Item, kept_max: int) -> None:
        """Count an item, and keep it where it is one of the first."""
        self.total += 1
        if len(self.first) < kept_max:
            self.first.append(item)

    @property
    def more(self) -> int:
        """How many are counted only."""
        return self.total - len(self.first)


@dataclass(frozen=True, kw_only=True, slots=True)
class RefusedTurn:
    """A turn that could not be imported.

    Attributes:
        place: where in the file it stands, for people.
        turn_id: its id in the export, shortened where it is long.
        reason: what is wrong with it and what to do.
    """

    place: str
    turn_id: str
    reason: str


@dataclass(kw_only=True, slots=True)
class Tally:
    """What became of some turns.

    Attributes:
        accepted: how many were appended, or would be in a dry run.
        already_there: how many the ledger held before.
        repeated: how many came a second time within the file.
        refused: how many could not be imported.
        withheld: how many were left alone, since their user has paused memory.
        left_out: how many messages or parts are not turns to import, by reason.
        notes: how often something was read in a way worth telling, by what it was; of turns, those
            that were appended.
    """

    accepted: int = 0
    already_there: int = 0
    repeated: int = 0
    refused: int = 0
    withheld: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)


@dataclass(kw_only=True, slots=True)
class ConversationReport(Tally):
    """What became of one conversation's turns.

    Attributes:
        user_id: whose it is; ``None`` where nobody told, so that every turn was refused.
        conversation_id: the export's own id, shortened where it is long.
        title: what it is called, if it is, shortened likewise.
    """

    user_id: str | None
    conversation_id: str
    title: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportReport:
    """What became of a file.

    Attributes:
        format: the format it was read as.
        totals: what became of all its turns.
        conversations: a row for each of the first conversations, in the order of the file. One
            that comes again after 100,000 others counts again.
        refused: the turns that could not be imported.
        unreadable: what could not be read at all.
        passed_over: files of an archive that hold no conversations.
    """

    format: str
    totals: Tally
    conversations: Kept[ConversationReport]
    refused: Kept[RefusedTurn]
    unreadable: Kept[Unreadable]
    passed_over: Kept[PassedOver]


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
        self._report = ImportReport(
            format=format_name,
            totals=Tally(),
            conversations=Kept(),
            refused=Kept(),
            unreadable=Kept(),
            passed_over=Kept(),
        )
        self._rows: dict[bytes, ConversationReport] = {}
        self._counted: Recent[int] = Recent(_COUNTED_APART_MAX)
        self._bytes_read = 0

    def note_read(self, position: int) -> None:
        """Note up to which byte the file was read."""
        self._bytes_read = max(self._bytes_read, position)

    def note_unreadable(self, part: Unreadable) -> None:
        """Note a part of the file that could not be read."""
        shortened = Unreadable(
            place=_shown(part.place),
            reason=part.reason,
            conversation_id=None if part.conversation_id is None else _shown(part.conversation_id),
        )
        self._report.unreadable.add(shortened, REFUSALS_KEPT_MAX)

    def note_passed_over(self, part: PassedOver) -> None:
        """Note a part of the file that holds no conversation."""
        shortened = PassedOver(place=_shown(part.place), reason=part.reason)
        self._report.passed_over.add(shortened, REFUSALS_KEPT_MAX)

    def conversation(self, user_id: str | None, read: Conversation) -> Tally:
        """Return what counts a conversation's turns, with what was read of it added.

        It is handed back with each of them.
        """
        key = digest_of(user_id or "", read.conversation_id)
        tally: Tally | None = self._rows.get(key)
        if tally is None:
            tally = self._begin(key, user_id, read)
        for counted in self._both(tally):
            counted.left_out.update(read.left_out)
            counted.notes.update(read.notes)
        return tally

    def note_accepted(self, tally: Tally, turn: ImportedTurn) -> None:
        """Note that a turn of a conversation was appended."""
        for counted in self._both(tally):
            counted.accepted += 1
            if turn.note is not None:
                counted.notes[turn.note] += 1

    def note_already_there(self, tally: Tally) -> None:
        """Note that the ledger held a turn of a conversation before."""
        for counted in self._both(tally):
            counted.already_there += 1

    def note_withheld(self, tally: Tally) -> None:
        """Note that a turn of a conversation was left alone, since its user has paused memory."""
        for counted in self._both(tally):
            counted.withheld += 1

    def note_repeated(self, tally: Tally) -> None:
        """Note that a turn of a conversation came before in this file."""
        for counted in self._both(tally):
            counted.repeated += 1

    def note_refused(self, tally: Tally, turn: ImportedTurn, reason: str) -> None:
        """Note that a turn of a conversation could not be imported."""
        for counted in self._both(tally):
            counted.refused += 1
        refused = RefusedTurn(
            place=_shown(turn.place), turn_id=_shown(turn.client_turn_id), reason=reason
        )
        self._report.refused.add(refused, REFUSALS_KEPT_MAX)

    def progress(self) -> ImportProgress:
        """Return the sums so far."""
        totals = self._report.totals
        return ImportProgress(
            accepted=totals.accepted,
            already_there=totals.already_there,
            refused=totals.refused,
            unreadable=self._report.unreadable.total,
            bytes_read=self._bytes_read,
        )

    def report(self) -> ImportReport:
        """Return what became of the file so far."""
        return self._report

    def _begin(self, key: bytes, user_id: str | None, read: Conversation) -> Tally:
        conversations = self._report.conversations
        if len(conversations.first) < CONVERSATIONS_KEPT_MAX:
            row = ConversationReport(
                user_id=None if user_id is None else _shown(user_id),
                conversation_id=_shown(read.conversation_id),
                title=None if read.title is None else _shown(read.title),
            )
            self._rows[key] = row
            conversations.add(row, CONVERSATIONS_KEPT_MAX)
            return row
        if self._counted.get(key) is None:
            conversations.total += 1
        self._counted.set(key, 1)
        return self._report.totals

    def _both(self, tally: Tally) -> tuple[Tally, ...]:
        """Return what counts a turn: its conversation's row, where it has one, and the totals."""
        totals = self._report.totals
        return (totals,) if tally is totals else (tally, totals)


def _shown(text: str) -> str:
    """Return a text that a file holds, as long as it can be told."""
    if len(text) <= _SHOWN_CHARACTERS_MAX:
        return text
    return f"{text[:_SHOWN_CHARACTERS_MAX]}… ({len(text):,} characters)"
