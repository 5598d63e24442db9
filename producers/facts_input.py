"""What is to be remembered outside of any turn, checked against the policy at the door."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

from pydantic import Field

from producers.bodies import MOMENT, Body, read_body
from schemas import text
from schemas.errors import InvalidInput
from schemas.memory import ABOUT_USER, CONTENT_CHARACTERS_MAX, MemoryKind, Provenance, Source
from schemas.slots import Slot

IMPORTANCE_DEFAULT: Final = 3
"""Neither trivia nor safety, in the middle of a memory's 1 to 5."""

EXPIRY_YEARS_MAX: Final = 100
"""How many years ahead a fact may cease by itself; what lasts longer needs no end."""

NAME_CHARACTERS_MAX: Final = 64
"""The most characters of the name of a system, or of a sort of fact."""

_NAME: Final = re.compile(rf"[^\W_](?:[\w.:-]{{0,{NAME_CHARACTERS_MAX - 1}}})")
"""What a program names: no blanks, so that it holds no sentence. It is shown beside a memory."""

_SOURCES_REFUSED: Final[Mapping[str, str]] = {
    Source.USER: "what a user said goes to POST /v1/turns, which keeps the words as evidence",
    Source.CURATION: "what a person states is sent as 'person'",
    Source.ASSISTANT: "what an assistant said goes to POST /v1/turns, as assistant_text",
}


class ProvenanceBody(Body):
    """Where a fact comes from."""

    system: Annotated[
        str,
        Field(
            description="The system that knows it, such as orders: letters, digits and ._:-, at "
            f"most {NAME_CHARACTERS_MAX}, a letter or digit first."
        ),
    ]
    type: Annotated[
        str, Field(description="What sort of fact it is there, such as order_late: likewise.")
    ]
    reference: Annotated[
        str | None, Field(description="The system's own name for it, such as an order's number.")
    ] = None


PERSON: Final = "person"
"""The source of what a person states outside of any turn."""


class FactBody(Body):
    """What is to be remembered outside of any turn as JSON."""

    user_id: Annotated[
        str, Field(description="Of whom it is known: any text of 1 to 512 characters, opaque.")
    ]
    content: Annotated[
        str,
        Field(
            description="The fact as a sentence, not blank, in the user's language; at most "
            f"{CONTENT_CHARACTERS_MAX} characters."
        ),
    ]
    kind: Annotated[
        MemoryKind,
        Field(
            strict=False,
            description="semantic: a fact that holds until it is changed; episodic: what happened "
            "at one time; procedural: how the assistant should behave.",
        ),
    ]
    slot: Annotated[
        Slot, Field(strict=False, description="The attribute that it states, from the fixed list.")
    ]
    source: Annotated[
        str,
        Field(
            description="Who vouches for it: system, one of your own systems; or person, somebody "
            "who decides that it be remembered, which outranks whatever a model proposes.",
            json_schema_extra={"enum": [Source.SYSTEM.value, PERSON]},
        ),
    ]
    provenance: Annotated[
        ProvenanceBody | None,
        Field(description="Where it comes from; of source system it must be there, of no other."),
    ] = None
    about: Annotated[str, Field(description="user, or the name or relation of whom it speaks.")] = (
        ABOUT_USER
    )
    importance: Annotated[int, Field(ge=1, le=5, description="1 (trivia) to 5 (safety).")] = (
        IMPORTANCE_DEFAULT
    )
    valid_from: Annotated[
        str | None,
        Field(
            description="Since when it is true, ISO 8601 with a zone; without it, now.",
            json_schema_extra=MOMENT,
        ),
    ] = None
    expires_at: Annotated[
        str | None,
        Field(
            description="When it ceases by itself, ISO 8601 with a zone, later than valid_from and "
            f"at most {EXPIRY_YEARS_MAX} years from now; without it, as its kind says.",
            json_schema_extra=MOMENT,
        ),
    ] = None
    id: Annotated[
        str | None,
        Field(
            description="The system's own id of this message, unique for the user and the system, "
            "or yours of the person's decision, unique for the user: sent again, it counts once. "
            "Without it, or an Idempotency-Key, every request is a new one."
        ),
    ] = None
    pinned: Annotated[
        bool,
        Field(description="Whether to serve it whatever is asked; of source person alone."),
    ] = False
    actor: Annotated[
        str | None,
        Field(
            description="Who decided, as you name them: 1 to 512 characters; of source person "
            "alone, and without it the id of the API key."
        ),
    ] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class FactInput:
    """A fact that may be appended: every field is within the policy.

    Attributes:
        user_id: of whom it is known, in normal form C.
        content, kind, slot, about, importance: as in a memory.
        provenance: the system that it comes from.
        valid_from: since when it is true, in UTC; ``None`` for the time of the append.
        expires_at: when it ceases by itself, in UTC, or ``None``.
        client_id: the system's own id of the message; ``None`` for a fact that counts anew each
            time it is sent.
    """

    user_id: str
    content: str
    kind: MemoryKind
    slot: Slot
    about: str
    importance: int
    provenance: Provenance
    valid_from: datetime | None = None
    expires_at: datetime | None = None
    client_id: str | None = None


