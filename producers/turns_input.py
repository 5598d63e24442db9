"""What a caller sends as one turn, checked against the policy at the door."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final
from uuid import UUID

from pydantic import Field

from producers.bodies import MOMENT, Body, read_body
from schemas import text
from schemas.errors import InputTooLarge, InvalidInput

TEXT_CHARACTERS_MAX: Final = 400_000
"""The most characters of a turn: the user's and the assistant's text together."""

TEXT_BYTES_MAX: Final = 1024 * 1024
"""The most bytes of the same in UTF-8; escaped as JSON and sealed it fits a record of the log."""

TURNS_MAX: Final = 500
"""The most turns of one request or batch."""


class TurnBody(Body):
    """One turn as JSON."""

    user_id: Annotated[
        str, Field(description="Whose turn it is: any text of 1 to 512 characters, opaque.")
    ]
    conversation_id: Annotated[
        str, Field(description="Your id of the conversation, 1 to 512 characters.")
    ]
    user_text: Annotated[str, Field(description="What the user said.")]
    assistant_text: Annotated[
        str | None,
        Field(
            description="What the assistant answered. With user_text at most "
            f"{TEXT_CHARACTERS_MAX} characters and {TEXT_BYTES_MAX} bytes."
        ),
    ] = None
    turn_id: Annotated[
        str | None,
        Field(
            description="Your id of the turn, unique for the user: sent again, the turn counts "
            "once. Without it every request is a new turn, a retry too."
        ),
    ] = None
    occurred_at: Annotated[
        str | None,
        Field(
            description="When it was said, ISO 8601 with a zone; without it, now.",
            json_schema_extra=MOMENT,
        ),
    ] = None
    recall_id: Annotated[
        str | None, Field(description="The recall that was served for this turn.")
    ] = None
    incognito: Annotated[
        bool,
        Field(
            description="Whether it was said in an incognito chat: then nothing of it is appended, "
            "and the answer says so."
        ),
    ] = False


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnInput:
    """One turn that may be appended: every field is within the policy.

    Attributes:
        user_id: whose turn it is, in normal form C.
        conversation_id: the client's id of the conversation.
        user_text: what the user said, not blank.
        assistant_text: what the assistant answered, or ``None``.
        turn_id: the client's id of the turn, unique within the user; ``None`` for a turn that
            counts anew each time it is sent.
        occurred_at: when it was said, in UTC; ``None`` for the time of the append.
        utc_offset_minutes: the zone it was said in, in minutes east of UTC; 0 where untold.
        recall_id: the recall that was served for it.
        incognito: whether it must not be appended.
    """

    user_id: str
    conversation_id: str
    user_text: str
    assistant_text: str | None = None
    turn_id: str | None = None
    occurred_at: datetime | None = None
    utc_offset_minutes: int = 0
    recall_id: UUID | None = None
    incognito: bool = False


def read_turn(body: object, *, now: datetime) -> TurnInput:
    """Return the turn that decoded JSON describes.

    Args:
        body: any JSON value.
        now: the current time, aware.

    Raises:
        InvalidInput: a field is missing, unknown, there twice, of the wrong type or against the
            policy.
        InputTooLarge: a field, or the texts together, are above their limit.
    """
    fields = read_body(body, TurnBody, whole="turn")
    occurred_at, offset = (
        (None, 0)
        if fields.occurred_at is None
        else text.parse_moment("occurred_at", fields.occurred_at, now=now)
    )
    return clean_turn(
        user_id=fields.user_id,
        conversation_id=fields.conversation_id,
        user_text=fields.user_text,
        assistant_text=fields.assistant_text,
        turn_id=fields.turn_id,
        occurred_at=occurred_at,
        utc_offset_minutes=offset,
        recall_id=None if fields.recall_id is None else _recall_id(fields.recall_id),
        incognito=fields.incognito,
    )


def clean_turn(
    *,
    user_id: str,
    conversation_id: str,
    user_text: str,
    assistant_text: str | None,
    turn_id: str | None,
    occurred_at: datetime | None,
    utc_offset_minutes: int = 0,
    recall_id: UUID | None = None,
    incognito: bool = False,
) -> TurnInput:
    """Return a turn whose texts and ids were brought into normal form; times are taken as read.

    Raises:
        InvalidInput: a text or an id is against the policy.
        InputTooLarge: one of them, or the texts together, are above their limit.
    """
    said = text.clean_text("user_text", user_text, max_characters=TEXT_CHARACTERS_MAX)
    answered = (
        None
        if assistant_text is None
        else text.clean_text(
            "assistant_text", assistant_text, max_characters=TEXT_CHARACTERS_MAX, blank=True
        )
    )
    _require_size(said, answered or "")
    return TurnInput(
        user_id=text.clean_user_id(user_id),
        conversation_id=text.clean_identifier("conversation_id", conversation_id),
        user_text=said,
        assistant_text=answered,
        turn_id=None if turn_id is None else text.clean_identifier("turn_id", turn_id),
        occurred_at=occurred_at,
        utc_offset_minutes=utc_offset_minutes,
        recall_id=recall_id,
        incognito=incognito,
    )


def _require_size(said: str, answered: str) -> None:
    characters = len(said) + len(answered)
    if characters > TEXT_CHARACTERS_MAX:
        raise InputTooLarge(
            field="user_text, assistant_text",
            problem=f"have {characters} characters together, the limit is {TEXT_CHARACTERS_MAX}",
            remedy="send the text in several turns",
        )
    # No character has more than 4 bytes in UTF-8, so most turns need not be encoded to know.
    if characters * 4 > TEXT_BYTES_MAX:
        size = len(said.encode()) + len(answered.encode())
        if size > TEXT_BYTES_MAX:
            raise InputTooLarge(
                field="user_text, assistant_text",
                problem=f"have {size} bytes of UTF-8 together, the limit is {TEXT_BYTES_MAX}",
                remedy="send the text in several turns",
            )


def _recall_id(value: str) -> UUID:
    try:
        return UUID(value)
    except ValueError:
        raise InvalidInput(
            field="recall_id",
            problem="is not the id of a recall",
            remedy="send the recall_id that POST /v1/recall returned, or leave it out",
        ) from None
