"""A turn is accepted whole, or the field and the remedy are named."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from producers.turns_input import TEXT_BYTES_MAX, TEXT_CHARACTERS_MAX, TurnInput, read_turn
from schemas.errors import InputTooLarge, InvalidInput
from tests.unit.producers.fakes import NOW

TURN = {"user_id": "u", "conversation_id": "c", "user_text": "hello"}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
    max_leaves=10,
)


def test_all_fields_are_read() -> None:
    recall = "0b0e7bb2-7a3e-4a51-9a9f-0a4f7b1e1a11"
    read = read_turn(
        {
            **TURN,
            "assistant_text": "hi",
            "turn_id": "t",
            "occurred_at": "2026-02-28T10:00:00+05:30",
            "recall_id": recall,
        },
        now=NOW,
    )
    assert read == TurnInput(
        user_id="u",
        conversation_id="c",
        user_text="hello",
        assistant_text="hi",
        turn_id="t",
        occurred_at=datetime(2026, 2, 28, 4, 30, tzinfo=UTC),
        utc_offset_minutes=330,
        recall_id=UUID(recall),
    )


def test_optional_fields_may_be_null_or_absent() -> None:
    names = ("assistant_text", "turn_id", "occurred_at", "recall_id")
    assert read_turn({**TURN, **dict.fromkeys(names)}, now=NOW) == read_turn(TURN, now=NOW)


@given(st.one_of(json_values, st.fixed_dictionaries(dict.fromkeys(TURN, json_values))))
def test_whatever_json_says_it_is_a_turn_or_a_refusal(body: object) -> None:
    try:
        read = read_turn(body, now=NOW)
    except InvalidInput as error:
        refused = error
    else:
        assert read.user_id
        assert read.user_text.strip()
        return
    # The answer goes out as UTF-8, whatever the names of the fields were.
    assert str(refused).encode()
    assert refused.field
    assert refused.remedy


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"user_text": None}, "user_text: is not of the type it should be; send a JSON string"),
        ({"user_id": 7}, "user_id: is not of the type it should be"),
        ({"tenant": "acme"}, "tenant: unknown field 'tenant'; leave it out; known are user_id,"),
        ({"\ud800": 1}, r"unknown field '\\ud800'"),
        ({"user_text": "ab\ud800"}, "user_text: holds a lone surrogate .* at position 2"),
        ({"user_text": "a\x00"}, "user_text: holds a NUL character at position 1"),
        ({"user_text": " "}, "user_text: is empty or blank"),
        ({"user_id": ""}, "user_id: is empty or blank"),
        ({"conversation_id": "a\nb"}, "conversation_id: holds the control character"),
        ({"occurred_at": 1700000000}, "occurred_at: is not of the type it should be"),
        ({"occurred_at": "2026-02-28T10:00:00"}, "occurred_at: names no time zone"),
        ({"occurred_at": "2026-03-02T10:00:00Z"}, "occurred_at: .* in the future"),
        ({"recall_id": "r1"}, "recall_id: is not the id of a recall"),
    ],
)
def test_a_refusal_names_the_field_and_the_remedy(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_turn({**TURN, **changes}, now=NOW)


@pytest.mark.parametrize("name", TURN)
def test_a_missing_field_is_named(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"{name}: is missing; send it"):
        read_turn({other: value for other, value in TURN.items() if other != name}, now=NOW)


def test_a_long_turn_is_accepted_with_its_end() -> None:
    said = "a" * 350_000 + "the end"
    assert read_turn({**TURN, "user_text": said}, now=NOW).user_text == said


def test_the_limits_hold_for_both_texts_together() -> None:
    half = "a" * (TEXT_CHARACTERS_MAX // 2)
    read_turn({**TURN, "user_text": half, "assistant_text": half}, now=NOW)
    with pytest.raises(InputTooLarge, match="have 400001 characters together"):
        read_turn({**TURN, "user_text": half, "assistant_text": half + "a"}, now=NOW)


def test_bytes_are_limited_too() -> None:
    fits = "語" * (TEXT_BYTES_MAX // 3)
    read_turn({**TURN, "user_text": fits}, now=NOW)
    with pytest.raises(InputTooLarge, match="bytes of UTF-8 together"):
        read_turn({**TURN, "user_text": fits, "assistant_text": "語"}, now=NOW)