def read_fact(body: object, *, now: datetime) -> FactInput:
    """Return the fact that decoded JSON describes.

    Args:
        body: any JSON value.
        now: the current time, aware.

    Raises:
        InvalidInput: a field is missing, unknown, there twice, of the wrong type or against the
            policy; or the fact is not vouched for by a system.
        InputTooLarge: a field is above its limit.
    """
    return fact_of(read_body(body, FactBody, whole="body"), now=now)


def fact_of(fields: FactBody, *, now: datetime) -> FactInput:
    """Return the fact of a system that the fields of a body describe.

    Raises:
        InvalidInput, InputTooLarge: as for :func:`read_fact`.
    """
    _require_system(fields.source)
    if fields.provenance is None:
        raise InvalidInput(
            field="provenance",
            problem="is missing",
            remedy="send the system and the type of the fact",
        )
    for name, told in (("pinned", fields.pinned), ("actor", fields.actor is not None)):
        if told:
            raise InvalidInput(
                field=name,
                problem="is a person's alone",
                remedy="leave it out, or send source 'person'",
            )
    valid_from = read_valid_from(fields.valid_from, now=now)
    return clean_fact(
        user_id=fields.user_id,
        content=fields.content,
        kind=fields.kind,
        slot=fields.slot,
        about=fields.about,
        importance=fields.importance,
        system=fields.provenance.system,
        type_=fields.provenance.type,
        reference=fields.provenance.reference,
        valid_from=valid_from,
        expires_at=read_expiry(fields.expires_at, valid_from or now, now=now),
        client_id=fields.id,
    )


def clean_fact(
    *,
    user_id: str,
    content: str,
    kind: MemoryKind,
    slot: Slot,
    about: str,
    importance: int,
    system: str,
    type_: str,
    reference: str | None,
    valid_from: datetime | None,
    expires_at: datetime | None,
    client_id: str | None,
) -> FactInput:
    """Return a fact whose texts and ids were brought into normal form; the rest is taken as read.

    It takes names and no :class:`FactInput`, since a provenance of blank ones cannot be made: what
    is wrong with them is told here.

    Raises:
        InvalidInput: a text or an id is against the policy.
        InputTooLarge: one of them is above its limit.
    """
    return FactInput(
        user_id=text.clean_user_id(user_id),
        content=text.clean_text("content", content, max_characters=CONTENT_CHARACTERS_MAX),
        kind=kind,
        slot=slot,
        about=text.clean_identifier("about", about),
        importance=importance,
        provenance=Provenance(
            system=_short_name("provenance.system", system),
            type=_short_name("provenance.type", type_),
            reference=optional_identifier("provenance.reference", reference),
        ),
        valid_from=valid_from,
        expires_at=expires_at,
        client_id=optional_identifier("id", client_id),
    )


def _require_system(source: str) -> None:
    if source == Source.SYSTEM:
        return
    why = _SOURCES_REFUSED.get(source)
    raise InvalidInput(
        field="source",
        problem="is not taken here" if why else "is none of its values",
        remedy="send 'system', for a fact that one of your own systems vouches for, or 'person'"
        + (f"; {why}" if why else ""),
    )


def read_valid_from(value: str | None, *, now: datetime) -> datetime | None:
    """Return since when something is true, if it is told.

    Raises:
        InvalidInput: it is no time, or one of the future.
    """
    return None if value is None else text.parse_moment("valid_from", value, now=now)[0]


def read_expiry(value: str | None, valid_from: datetime, *, now: datetime) -> datetime | None:
    """Return when something ceases by itself, if it is told.

    Raises:
        InvalidInput: it is no time, or not one after ``valid_from`` and within bounds.
    """
    if value is None:
        return None
    moment = text.read_iso_8601("expires_at", value)
    if moment.utcoffset() is None:
        raise InvalidInput(
            field="expires_at",
            problem="names no time zone",
            remedy="append Z for UTC or an offset such as +01:00",
        )
    # Compared before conversion, which overflows at either end of the calendar.
    if moment <= valid_from:
        raise InvalidInput(
            field="expires_at",
            problem="lies before the fact becomes true",
            remedy="send a time after valid_from, which is now where it is left out",
        )
    if moment > now + timedelta(days=366 * EXPIRY_YEARS_MAX):
        raise InvalidInput(
            field="expires_at",
            problem=f"lies more than {EXPIRY_YEARS_MAX} years in the future",
            remedy="leave it out for what does not cease by itself",
        )
    return moment.astimezone(UTC)


def optional_identifier(field: str, value: str | None) -> str | None:
    """Return an identifier in normal form, where there is one."""
    return None if value is None else text.clean_identifier(field, value)


def _short_name(field: str, value: str) -> str:
    name = text.clean_identifier(field, value)
    if _NAME.fullmatch(name) is None:
        raise InvalidInput(
            field=field,
            problem=f"is no short name of at most {NAME_CHARACTERS_MAX} letters, digits, dots, "
            "underscores, colons and hyphens",
            remedy="send a name without blanks, such as order_late, a letter or digit first; "
            "put the rest into content",
        )
    return name
