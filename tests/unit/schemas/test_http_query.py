"""A query that decoders would read differently is refused by the name of the parameter."""

from __future__ import annotations

from urllib.parse import quote, quote_plus, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import InvalidInput
from schemas.http_query import require_plain_query

text = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.dictionaries(text, text), st.booleans())
def test_whatever_is_encoded_as_utf_8_is_plain(parameters: dict[str, str], form: bool) -> None:
    encoded = urlencode(parameters, quote_via=quote_plus if form else quote)
    require_plain_query(encoded.encode())


@pytest.mark.parametrize(
    ("query", "field", "problem"),
    [
        (b"user_id=%ff", "user_id", "is not UTF-8"),
        (b"user_id=%ED%A0%80", "user_id", "is not UTF-8"),
        (b"user_id=\xe9", "user_id", "is not UTF-8"),
        (b"limit=1&%fe=1", "%fe", "is not UTF-8"),
        (b"user_id=a&limit=1&user_id=a", "user_id", "is there more than once"),
        (b"user_id=a&user%5fid=b", "user_id", "is there more than once"),
    ],
)
def test_what_is_not_plain_is_refused_by_name(query: bytes, field: str, problem: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        require_plain_query(query)
    assert refused.value.field == field
    assert problem in refused.value.problem


@pytest.mark.parametrize("query", [b"", b"&", b"&&a=1&", b"user_id=100%", b"user_id=a+b%zz"])
def test_what_means_one_thing_is_left_alone(query: bytes) -> None:
    require_plain_query(query)
