"""One item of an answer, good or bad; a bad one never costs the others."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.extractors.model.reading import (
    Asked,
    BadItem,
    Reading,
    each,
    operation_of,
)
from schemas.events import MemoryAdded, MemoryEvent, ProposalRejected, RejectionReason
from schemas.memory import ABOUT_ASSISTANT, Confidence, MemoryKind, Precision
from schemas.proposals import Action, InvalidItem, Operation, Speaker
from schemas.records import Origin, Turn
from schemas.slots import Slot
from tests.support.deciding import Subject, proposal
from tests.support.model_fake import item

M1, M2 = UUID(int=1), UUID(int=2)
SAID_AT = datetime(2026, 3, 1, 22, tzinfo=UTC)
"""In the zone of the turn it is the 2nd already."""


def turn(number: int = 1, text: str = "I live in Pune now.", answer: str = "Try Lucia's.") -> Turn:
    return Turn(
        turn_id=UUID(int=100 + number),
        conversation_id="c",
        user_text=text,
        assistant_text=answer,
        occurred_at=SAID_AT,
        utc_offset_minutes=330,
        received_at=SAID_AT,
        origin=Origin.HTTP,
    )


def asked(*, keeps_assistant: bool = False) -> Asked:
    return Asked(
        turns={"": turn()},
        known={"m1": M1, "m2": M2},
        keeps_assistant=keeps_assistant,
        tells_turn=False,
    )


def read(value: Any, *, keeps_assistant: bool = False) -> Operation:
    return operation_of(value, asked(keeps_assistant=keeps_assistant))


def problem(value: Any, *, keeps_assistant: bool = False) -> str:
    with pytest.raises(BadItem) as raised:
        read(value, keeps_assistant=keeps_assistant)
    return str(raised.value)


def test_an_item_becomes_an_operation() -> None:
    found = read(
        item(
            "Lives in Pune (before: Bangalore)",
            quote="I live in Pune now.",
            action="update",
            ref="m2",
            slot="residence",
            importance=4,
            valid_from="2026-02",
            expires="2026-03-02",
        )
    )

    assert found == Operation(
        action=Action.UPDATE,
        kind=MemoryKind.SEMANTIC,
        slot=Slot.RESIDENCE,
        about="user",
        content="Lives in Pune (before: Bangalore)",
        importance=4,
        confidence=Confidence.STATED,
        quote="I live in Pune now.",
        reference=M2,
        valid_from=datetime(2026, 1, 31, 18, 30, tzinfo=UTC),
        valid_from_precision=Precision.MONTH,
        expires_at=datetime(2026, 3, 2, 18, 30, tzinfo=UTC),
    )


def test_a_day_begins_where_the_user_is() -> None:
    assert read(item("x", valid_from="2026-03-02")).valid_from == datetime(
        2026, 3, 1, 18, 30, tzinfo=UTC
    )


def decided(value: dict[str, Any]) -> MemoryEvent:
    (event,) = Subject().take(turn(), proposal(turn(), [read(value)])).events
    return event


@pytest.mark.parametrize("told", ["2026-03-03", "2026-04", "2027"])
def test_a_start_after_the_turn_costs_the_start_alone(told: str) -> None:
    event = decided(item("Lives in Pune", quote="I live in Pune now.", valid_from=told))

    assert isinstance(event, MemoryAdded)
    assert (event.memory.valid_from, event.memory.valid_from_precision) == (
        SAID_AT,
        Precision.MOMENT,
    )


def test_an_end_before_the_turn_is_refused_as_that() -> None:
    event = decided(item("Lives in Pune", quote="I live in Pune now.", expires="2026-03-01"))

    assert isinstance(event, ProposalRejected)
    assert event.reasons == (RejectionReason.ALREADY_PAST,)


def test_case_and_blanks_of_names_do_not_matter() -> None:
    found = read(item("x", action=" ADD ", kind="Semantic", slot="Residence", ref=" M1 "))

    assert (found.action, found.slot, found.reference) == (Action.ADD, Slot.RESIDENCE, M1)


def test_fields_that_a_lax_server_leaves_out_or_makes_null_are_empty() -> None:
    lacking = {
        name: value
        for name, value in item("x", ref=None, valid_from=None).items()
        if name not in ("expires", "said_by")
    }

    found = read({**lacking, "thoughts": "..."})

    assert (found.reference, found.valid_from, found.expires_at) == (None, None, None)
    assert found.said_by is Speaker.USER


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"action": "delete"}, "action: literal_error"),
        ({"action": "merge"}, "action: literal_error"),
        ({"kind": "fact"}, "kind: enum"),
        ({"slot": "favourite_colour"}, "slot: enum"),
        ({"about": " "}, "about: too_short"),
        ({"content": ""}, "content: missing"),
        ({"content": None}, "content: string_type"),
        ({"content": "x" * 20_001}, "content: too_long"),
        ({"importance": 6}, "importance: less_than_equal"),
        ({"importance": "high"}, "importance: int_parsing"),
        ({"importance": float("nan")}, "importance: finite_number"),
        ({"confidence": "sure"}, "confidence: enum"),
        ({"quote": 7}, "quote: string_type"),
        ({"ref": "m3"}, "unknown reference: no memory was shown under that name"),
        ({"ref": str(M1)}, "unknown reference: no memory was shown under that name"),
        ({"valid_from": "2026-02-30"}, "valid_from: there is no such day"),
        ({"valid_from": "last week"}, "valid_from: it is neither YYYY-MM-DD nor YYYY-MM nor"),
        ({"expires": "soon"}, "expires: it is neither"),
        ({"said_by": "assistant"}, "the assistant's words are not kept"),
    ],
    ids=str,
)
def test_what_is_wrong_with_an_item_is_told_without_its_content(
    changed: dict[str, object], told: str
) -> None:
    found = problem({**item("SECRET", quote="SECRET", about="SECRET"), **changed})

    assert found.startswith(told)
    assert "SECRET" not in found


@pytest.mark.parametrize("value", [None, 7, "x", [], {}, [item("x")]])
def test_what_is_no_item_is_told(value: object) -> None:
    assert problem(value)


def test_a_retraction_needs_no_words_where_it_names_a_memory() -> None:
    assert read(item("", quote="no", action="retract", ref="m1")).reference == M1
    assert problem(item("", quote="no", action="retract")) == "content: missing"


def test_what_the_assistant_said_is_about_the_assistant_and_stays_what_it_is_proposed_as() -> None:
    proposed = item(
        "The assistant recommended Lucia's",
        quote="Try Lucia's",
        said_by="assistant",
        kind="semantic",
        slot="preference",
        about="user",
    )

    found = read(proposed, keeps_assistant=True)

    # The gate refuses it then: a fact's words tell of the user.
    assert (found.kind, found.slot) == (MemoryKind.SEMANTIC, Slot.PREFERENCE)
    assert (found.about, found.said_by) == (ABOUT_ASSISTANT, Speaker.ASSISTANT)
    changing = {**proposed, "action": "retract", "ref": "m1"}
    assert problem(changing, keeps_assistant=True) == "the assistant's words change no memory"


def test_the_quote_is_given_back_as_the_user_wrote_it() -> None:
    assert read(item("x", quote="I  live in\nPune")).quote == "I live in Pune"
    assert read(item("x", quote="never said")).quote == "never said"


def test_what_is_stated_stays_in_its_language_in_normal_form_c() -> None:
    assert read(item("住在北京")).content == "住在北京"
    found = read(item("Lebt in Zu\u0308rich", about="Rene\u0301", quote="Zu\u0308rich"))
    assert (found.content, found.about) == ("Lebt in Z\u00fcrich", "Ren\u00e9")


def test_an_operation_of_a_session_is_of_the_turn_that_it_names() -> None:
    session = Asked(
        turns={"t1": turn(1), "t2": turn(2, "I  am vegan.")},
        known={},
        keeps_assistant=False,
        tells_turn=True,
    )

    found = operation_of(item("Is vegan", quote="I am vegan.", turn="T2"), session)

    assert (found.turn_id, found.quote) == (UUID(int=102), "I  am vegan.")
    for name in ("t3", "", "2"):
        with pytest.raises(BadItem, match="unknown turn"):
            operation_of(item("x", turn=name), session)


def test_one_bad_item_costs_no_other_and_keeps_its_place() -> None:
    reading = Reading()

    reading.take(each([item("a"), {"action": "add"}, item("b")], read))
    reading.take(each([item("B!"), item("c"), 7], read))
    reading.note("the rest is missing")

    assert [operation.content for operation in reading.operations] == ["a", "b", "c"]
    assert [entry.position for entry in reading.invalid] == [1, 4, 5]
    assert reading.invalid[-1] == InvalidItem(position=5, problem="the rest is missing")


@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(list(item("x"))), inner, max_size=12)
        ),
        max_leaves=15,
    )
)
def test_any_item_is_read_or_told(value: object) -> None:
    (found,) = each([value], read)

    assert isinstance(found, Operation | BadItem)
