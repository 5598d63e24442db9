"""A large array is cut into its elements, whatever its chunks, strings and damages."""

from __future__ import annotations

import json
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from producers.importers import elements
from producers.importers.elements import Element, split_array

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=10,
)


class OneByteAtATime(BytesIO):
    """A file of which every read gives a single byte."""

    def read(self, _size: int | None = -1) -> bytes:
        return super().read(1)


def split(raw: bytes, stream: type[BytesIO] = BytesIO) -> list[Element]:
    return list(split_array(stream(raw), wrappers=("conversations",)))


@given(st.lists(json_values, max_size=5), st.sampled_from([None, 1]), st.booleans())
def test_the_elements_are_those_of_the_whole(
    values: list[object], indent: int | None, ascii_only: bool
) -> None:
    raw = json.dumps(values, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "replace")
    found = split(raw, OneByteAtATime)
    assert [json.loads(element.raw) for element in found] == json.loads(raw)
    assert [element.number for element in found] == list(range(1, len(values) + 1))
    assert split(raw) == found


@given(st.lists(json_values, min_size=1, max_size=3))
def test_a_wrapped_array_is_found_behind_other_members(values: list[object]) -> None:
    raw = json.dumps({"a": ["conversations"], "b": "x", "conversations": values}).encode()
    assert [json.loads(element.raw) for element in split(raw, OneByteAtATime)] == values


def values_of(raw: bytes, *wrappers: str) -> list[object]:
    """The values of the elements, or the problem that stands in place of one."""
    found = list(split_array(OneByteAtATime(raw), wrappers=wrappers))
    assert found == list(split_array(BytesIO(raw), wrappers=wrappers))
    assert [element.number for element in found] == list(range(1, len(found) + 1))
    return [element.problem or json.loads(element.raw) for element in found]


@given(st.lists(st.lists(json_values, max_size=2), min_size=1, max_size=4), json_values)
def test_the_elements_of_every_wrapped_array_are_read(
    arrays: list[list[object]], other: object
) -> None:
    members = {f"w{number}": values for number, values in enumerate(arrays)}
    raw = json.dumps({"a": other, **members, "b": other}).encode()
    expected = [value for values in arrays for value in values]
    if expected:
        assert values_of(raw, *members) == expected
    else:
        # Whatever else the object holds may be a conversation.
        assert values_of(raw, *members) in ([], [json.loads(raw)])


def test_an_empty_wrapped_array_does_not_end_the_search() -> None:
    names = ("conversations", "data")
    assert values_of(b'{"data": [ ], "conversations": [1]}', *names) == [1]
    assert values_of(b'{"conversations": [1], "data": []}', *names) == [1]
    alone = {"uuid": "a", "chat_messages": [1], "data": []}
    assert values_of(json.dumps(alone).encode(), *names) == [alone]
    assert values_of(b'{"version": 1, "conversations": [\n], "data": []}\n', *names) == []


def test_what_stands_behind_wrapped_arrays_is_told() -> None:
    behind = "stands behind the end of the list and is left out"
    names = ("conversations", "items")
    raw = b'{"conversations": [1], "items": [2]}'
    assert values_of(raw, *names) == [1, 2]
    assert values_of(raw + b' {"conversations": [3]} trailing', *names) == [1, 2, behind]
    assert values_of(b'{"conversations": []} {"conversations": [3]}', *names) == [3]
    assert values_of(b'{"conversations": []} trailing', *names) == ["is not JSON"]
    assert values_of(raw[:-1], *names) == [1, 2, "the file ends in the middle"]


def test_the_name_of_an_array_is_known_behind_much_that_is_not_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(elements, "_CHUNK_BYTES", 1)
    # Wherever what is held is dropped: in front of the name, within it or behind it.
    for length in range(100, 250, 3):
        raw = json.dumps({"data": [1], "more": "x" * length, "conversations": [2]}).encode()
        found = split_array(BytesIO(raw), wrappers=("data", "conversations"), bytes_max=100)
        assert [element.raw for element in found] == [b"1", b"2"]


def test_objects_one_behind_the_other_are_elements() -> None:
    raw = b'{"a": [1]}\n {"b": {"conversations": [1]}}{"conversations": [2]}'
    found = [json.loads(element.raw) for element in split(raw, OneByteAtATime)]
    assert found == [{"a": [1]}, {"b": {"conversations": [1]}}, {"conversations": [2]}]


def test_an_object_without_the_array_is_the_only_element() -> None:
    raw = b' {"a": {"conversations": [1]}} '
    assert split(raw) == [Element(number=1, raw=raw.strip())]


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b"", "is not JSON"),
        (b"hello", "is not JSON"),
        (b'["a", ', "the file ends in the middle of it"),
        (b'["a"', "the file ends in the middle of it"),
        (b'{"a": 1', "the file ends in the middle"),
        (b'["a"] ["b"]', "stands behind the end of the list and is left out"),
        (b'{"a": 1}\n{"b": ', "the file ends in the middle"),
        (b'{"a": 1}\n!', "is not JSON"),
    ],
)
def test_what_is_missing_or_too_much_is_told(raw: bytes, problem: str) -> None:
    assert split(raw, OneByteAtATime)[-1].problem == problem


def test_an_element_above_the_limit_is_told_and_the_next_one_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(elements, "_CHUNK_BYTES", 16)
    raw = json.dumps(["a" * 1000, "b"]).encode()
    found = list(split_array(BytesIO(raw), wrappers=(), bytes_max=100))
    assert found == [
        Element(number=1, problem="is longer than 100 bytes"),
        Element(number=2, raw=b'"b"'),
    ]
