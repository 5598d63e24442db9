"""Reading an export into turns that may be appended; everything else is counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from producers.importers.formats import Choice
from producers.importers.inflating import SourceBroken
from producers.importers.records import Conversation, ImportedTurn, Part, PassedOver, Unreadable
from producers.importers.report import ReportBuilder, Tally
from producers.importers.sources import Export, Member
from producers.turns_input import TurnInput, clean_turn
from schemas.errors import InvalidInput


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A turn that may be appended.

    Attributes:
        turn: as it is appended.
        read: as it was read.
        tally: counts what becomes of it.
    """

    turn: TurnInput
    read: ImportedTurn
    tally: Tally


class Owner:
    """Whose conversations a file's are, where it does not name users itself.

    Attributes:
        user_id: the user the import is for; ``None`` where none was named.
    """

    def __init__(self, user_id: str | None) -> None:
        self.user_id = user_id
        self._account: str | None = None

    def of(self, part: Conversation) -> str | None:
        """Return whose a conversation is, or ``None`` where nobody tells.

        Raises:
            InvalidInput: it belongs to another account than those before it, so that one user
                would be given what several people said.
        """
        if part.user_id is not None:
            return part.user_id
        if self.user_id is None:
            return part.account
        if part.account is not None:
            self._account = self._account or part.account
            if part.account != self._account:
                raise InvalidInput(
                    field="user",
                    problem="the file holds conversations of several accounts, and this is of "
                    "another one than the first",
                    remedy="import without --user: each account is a user of its own then",
                )
        return self.user_id


def drafts_of(
    export: Export, choice: Choice, owner: Owner, builder: ReportBuilder, *, now: datetime
) -> Iterator[Draft]:
    """Yield the turns of an export that may be appended; note everything else.

    Args:
        export: the file.
        choice: what is read of it.
        owner: whose the conversations are.
        builder: counts.
        now: the current time, aware.

    Raises:
        InvalidInput: a file that is no archive cannot be of the format.
    """
    for member, reason in choice.broken:
        builder.note_unreadable(Unreadable(place=f"file {member.name}", reason=reason))
    for member, kind in choice.passed_over:
        builder.note_passed_over(PassedOver(place=f"file {member.name}", reason=f"is {kind}"))
    for member in choice.members:
        for part in _parts(export, choice, member, now=now):
            builder.note_read(export.position)
            if isinstance(part, Unreadable):
                builder.note_unreadable(part)
            elif isinstance(part, PassedOver):
                builder.note_passed_over(part)
            else:
                yield from _drafts(part, owner, builder)


def _parts(export: Export, choice: Choice, member: Member, *, now: datetime) -> Iterator[Part]:
    """Yield the parts of one file; where it breaks off, the last one says so."""
    try:
        with export.open(member) as stream:
            yield from choice.importer.parts(stream, now=now)
    except SourceBroken as error:
        place = "the file" if member.name is None else f"file {member.name}"
        yield Unreadable(place=place, reason=f"breaks off here: {error}")
    except InvalidInput as error:
        # One file of an archive costs none of the others; a file that is alone is the import.
        if member.name is None:
            raise
        yield Unreadable(place=f"file {member.name}", reason=str(error))


def _drafts(part: Conversation, owner: Owner, builder: ReportBuilder) -> Iterator[Draft]:
    try:
        user_id = owner.of(part)
    except InvalidInput as error:
        builder.note_unreadable(
            Unreadable(place=part.place, reason=str(error), conversation_id=part.conversation_id)
        )
        return
    tally = builder.conversation(user_id, part)
    for turn in part.turns:
        try:
            cleaned = _checked(part, turn, user_id)
        except InvalidInput as error:
            builder.note_refused(tally, turn, str(error))
        else:
            yield Draft(turn=cleaned, read=turn, tally=tally)


def _checked(part: Conversation, turn: ImportedTurn, user_id: str | None) -> TurnInput:
    if user_id is None:
        raise InvalidInput(
            field="user_id",
            problem="is missing, and nothing in the file tells whose this is",
            remedy="put it there, or name the user with --user",
        )
    return clean_turn(
        user_id=user_id,
        conversation_id=part.conversation_id,
        user_text=turn.user_text,
        assistant_text=turn.assistant_text,
        turn_id=turn.client_turn_id,
        occurred_at=turn.occurred_at,
        utc_offset_minutes=turn.utc_offset_minutes,
    )
