"""Text, ids and times are accepted whole or refused with the place and the remedy."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import InputTooLarge, InvalidInput
from schemas.text import (
    IDENTIFIER_CHARACTERS_MAX,
    MARKS_MAX,
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
    lambda value: any(
        unicodedata.category(character) not in ("Cc", "Cf", "Zs", "Zl", "Zp") for character in value
    )
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


@pytest.mark.parametrize(
    "blank",
    ["", " ", "\n\t", "\u3000", "\u200b", "\ufeff", "\x07", "\u202e \U000e0041", "\u200d" * 500],
)
def test_blank_text_is_refused_unless_it_is_allowed(blank: str) -> None:
    with pytest.raises(InvalidInput, match="is empty or blank"):
        clean_text("user_text", blank, max_characters=1000)
    assert clean_text("assistant_text", blank, max_characters=1000, blank=True) == blank


def test_what_only_begins_unseen_is_not_blank() -> None:
    said = "\u200b" * 500 + "a"
    assert clean_text("user_text", said, max_characters=1000) == said


@pytest.mark.parametrize("before", [0, 1, MARKS_MAX, MARKS_MAX + 1, 333])
def test_marks_are_piled_up_to_their_limit_and_not_beyond(before: int) -> None:
    high = "a" * before + "\u0315\u0300" * MARKS_MAX
    fits = high[: before + MARKS_MAX] + "b" + high[before : before + MARKS_MAX]
    assert clean_text("user_text", fits, max_characters=1000) == unicodedata.normalize("NFC", fits)
    with pytest.raises(InvalidInput, match=f"combining marks at position {before}; send"):
        clean_text("user_text", high[: before + MARKS_MAX + 1] + "b", max_characters=1000)


@given(st.text(st.sampled_from("ae\u0301\u0315\u0323語"), min_size=1, max_size=400))
def test_no_accepted_text_has_more_marks_in_a_row(value: str) -> None:
    longest = max(len(row) for row in re.findall(r"[\u0301\u0315\u0323]*", value))
    try:
        clean_text("user_text", "語" + value, max_characters=1000)
    except InvalidInput:
        assert longest > MARKS_MAX
    else:
        assert longest <= MARKS_MAX


def test_a_text_of_nothing_but_marks_is_refused_before_it_is_put_in_order() -> None:
    # In order it would take minutes, since the time grows with the square of the length.
    with pytest.raises(InvalidInput, match="piles up"):
        clean_text("user_text", "\u0315\u0300" * 200_000, max_characters=400_000)


def test_what_cannot_fit_is_not_composed() -> None:
    with pytest.raises(InputTooLarge, match="has 41 characters, the limit is 10"):
        clean_text("user_text", "\u0315" * 41, max_characters=10)
    composed = clean_text("user_text", "\u03b1\u0313\u0300\u0345" * 10, max_characters=10)
    assert composed == "\u1f82" * 10


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


@pytest.mark.parametrize("value", ["2026-02-28T10:00:00", "20260228T100000"])
def test_a_time_without_a_zone_is_refused(value: str) -> None:
    with pytest.raises(InvalidInput, match="names no time zone; append Z"):
        parse_moment("occurred_at", value, now=NOW)


@pytest.mark.parametrize("value", ["2026-02-28", "20260228", "2026-W09-6"])
def test_a_date_alone_is_refused_with_what_it_lacks(value: str) -> None:
    with pytest.raises(InvalidInput, match="no time zone and no time of day; send date, time and"):
        parse_moment("occurred_at", value, now=NOW)


def test_a_leap_second_is_refused_with_what_to_send() -> None:
    with pytest.raises(InvalidInput, match="leap second; send second 59"):
        parse_moment("occurred_at", "2016-12-31T23:59:60Z", now=NOW)


@pytest.mark.parametrize(
    "value",
    ["20260228T100000Z", "2026-W09-6T10Z", "2026-02-28 10:00Z", "2026-02-28T10:00:00,000+00:00:00"],
)
def test_the_forms_of_iso_8601_are_read_alike(value: str) -> None:
    moment = parse_moment("occurred_at", value, now=NOW)
    assert moment == (datetime(2026, 2, 28, 10, tzinfo=UTC), 0)


@pytest.mark.parametrize(
    "value",
    [
        "2026-02-28T24:00:00Z",  # read by some versions of Python, not by others
        "2026-02-28x10:00:00Z",
        "2026",
        "2026-02",
        "1767225600",
        "2026-02-28T10:00:00[UTC]",
        "2026-02-28T10:00:00+24:00",
    ],
)
def test_what_only_looks_like_a_time_is_refused(value: str) -> None:
    with pytest.raises(InvalidInput, match="is not an ISO 8601 time"):
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
