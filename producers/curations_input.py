"""What a person decides about memories, checked against the policy at the door."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Final

from pydantic import Field

from producers.bodies import Body, read_body
from producers.commands_input import REASON_CHARACTERS_MAX
from producers.facts_input import (
    PERSON,
    FactBody,
    FactInput,
    fact_of,
    optional_identifier,
    read_expiry,
    read_valid_from,
)
from schemas import text
from schemas.errors import InvalidInput
from schemas.memory import CONTENT_CHARACTERS_MAX, MemoryKind
from schemas.slots import Slot

_CHANGES: Final = ("content", "slot", "about", "importance", "kind", "pinned")
_DELETION_FIELDS: Final = ("user_id", "reason", "actor", "id")


class CorrectionBody(Body):
    """What a memory is to be as JSON; what is left out stays as it is."""

    user_id: Annotated[str, Field(description="Whose memory it is.")]
    content: Annotated[
        str | None,
        Field(
            description="What it should have said, not blank; at most "
            f"{CONTENT_CHARACTERS_MAX} characters."
        ),
    ] = None
    slot: Annotated[
        Slot | None, Field(strict=False, description="The attribute that it states.")
    ] = None
    about: Annotated[
        str | None, Field(description="user, or the name or relation of whom it speaks.")
    ] = None
    importance: Annotated[
        int | None, Field(ge=1, le=5, description="1 (trivia) to 5 (safety).")
    ] = None
    kind: Annotated[
        MemoryKind | None,
        Field(strict=False, description="semantic, episodic or procedural."),
    ] = None
    pinned: Annotated[bool | None, Field(description="Whether it is served whatever is asked.")] = (
        None
    )
    reason: Annotated[
        str | None,
        Field(
            description=f"Why, not blank, at most {REASON_CHARACTERS_MAX} characters; it stays in "
            "the log."
        ),
    ] = None
    actor: Annotated[
        str | None,
        Field(
            description="Who decided, as you name them: 1 to 512 characters; without it, the id of "
            "the API key."
        ),
    ] = None
    id: Annotated[
        str | None,
        Field(
            description="Your id of this decision about this memory: sent again, it counts "
            "once. Without it, or an Idempotency-Key, every request is a new one."
        ),
    ] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StatementInput:
    """What a person states that may be appended: every field is within the policy.

    Attributes:
        user_id: of whom it is known, in normal form C.
        content, kind, slot, about, importance: as in a memory.
        pinned: whether it is to be served whatever is asked.
        actor: who decided.
        valid_from: since when it is true, in UTC; ``None`` for the time of the append.
        expires_at: when it ceases by itself, in UTC, or ``None``.
        client_id: the caller's own id of the decision; ``None`` for one that counts anew each time.
    """

    user_id: str
    content: str
    kind: MemoryKind
    slot: Slot
    about: str
    importance: int
    pinned: bool
    actor: str
    valid_from: datetime | None = None
    expires_at: datetime | None = None
    client_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CorrectionInput:
    """What a memory is to be, within the policy.

    Attributes:
        user_id: whose memory it is, in normal form C.
        content, slot, about, importance, kind: what it is to be; ``None`` leaves it as it is.
        pinned: whether it is to be pinned; ``None`` leaves that as it is.
        reason: why, if that was told.
        actor: who decided.
        client_id: the caller's own id of the decision, or ``None``.
    """

    user_id: str
    content: str | None = None
    slot: Slot | None = None
    about: str | None = None
    importance: int | None = None
    kind: MemoryKind | None = None
    pinned: bool | None = None
    reason: str | None = None
    actor: str
    client_id: str | None = None

    @property
    def pins_only(self) -> bool:
        """Whether nothing but the pin is to change."""
        told = (self.content, self.slot, self.about, self.importance, self.kind)
        return all(field is None for field in told)


@dataclass(frozen=True, kw_only=True, slots=True)
class DeletionInput:
    """That a memory is to be deleted, within the policy.

    Attributes:
        user_id: whose memory it is, in normal form C.
        reason: why, if that was told.
        actor: who decided.
        client_id: the caller's own id of the decision, or ``None``.
    """

    user_id: str
    reason: str | None = None
    actor: str
    client_id: str | None = None


def read_remembered(
    body: object, *, now: datetime, caller: str, key: str | None = None
) -> FactInput | StatementInput:
    """Return what decoded JSON would have remembered: a system's fact or a person's statement.

    Args:
        body: any JSON value.
        now: the current time, aware.
        caller: who counts as the actor where the body names none.
        key: the request's Idempotency-Key, which stands in for an ``id``.

    Raises:
        InvalidInput: a field is missing, unknown, there twice, of the wrong type or against the
            policy, or there is no such source.
        InputTooLarge: a field is above its limit.
    """
    fields = read_body(body, FactBody, whole="body")
    client_id = client_id_of(fields.id, key)
    if fields.source != PERSON:
        return fact_of(fields.model_copy(update={"id": client_id}), now=now)
    if fields.provenance is not None:
        raise InvalidInput(
            field="provenance",
            problem="is a system's alone",
            remedy="leave it out, or send source 'system'",
        )
    valid_from = read_valid_from(fields.valid_from, now=now)
    return clean_statement(
        StatementInput(
            user_id=fields.user_id,
            content=fields.content,
            kind=fields.kind,
            slot=fields.slot,
            about=fields.about,
            importance=fields.importance,
            pinned=fields.pinned,
            actor=caller if fields.actor is None else fields.actor,
            valid_from=valid_from,
            expires_at=read_expiry(fields.expires_at, valid_from or now, now=now),
            client_id=client_id,
        )
    )


def clean_statement(told: StatementInput) -> StatementInput:
    """Return a person's statement whose texts and ids were brought into normal form.

    Raises:
        InvalidInput: a text or an id is against the policy.
        InputTooLarge: one of them is above its limit.
    """
    return replace(
        told,
        user_id=text.clean_user_id(told.user_id),
        content=text.clean_text("content", told.content, max_characters=CONTENT_CHARACTERS_MAX),
        about=text.clean_identifier("about", told.about),
        actor=text.clean_identifier("actor", told.actor),
        client_id=optional_identifier("id", told.client_id),
    )


def read_correction(body: object, *, caller: str, key: str | None = None) -> CorrectionInput:
    """Return what decoded JSON says that a memory is to be.

    Args:
        body: any JSON value.
        caller: who counts as the actor where the body names none.
        key: the request's Idempotency-Key, which stands in for an ``id``.

    Raises:
        InvalidInput, InputTooLarge: as for :func:`read_remembered`; or nothing is to change.
    """
    fields = read_body(body, CorrectionBody, whole="body")
    return clean_correction(
        CorrectionInput(
            user_id=fields.user_id,
            content=fields.content,
            slot=fields.slot,
            about=fields.about,
            importance=fields.importance,
            kind=fields.kind,
            pinned=fields.pinned,
            reason=fields.reason,
            actor=caller if fields.actor is None else fields.actor,
            client_id=client_id_of(fields.id, key),
        )
    )


def clean_correction(told: CorrectionInput) -> CorrectionInput:
    """Return a correction whose texts and ids were brought into normal form.

    Raises:
        InvalidInput: a text or an id is against the policy, or nothing is to change.
        InputTooLarge: a text is above its limit.
    """
    if all(getattr(told, name) is None for name in _CHANGES):
        raise InvalidInput(
            field="body",
            problem="changes nothing",
            remedy=f"send at least one of {', '.join(_CHANGES)}",
        )
    content = told.content
    if content is not None:
        content = text.clean_text("content", content, max_characters=CONTENT_CHARACTERS_MAX)
    return replace(
        told,
        user_id=text.clean_user_id(told.user_id),
        content=content,
        about=optional_identifier("about", told.about),
        reason=_reason(told.reason),
        actor=text.clean_identifier("actor", told.actor),
        client_id=optional_identifier("id", told.client_id),
    )


def read_deletion(
    parameters: Mapping[str, str], *, caller: str, key: str | None = None
) -> DeletionInput:
    """Return the deletion that the parameters of an address ask for.

    Args:
        parameters: by name, each there once.
        caller: who counts as the actor where none is named.
        key: the request's Idempotency-Key, which stands in for an ``id``.

    Raises:
        InvalidInput: ``user_id`` is missing, or a parameter is unknown or against the policy.
        InputTooLarge: one of them is above its limit.
    """
    unknown = next((name for name in parameters if name not in _DELETION_FIELDS), None)
    if unknown is not None:
        raise InvalidInput(
            field=unknown,
            problem="is no parameter of a deletion",
            remedy=f"leave it out; known are {', '.join(_DELETION_FIELDS)}",
        )
    user_id = parameters.get("user_id")
    if user_id is None:
        raise InvalidInput(field="user_id", problem="is missing", remedy="send it")
    return clean_deletion(
        DeletionInput(
            user_id=user_id,
            reason=parameters.get("reason"),
            actor=parameters.get("actor", caller),
            client_id=client_id_of(parameters.get("id"), key),
        )
    )


def clean_deletion(told: DeletionInput) -> DeletionInput:
    """Return a deletion whose texts and ids were brought into normal form.

    Raises:
        InvalidInput: a text or an id is against the policy.
        InputTooLarge: a text is above its limit.
    """
    return replace(
        told,
        user_id=text.clean_user_id(told.user_id),
        reason=_reason(told.reason),
        actor=text.clean_identifier("actor", told.actor),
        client_id=optional_identifier("id", told.client_id),
    )


def client_id_of(named: str | None, key: str | None) -> str | None:
    """Return the caller's id of a decision: the one in the body, or the Idempotency-Key.

    Raises:
        InvalidInput: there are two that differ.
    """
    if named is not None and key is not None and named != key:
        raise InvalidInput(
            field="id",
            problem="is not what Idempotency-Key says",
            remedy="send one of the two, or the same in both",
        )
    return key if named is None else named


def _reason(reason: str | None) -> str | None:
    if reason is None:
        return None
    return text.clean_text("reason", reason, max_characters=REASON_CHARACTERS_MAX)
