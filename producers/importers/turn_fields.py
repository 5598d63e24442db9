"""The fields of a turn that is written down alone: a line of JSON, a row of a table.

A turn is ``{user_id?, conversation_id, user_text, assistant_text?, turn_id?, occurred_at?}``, where
``occurred_at`` is an ISO 8601 time with its zone or a number of seconds (or milliseconds) since
1970. A ``user_id`` of its own wins over the user that the import is for.

A turn without ``turn_id`` gets one that follows from its conversation, its texts and its time, and
from how many of the same conversation said the very same before it: so a file that is imported
again adds nothing, wherever its turns have moved to. One that was edited is another turn.
"""

from __future__ import annotations

from datetime import datetime

from producers.bodies import Body, read_body
from producers.importers.left_out import Note
from producers.importers.records import Conversation, ImportedTurn
from producers.importers.stable_ids import StableIds
from schemas import text


class TurnFields(Body):
    """A turn as it is written down."""

    conversation_id: str
    user_text: str
    user_id: str | None = None
    assistant_text: str | None = None
    turn_id: str | None = None
    occurred_at: str | int | float | None = None


def conversation_of(body: object, place: str, ids: StableIds, *, now: datetime) -> Conversation:
    """Return the part of a conversation that one turn is.

    Args:
        body: any JSON value.
        place: where in the file it stands.
        ids: hands out ids to turns without one.
        now: the current time, aware.

    Raises:
        InvalidInput: a field is missing, unknown, there twice or of the wrong type, or the time
            cannot be used.
    """
    fields = read_body(body, TurnFields, whole="turn")
    occurred_at, offset = _moment(fields.occurred_at, now=now)
    turn = ImportedTurn(
        client_turn_id=fields.turn_id
        if fields.turn_id is not None
        else _id_of(fields, occurred_at, ids),
        place=place,
        user_text=fields.user_text,
        assistant_text=fields.assistant_text,
        occurred_at=occurred_at,
        utc_offset_minutes=offset,
        note=Note.TIME_UNTOLD if occurred_at is None else None,
    )
    return Conversation(
        conversation_id=fields.conversation_id,
        title=None,
        place=place,
        turns=(turn,),
        user_id=fields.user_id,
    )


def _moment(value: str | float | None, *, now: datetime) -> tuple[datetime | None, int]:
    if value is None:
        return None, 0
    if isinstance(value, str):
        return text.parse_moment("occurred_at", value, now=now)
    return text.parse_epoch("occurred_at", value, now=now), 0


def _id_of(fields: TurnFields, occurred_at: datetime | None, ids: StableIds) -> str:
    return ids.next_id(
        fields.conversation_id,
        fields.user_text,
        fields.assistant_text or "",
        "" if occurred_at is None else occurred_at.isoformat(),
        # Users may share a conversation id, so each counts for itself.
        owner=fields.user_id or "",
    )
