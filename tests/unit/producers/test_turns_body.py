"""A list of turns is read turn by turn, as the decoder of whole texts would read it."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from producers.steps import STEP_SECONDS
from producers.turns_body import read_items
from schemas.errors import InputTooLarge, InvalidInput

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
    max_leaves=10,
)
blanks = st.text(st.sampled_from(" \t\n\r"), max_size=3)


@given(st.lists(json_values, min_size=1, max_size=5), st.lists(blanks, min_size=9, max_size=9))
def test_a_list_is_what_the_whole_text_says(items: list[Any], gaps: list[str]) -> None:
    pieces = ["{", '"turns"', ":", "[", f"{gaps[0]},{gaps[1]}".join(map(json.dumps, items)), "]}"]
    text = "".join(gap + piece for gap, piece in zip(gaps[2:8], pieces, strict=True)) + gaps[8]
    assert asyncio.run(read_items(text.encode())) == (items, True)


@given(st.dictionaries(st.text(st.characters()).filter(lambda name: name != "turns"), json_values))
def test_an_object_without_turns_is_one_turn(body: dict[str, Any]) -> None:
    assert asyncio.run(read_items(json.dumps(body).encode())) == ([body], False)


@given(st.text(st.sampled_from('{}[]":,turns 1\\\n'), max_size=40))
def test_what_is_no_json_is_refused_and_never_half_read(rest: str) -> None:
    text = '{"turns": [1' + rest
    try:
        known = json.loads(text)
    except json.JSONDecodeError:
        known = None
    try:
        items, is_list = asyncio.run(read_items(text.encode()))
    except InvalidInput:
        assert known is None or known.keys() != {"turns"} or text.count('"turns"') > 1
    else:
        assert known == {"turns": items}
        assert is_list


def test_one_turn_too_many_is_refused_before_the_rest_is_read() -> None:
    text = '{"turns": [' + "1," * 500 + "1, this is no JSON any more"
    with pytest.raises(InputTooLarge, match="more than 500 turns"):
        asyncio.run(read_items(text.encode()))


def test_a_long_list_lets_others_have_their_turn() -> None:
    text = json.dumps({"turns": [{"user_text": "a" * 16_000, "n": [0] * 90}] * 500}).encode()
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def read() -> float:
        watching = asyncio.create_task(others())
        began = time.thread_time()
        await read_items(text)
        took = time.thread_time() - began
        watching.cancel()
        await asyncio.wait([watching])
        return took

    took = asyncio.run(read())
    # A step is as long as it is by the clock on the wall, which is never faster than the processor.
    assert turns >= took / STEP_SECONDS / 4 > 0
