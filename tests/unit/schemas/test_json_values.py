"""The values of a JSON text are counted as the decoder would make them, wherever it is cut."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.json_values import ValueCount

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('ab"\\[]{},:\n\u1234', max_size=6),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text('a"\\,:', max_size=3), inner)
    ),
    max_leaves=30,
)


def _marks(value: Any) -> int:
    """Return how many brackets, commas and colons spell a value."""
    if isinstance(value, dict):
        return 1 + len(value) + max(0, len(value) - 1) + sum(map(_marks, value.values()))
    if isinstance(value, list):
        return 1 + max(0, len(value) - 1) + sum(map(_marks, value))
    return 0


@given(json_values, st.integers(1, 7), st.booleans())
def test_the_count_is_that_of_the_text_however_it_is_cut(
    value: Any, length: int, escaped: bool
) -> None:
    text = json.dumps(value, ensure_ascii=escaped).encode()
    count = ValueCount()
    for start in range(0, len(text), length):
        count.feed(text[start : start + length])
    assert count.seen == _marks(value)


@given(json_values)
def test_no_text_has_more_values_than_were_counted(value: Any) -> None:
    def values(inner: Any) -> int:
        if isinstance(inner, dict):
            return 1 + len(inner) + sum(map(values, inner.values()))
        return 1 + (sum(map(values, inner)) if isinstance(inner, list) else 0)

    count = ValueCount()
    count.feed(json.dumps(value).encode())
    # One more: the first value of all has nothing in front of it, and an empty list nothing inside.
    assert values(value) <= 2 * count.seen + 1


@pytest.mark.parametrize("size", [1, 65_535, 65_536, 65_537, 200_000])
def test_a_string_over_many_chunks_is_one_value(size: int) -> None:
    count = ValueCount()
    count.feed(b'["' + b"\\" * (2 * size) + b'\\",,,,' + b"," * size + b'", 1]')
    assert count.seen == 2
