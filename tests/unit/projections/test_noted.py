"""What was noted is told in true words: of what waits, was left, refused or changed since."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.memories import ListedMemory, MemoryState
from projections.noted import Effect, Touched, WhatHappened, noted
from schemas.events import RejectionReason
from schemas.flags import FlagState
from schemas.memory import ABOUT_USER, Confidence, MemoryKind, Precision, Source
from schemas.records import Closing, DeferralCause
from schemas.slots import Slot

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def listed(content: str, state: MemoryState = MemoryState.LIVE) -> ListedMemory:
    # What these words do not look at is left out.
    fields: dict[str, Any] = dict.fromkeys(ListedMemory.__dataclass_fields__) | {
        "memory_id": uuid4(),
        "content": content,
        "state": state,
        "kind": MemoryKind.SEMANTIC,
        "about": ABOUT_USER,
        "slot": Slot.NOTE,
        "confidence": Confidence.STATED,
        "source": Source.USER,
        "valid_from": NOON,
        "valid_from_precision": Precision.MOMENT,
    }
    return ListedMemory(**fields)


def told(closing: Closing | None = Closing.STORED, **changed: Any) -> tuple[str, ...]:
    happened: dict[str, Any] = {
        "waits_for": None,
        "memories": (),
        "touched": (),
        "refused": (),
        "flags": (),
    }
    return noted(WhatHappened(closing=closing, **(happened | changed)))


def test_what_is_stored_is_told_with_what_became_of_it() -> None:
    states = {
        MemoryState.LIVE: "Noted: you are vegetarian",
        MemoryState.SUPERSEDED: "Noted: you are vegetarian (no longer so)",
        MemoryState.RETRACTED: "Noted: you are vegetarian (withdrawn since)",
        MemoryState.MERGED: "Noted: you are vegetarian (part of another note since)",
        MemoryState.EXPIRED: "Noted: you are vegetarian (ceased since)",
    }
    for state in MemoryState:
        assert told(memories=[listed("Is vegetarian", state)]) == (states[state],)


def test_a_statement_about_another_and_an_episode_are_told_as_they_stand() -> None:
    of_anna = replace(listed("Is vegetarian"), about="Anna")
    episode = replace(listed("Is tired today"), kind=MemoryKind.EPISODIC)

    assert told(memories=[of_anna, episode]) == ("Noted: Is vegetarian", "Noted: Is tired today")


@pytest.mark.parametrize(
    ("closing", "waits_for", "expected"),
    [
        (None, None, "Not processed yet"),
        (Closing.DEFERRED, DeferralCause.SESSION, "Waiting: it is looked at when the conversation"),
        (Closing.DEFERRED, DeferralCause.BUDGET, "Waiting: it is looked at later"),
        (Closing.DEFERRED, None, "Waiting"),
        (Closing.NOTHING_FOUND, None, "Nothing to note"),
        (Closing.DEAD_LETTERED, None, "Not noted: it could not be processed"),
        (Closing.ERASED, None, "Erased"),
    ],
)
def test_what_did_not_happen_is_not_told(
    closing: Closing | None, waits_for: DeferralCause | None, expected: str
) -> None:
    (text,) = told(closing, waits_for=waits_for)
    assert text.startswith(expected)
    assert "Noted:" not in text


def test_what_waits_for_a_person_is_not_told_as_noted() -> None:
    assert told(Closing.FLAGGED, flags=[FlagState.OPEN]) == (
        "Left to our staff, who decide whether to note it",
    )
    assert "approved" in told(Closing.FLAGGED, flags=[FlagState.APPROVED])[0]
    assert "did not approve" in told(Closing.FLAGGED, flags=[FlagState.REFUSED])[0]


def test_what_was_confirmed_or_withdrawn_is_told_and_what_is_not_known_is_not_claimed() -> None:
    assert told(
        touched=[
            Touched(effect=Effect.CONFIRMED, content="Is vegetarian"),
            Touched(effect=Effect.WITHDRAWN, content="Lives in Pune"),
            Touched(effect=Effect.ENDED, content=None),
        ]
    ) == (
        "Noted before, and confirmed: Is vegetarian",
        "Withdrawn: Lives in Pune",
        "No longer so: a note that is not held any more",
    )
    assert told(touched=None) == ("Something that was noted before was confirmed or changed",)
    assert told(touched=()) == ("Done",)


@pytest.mark.parametrize("reason", list(RejectionReason), ids=lambda reason: str(reason.value))
def test_every_refusal_is_told_without_our_names_for_it(reason: RejectionReason) -> None:
    (text,) = told(Closing.REJECTED, refused=[(reason,)])
    assert text.startswith("Not noted: something that ")
    assert "_" not in text


def test_of_several_reasons_the_gravest_is_told_and_each_once() -> None:
    assert told(
        Closing.REJECTED,
        refused=[
            (RejectionReason.NOT_WORTH_KEEPING, RejectionReason.PASSWORD),
            (RejectionReason.PASSWORD,),
            (RejectionReason.INVALID_ITEM,),
            (RejectionReason.UNKNOWN_MEMORY,),
        ],
    ) == (
        "Not noted: something that looks like a password",
        "Not noted: something that cannot be noted for certain",
        "Not noted: something that is about a note that is not held any more",
    )


@given(
    st.sampled_from([None, *Closing]),
    st.sampled_from([None, *DeferralCause]),
    st.lists(st.tuples(st.text(min_size=1), st.sampled_from(MemoryState)), max_size=3),
    st.lists(st.sets(st.sampled_from(RejectionReason), min_size=1), max_size=3),
    st.lists(st.sampled_from(FlagState), max_size=3),
)
def test_something_is_always_told_on_single_lines(
    closing: Closing | None,
    waits_for: DeferralCause | None,
    memories: list[tuple[str, MemoryState]],
    refused: list[set[RejectionReason]],
    flags: list[FlagState],
) -> None:
    texts = told(
        closing,
        waits_for=waits_for,
        memories=[listed(content, state) for content, state in memories],
        refused=refused,
        flags=flags,
    )
    assert texts
    for text in texts:
        assert text.strip()
        assert text.splitlines() == [text]
    if closing is None or waits_for is not None:
        assert not any(text.startswith("Noted") for text in texts)
