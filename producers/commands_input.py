"""What a caller sends that is no turn, checked against the policy at the door."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from producers.bodies import Body, read_body
from schemas import text

REASON_CHARACTERS_MAX: Final = 2_000
"""The most characters of the reason of a decision."""


class DecisionChoice(StrEnum):
    """What a person decides about a flag."""

    APPROVE = "approve"
    REFUSE = "refuse"


class DecisionBody(Body):
    """A person's decision about a flag as JSON."""

    decision: Annotated[
        DecisionChoice,
        Field(strict=False, description="approve: carry out what was proposed; refuse: do not."),
    ]
    reason: Annotated[
        str,
        Field(description=f"Why, not blank, at most {REASON_CHARACTERS_MAX} characters; it stays."),
    ]
    actor: Annotated[
        str | None,
        Field(
            description="Who decided, as you name them: 1 to 512 characters; without it, the id of "
            "the API key."
        ),
    ] = None


class ConversationEndBody(Body):
    """The end of a conversation as JSON."""

    user_id: Annotated[str, Field(description="Whose conversation it is.")]
    conversation_id: Annotated[str, Field(description="Your id of the conversation.")]


@dataclass(frozen=True, kw_only=True, slots=True)
class DecisionInput:
    """A decision that may be appended.

    Attributes:
        approved: whether the proposal is to be carried out.
        reason: why.
        actor: who decided.
    """

    approved: bool
    reason: str
    actor: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ConversationEndInput:
    """The end of a conversation that may be appended.

    Attributes:
        user_id: whose conversation it is, in normal form C.
        conversation_id: the client's id of it.
    """

    user_id: str
    conversation_id: str


def read_decision(body: object, *, caller: str) -> DecisionInput:
    """Return the decision that decoded JSON describes.

    Args:
        body: any JSON value.
        caller: who counts as the actor where the body names none.

    Raises:
        InvalidInput: a field is missing, unknown, there twice, of the wrong type or against the
            policy.
        InputTooLarge: a field is above its limit.
    """
    fields = read_body(body, DecisionBody, whole="body")
    return clean_decision(
        approved=fields.decision is DecisionChoice.APPROVE,
        reason=fields.reason,
        actor=caller if fields.actor is None else fields.actor,
    )


def clean_decision(*, approved: bool, reason: str, actor: str) -> DecisionInput:
    """Return a decision whose texts were brought into normal form.

    Raises:
        InvalidInput: a text is against the policy.
        InputTooLarge: one of them is above its limit.
    """
    return DecisionInput(
        approved=approved,
        reason=text.clean_text("reason", reason, max_characters=REASON_CHARACTERS_MAX),
        actor=text.clean_identifier("actor", actor),
    )


def read_conversation_end(body: object) -> ConversationEndInput:
    """Return the end of a conversation that decoded JSON describes.

    Raises:
        InvalidInput, InputTooLarge: as for :func:`read_decision`.
    """
    fields = read_body(body, ConversationEndBody, whole="body")
    return ConversationEndInput(
        user_id=text.clean_user_id(fields.user_id),
        conversation_id=text.clean_identifier("conversation_id", fields.conversation_id),
    )
