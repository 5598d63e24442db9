"""What was noted of a turn, in words that an application can show to its user as they are.

The words promise nothing that did not happen: what waits is told to wait, what was left to a person
is told to be left, and of what was refused it is told why, never what it was.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from projections.memories import ListedMemory, MemoryState
from projections.note_text import one_line
from projections.second_person import to_the_user
from schemas.events import RejectionReason
from schemas.flags import FlagState
from schemas.memory import ABOUT_USER, MemoryKind
from schemas.records import Closing, DeferralCause


class Effect(StrEnum):
    """What a turn did to a memory that it did not cause."""

    CONFIRMED = "confirmed"
    WITHDRAWN = "withdrawn"
    ENDED = "ended"


@dataclass(frozen=True, kw_only=True, slots=True)
class Touched:
    """A memory that a turn did something to without causing a version of it.

    Attributes:
        effect: what.
        content: what the memory says; ``None`` where it is not held any more.
    """

    effect: Effect
    content: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class WhatHappened:
    """What is known of a turn.

    Attributes:
        closing: how it closed; ``None`` while it is open.
        waits_for: what a deferred turn waits for.
        memories: the versions that its words caused.
        touched: what it did to other memories; ``None`` where that cannot be told.
        refused: the rules that refused each operation.
        flags: what became of what was left to a person.
    """

    closing: Closing | None
    waits_for: DeferralCause | None
    memories: Sequence[ListedMemory]
    touched: Sequence[Touched] | None
    refused: Sequence[Collection[RejectionReason]]
    flags: Sequence[FlagState]


_SINCE: Final[Mapping[MemoryState, str]] = {
    MemoryState.LIVE: "",
    MemoryState.SUPERSEDED: " (no longer so)",
    MemoryState.RETRACTED: " (withdrawn since)",
    MemoryState.MERGED: " (part of another note since)",
    MemoryState.EXPIRED: " (ceased since)",
}

_TOUCHED: Final[Mapping[Effect, tuple[str, str]]] = {
    Effect.CONFIRMED: ("Noted before, and confirmed", "a note that is not held any more"),
    Effect.WITHDRAWN: ("Withdrawn", "a note that is not held any more"),
    Effect.ENDED: ("No longer so", "a note that is not held any more"),
}

_FLAGS: Final[Mapping[FlagState, str]] = {
    FlagState.OPEN: "Left to our staff, who decide whether to note it",
    FlagState.APPROVED: "Left to our staff, who approved it",
    FlagState.REFUSED: "Left to our staff, who did not approve it",
}

# The first of these that a refusal has says why; the others say no more to a user.
_WHY: Final[Mapping[RejectionReason, str]] = {
    RejectionReason.PASSWORD: "looks like a password",
    RejectionReason.SECRET: "looks like a secret key",
    RejectionReason.ONE_TIME_CODE: "looks like a one-time code",
    RejectionReason.PAYMENT_CARD: "looks like a payment card",
    RejectionReason.BANK_ACCOUNT: "looks like a bank account",
    RejectionReason.NATIONAL_ID: "looks like an identity number",
    RejectionReason.SENSITIVE_CATEGORY: "is a private matter that you did not ask to be remembered",
    RejectionReason.THIRD_PERSON_PRIVATE: "is a private matter of somebody else",
    RejectionReason.INSTRUCTION: "is an instruction and no fact",
    RejectionReason.NOT_WORTH_KEEPING: "is not worth keeping",
    RejectionReason.ALREADY_PAST: "is over already",
    RejectionReason.SUPPRESSED: "was deleted before",
    RejectionReason.UNKNOWN_MEMORY: "is about a note that is not held any more",
    RejectionReason.CURATED: "differs from what you noted yourself",
    RejectionReason.CONTRADICTION: "contradicts what is noted",
}
_WHY_ELSE: Final = "cannot be noted for certain"


def noted(happened: WhatHappened) -> tuple[str, ...]:
    """Return what was noted, one short text for each thing; never none.

    Args:
        happened: what is known of the turn.
    """
    if happened.closing is None:
        return ("Not processed yet",)
    if happened.waits_for is DeferralCause.SESSION:
        return ("Waiting: it is looked at when the conversation has ended",)
    if happened.waits_for is not None:
        return ("Waiting: it is looked at later",)
    told = [f"Noted: {_said(memory)}{_SINCE[memory.state]}" for memory in happened.memories]
    told += [_touched(one) for one in happened.touched or ()]
    told += [_FLAGS[state] for state in happened.flags]
    # Each reason once: how many there were tells a user nothing.
    told += dict.fromkeys(_refused(reasons) for reasons in happened.refused)
    return tuple(told) or (_nothing(happened),)


def _said(memory: ListedMemory) -> str:
    statement = one_line(memory.content)
    of_user = memory.about == ABOUT_USER and memory.kind is MemoryKind.SEMANTIC
    return (to_the_user(statement) if of_user else None) or statement


def _touched(one: Touched) -> str:
    what, gone = _TOUCHED[one.effect]
    return f"{what}: {gone if one.content is None else one_line(one.content)}"


def _refused(reasons: Collection[RejectionReason]) -> str:
    why = next((_WHY[reason] for reason in _WHY if reason in reasons), _WHY_ELSE)
    return f"Not noted: something that {why}"


def _nothing(happened: WhatHappened) -> str:
    match happened.closing:
        case Closing.STORED if happened.touched is None:
            return "Something that was noted before was confirmed or changed"
        case Closing.STORED:
            return "Done"
        case Closing.DEAD_LETTERED:
            return "Not noted: it could not be processed"
        case Closing.ERASED:
            return "Erased"
        case Closing.DEFERRED:
            return "Waiting: it is looked at later"
        case _:
            return "Nothing to note"
