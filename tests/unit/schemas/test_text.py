"""Text, ids and times are accepted whole or refused with the place and the remedy."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import InputTooLarge, InvalidInput
from schemas.text import (
    IDENTIFIER_CHARACTERS_MAX,
    SKEW_MAX,
    USER_ID_CHARACTERS_MAX,
    clean_identifier,
    clean_text,
    clean_user_id,
    parse_epoch,
    parse_moment,
)

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

visible_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")).filter(
    lambda value: bool(unicodedata.normalize("NFC", value).strip())
)


@given(visible_text)
def test_accepted_text_is_its_normal_form_and_nothing_else(value: str) -> None:
    cleaned = clean_text("user_text", value, max_characters=10_000)

    assert cleaned == unicodedata.normalize("NFC", value)
    assert clean_text("user_text", cleaned, max_characters=10_000) == cleaned


@given(visible_text, visible_text, st.sampled_from(["\x00", "\ud800", "\udfff"]))
def test_what_no_store_can_hold_is_refused_with_its_position(
    before: str, after: str, bad: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        clean_text("user_text", before + bad + after, max_characters=10_000)

    assert refused.value.field == "user_text"
    assert refused.value.problem.endswith(f"at position {len(before)}")


def test_a_refusal_repeats_nothing_of_the_text() -> None:
    with pytest.raises(InvalidInput) as refused:
        clean_text("user_text", "my secret\x00", max_characters=100)

    assert "secret" not in str(refused.value)


def test_text_is_accepted_up_to_its_limit_and_not_beyond() -> None:
    assert clean_text("user_text", "a" * 100, max_characters=100) == "a" * 100
    with pytest.raises(InputTooLarge, match="has 101 characters, the limit is 100"):
        clean_text("user_text", "a" * 101, max_characters=100)


@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u3000"])
def test_blank_text_is_refused_unless_it_is_allowed(blank: str) -> None:
    with pytest.raises(InvalidInput, match="is empty or blank"):
        clean_text("user_text", blank, max_characters=10)
    assert clean_text("assistant_text", blank, max_characters=10, blank=True) == blank


@pytest.mark.parametrize("user_id", ["a/b", " a ", "..", "100%", "a b", "甲", "x" * 512, "\\", "'"])
def test_a_user_id_means_nothing_but_itself(user_id: str) -> None:
    assert clean_user_id(user_id) == user_id


def test_both_spellings_of_an_accent_are_one_user() -> None:
    assert clean_user_id("Zoe\u0308") == clean_user_id("Zoë")


@pytest.mark.parametrize("control", ["\n", "\t", "\x1b", "\x7f", "\x85"])
def test_an_identifier_holds_no_control_character(control: str) -> None:
    for clean in (clean_user_id, lambda value: clean_identifier("turn_id", value)):
        with pytest.raises(InvalidInput, match=r"control character U\+.* at position 2"):
            clean(f"ab{control}c")


@pytest.mark.parametrize("value", ["", " ", "   "])
def test_a_blank_identifier_names_nobody(value: str) -> None:
    with pytest.raises(InvalidInput, match="user_id: is empty or blank"):
        clean_user_id(value)


def test_identifiers_have_a_limit_that_is_told() -> None:
    with pytest.raises(InputTooLarge, match=f"the limit is {USER_ID_CHARACTERS_MAX}"):
        clean_user_id("x" * 3000)
    with pytest.raises(InputTooLarge, match=f"turn_id: .*limit is {IDENTIFIER_CHARACTERS_MAX}"):
        clean_identifier("turn_id", "x" * (IDENTIFIER_CHARACTERS_MAX + 1))


@given(
    st.datetimes(datetime(1970, 1, 3), datetime(2026, 2, 27)),  # noqa: DTZ001 - the zone is drawn apart
    st.integers(-23 * 60, 23 * 60),
)
def test_a_moment_keeps_its_instant_and_its_zone(local: datetime, offset_minutes: int) -> None:
    moment = local.replace(tzinfo=timezone(timedelta(minutes=offset_minutes)))

    parsed, offset = parse_moment("occurred_at", moment.isoformat(), now=NOW)

    assert parsed == moment
    assert parsed.utcoffset() == timedelta(0)
    assert offset == offset_minutes


@pytest.mark.parametrize("value", ["2026-02-28T10:00:00", "2026-02-28", "20260228T100000"])
def test_a_time_without_a_zone_is_refused(value: str) -> None:
    with pytest.raises(InvalidInput, match="names no time zone; append Z"):
        parse_moment("occurred_at", value, now=NOW)


@pytest.mark.parametrize(
    "value", ["", "yesterday", "2026-02-30T00:00:00Z", "\ud800", "٢٠٢٦-02-28T00:00:00Z", "1" * 9999]
)
def test_what_is_no_time_is_refused(value: str) -> None:
    with pytest.raises(InvalidInput, match="is not an ISO 8601 time"):
        parse_moment("occurred_at", value, now=NOW)


def test_small_letters_are_as_good_as_capitals() -> None:
    assert parse_moment("occurred_at", "2026-02-28t10:00:00z", now=NOW)[0] == datetime(
        2026, 2, 28, 10, tzinfo=UTC
    )


def test_the_future_begins_beyond_the_skew() -> None:
    edge = NOW + SKEW_MAX
    assert parse_moment("occurred_at", edge.isoformat(), now=NOW)[0] == edge
    with pytest.raises(InvalidInput, match="more than 5 minutes in the future"):
        parse_moment("occurred_at", (edge + timedelta(seconds=1)).isoformat(), now=NOW)


@pytest.mark.parametrize("value", ["1969-12-31T23:59:59Z", "0001-01-01T00:00:00+05:00"])
def test_a_time_before_1970_is_refused(value: str) -> None:
    with pytest.raises(InvalidInput, match="lies before 1970"):
        parse_moment("occurred_at", value, now=NOW)


@pytest.mark.parametrize("value", [1_700_000_000, 1_700_000_000.0, Decimal(1_700_000_000_000)])
def test_seconds_and_milliseconds_are_told_apart(value: float | Decimal) -> None:
    assert parse_epoch("create_time", value, now=NOW) == datetime(
        2023, 11, 14, 22, 13, 20, tzinfo=UTC
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1, 1e300, 10**400, 4_000_000_000])
def test_a_number_that_is_no_past_time_is_refused(value: float) -> None:
    with pytest.raises(InvalidInput, match="create_time"):
        parse_epoch("create_time", value, now=NOW)
