"""Finding the JSON of an answer."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.extractors.model.answers import (
    NotJson,
    NotTheSchema,
    items_before_cut,
    lists_in,
)

ANSWER = {"operations": [{"action": "add", "content": 'says "hi" {and} [more]'}, {"n": 1}]}
WHOLE = json.dumps(ANSWER)


@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        f"\n\t{WHOLE}  ",
        json.dumps(ANSWER, indent=2),
        f"```json\n{WHOLE}\n```",
        f"Here is what I found:\n{WHOLE}\nLet me know!",
        f"The set {{a, b}} is empty. {WHOLE}",
        f'I thought of {{"slots": 3}} first. {WHOLE}',
        f"{WHOLE}\n{WHOLE}",
    ],
    ids=["bare", "blanks", "indented", "fenced", "prose", "braces", "another object", "twice"],
)
def test_an_answer_is_found_whatever_stands_around_it(text: str) -> None:
    assert lists_in(text, ["operations"]).items == ANSWER


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I found nothing to remember.",
        "null",
        '"operations"',
        WHOLE[:-1],
        WHOLE[:40],
        '{"operations": [{"action": "add" "content": "x"}]}',
        f'Nothing would be {{"operations": []}}. Here: {WHOLE[:60]}',
        f'{{"operations": []}} or {WHOLE}',
        '{"operations": ' + "[" * 100_000,
    ],
    ids=[
        "empty", "prose", "null", "a text", "a brace is missing", "cut", "a comma is missing",
        "an example in front of a broken one", "two different ones", "nested without end",
    ],
)  # fmt: skip
def test_what_is_no_answer_is_never_taken_for_an_empty_one(text: str) -> None:
    with pytest.raises(NotJson):
        lists_in(text, ["operations"])


@pytest.mark.parametrize(
    "text", ['{"memories": []}', '{"operations": null}', '{"operations": {}}', "{}", '[{"a": 1}]']
)
def test_json_without_the_list_is_not_the_schema(text: str) -> None:
    with pytest.raises((NotTheSchema, NotJson)):
        lists_in(text, ["operations"])


def test_every_list_must_be_there() -> None:
    with pytest.raises(NotTheSchema):
        lists_in('{"merges": []}', ["merges", "contradictions"])


@given(cut=st.integers(0, len(WHOLE)))
def test_complete_items_in_front_of_a_cut_are_kept_and_no_half_one(cut: int) -> None:
    found = items_before_cut(WHOLE[:cut], "operations")

    assert found == ANSWER["operations"][: len(found)]
    ends = [WHOLE.index("}, {") + 1, len(WHOLE) - 2]
    assert len(found) == sum(cut >= end for end in ends)


def test_a_cut_in_front_of_the_list_leaves_nothing() -> None:
    assert items_before_cut("I think that", "operations") == []
    assert items_before_cut('{"operations": [1, 2', "operations") == []


@given(text=st.text(alphabet='{}[]",:operatins 1\n\\', max_size=80))
def test_any_text_is_an_answer_or_is_told(text: str) -> None:
    with contextlib.suppress(NotJson, NotTheSchema):
        assert isinstance(lists_in(text, ["operations"]).items["operations"], list)
