"""What is odd in one value of a JSON text costs no other."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import InvalidInput
from schemas.json_text import RepeatedNames, decode_json, require_names_once, shown_name

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
    max_leaves=20,
)


@given(json_values, st.booleans())
def test_json_says_what_it_said(value: Any, marked: bool) -> None:
    text = json.dumps(value).encode()
    assert decode_json(b"\xef\xbb\xbf" + text if marked else text) == value


def test_a_name_that_stands_twice_is_told_where_it_stands() -> None:
    body = decode_json(b'[{"a": 1, "b": 2, "\\u0061": 3}, {"a": 1}]')
    assert isinstance(body, list)
    twice, once = body
    assert isinstance(twice, RepeatedNames)
    with pytest.raises(InvalidInput, match=r"^a: is there more than once; send each field once$"):
        require_names_once(twice)
    require_names_once(once)
    require_names_once(3)


@pytest.mark.parametrize("digits", [33, 400, 5_000, 1_000_000])
def test_a_number_of_many_digits_is_a_number_at_once(digits: int) -> None:
    body = decode_json(b"[1, -" + b"9" * digits + b"]")
    assert isinstance(body, list)
    assert body[1] == (-math.inf if digits > 310 else -float("9" * digits))


@pytest.mark.parametrize(
    ("name", "shown"),
    [("", "(a name of no characters)"), ("\ud800", r"\ud800"), ("ä" * 99, r"\xe4" * 40)],
)
def test_a_name_is_shown_as_far_as_it_can_be(name: str, shown: str) -> None:
    assert shown_name(name) == shown
