"""Why code refuses what a model proposes, or leaves it to a person."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class RejectionReason(StrEnum):
    """Why code refused what the model proposed, or left it to a person."""

    EVIDENCE_NOT_IN_USER_TEXT = "evidence_not_in_user_text"
    ASSISTANT_WORDS = "assistant_words"
    NOT_ASSERTED = "not_asserted"
    CONTENT_TOO_LONG = "content_too_long"
    CONTENT_EMPTY = "content_empty"
    CONTENT_UNREADABLE = "content_unreadable"
    OTHER_LANGUAGE = "other_language"
    NOT_WORTH_KEEPING = "not_worth_keeping"
    SECRET = "secret"  # noqa: S105 - a reason's name
    PASSWORD = "password"  # noqa: S105 - a reason's name
    ONE_TIME_CODE = "one_time_code"
    PAYMENT_CARD = "payment_card"
    BANK_ACCOUNT = "bank_account"
    NATIONAL_ID = "national_id"
    SENSITIVE_CATEGORY = "sensitive_category"
    INSTRUCTION = "instruction"
    THIRD_PERSON_PRIVATE = "third_person_private"
    OPERATOR_OBLIGATION = "operator_obligation"
    CONTRADICTION = "contradiction"
    UNFOUNDED_MERGE = "unfounded_merge"
    UNKNOWN_REFERENCE = "unknown_reference"
    INVALID_ITEM = "invalid_item"
    NOTHING_TO_RETRACT = "nothing_to_retract"
    ALREADY_PAST = "already_past"
    """It had ceased before it was said, so it would never be served."""
    CURATED = "curated"
    """A person created, corrected or pinned what it would change, and that outranks it."""
    SUPPRESSED = "suppressed"
    """A person deleted or corrected it after it was said."""
    UNKNOWN_MEMORY = "unknown_memory"
    """What a person decided about is held no more."""


LEFT_TO_A_PERSON: Final = frozenset(
    {RejectionReason.OPERATOR_OBLIGATION, RejectionReason.CONTRADICTION}
)
"""An operation that nothing but these speaks against is flagged instead of refused; that it is said
to be trivia besides does not count."""
