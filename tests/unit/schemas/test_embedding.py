"""Each text of a batch by itself: good vectors are kept with their texts, and calls are bounded."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from projections.embedders import CheckedEmbedder
from schemas.embedding import (
    EachEmbedded,
    EmbeddingFault,
    PartlyEmbedded,
    calls_to_single_out,
    embed_each,
)
from schemas.errors import EmbedderMismatch, EmbedderUnavailable, EmbeddingFailed
from schemas.http import problem_of
from schemas.ports import Vectors

DIMENSION = 3
CALLS_MAX = 200

_BAD: dict[str, tuple[list[float], EmbeddingFault]] = {
    "nan": ([float("nan"), 0, 1], EmbeddingFault.NOT_FINITE),
    "infinite": ([0, float("inf"), 0], EmbeddingFault.NOT_FINITE),
    "minus infinite": ([0, float("-inf"), 0], EmbeddingFault.NOT_FINITE),
    "zero": ([0, 0, 0], EmbeddingFault.ZERO),
    "long": ([3, 4, 0], EmbeddingFault.NOT_NORMALISED),
    "huge": ([3e38, 3e38, 3e38], EmbeddingFault.NOT_NORMALISED),
}

KINDS = st.sampled_from(["good", "refused", "fatal", *_BAD])


class _Told:
    """Gives each text what its own words tell, and refuses or breaks down where they say so."""

    name = "told"
    dimension = DIMENSION
    min_similarity = 0.5
    same_statement_similarity = None

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(list(texts))
        if any(text.startswith("fatal") for text in texts):
            raise EmbedderUnavailable("down")
        if any(text.startswith("refused") for text in texts):
            raise EmbeddingFailed("refused")
        return np.array([_row(text) for text in texts], dtype=np.float32)


def _row(text: str) -> list[float]:
    kind, _, number = text.partition("#")
    if kind in _BAD:
        return _BAD[kind][0]
    angle = 0.01 * (1 + int(number))
    return [np.cos(angle), np.sin(angle), 0]


async def _alive() -> bool:
    return True


async def _dead() -> bool:
    return False


@given(st.lists(KINDS, max_size=24))
@example(["fatal", "good"])
@example(["good", "nan", "good", "refused", "good", "zero"])
def test_exactly_the_good_vectors_are_kept_and_none_is_a_neighbours(kinds: list[str]) -> None:
    texts = [f"{kind}#{number}" for number, kind in enumerate(kinds)]
    inner = _Told()
    found = asyncio.run(
        embed_each(CheckedEmbedder(inner), texts, calls_max=CALLS_MAX, alive=_alive)
    )

    for position, (kind, text) in enumerate(zip(kinds, texts, strict=True)):
        vector = found.vectors[position]
        if kind == "good":
            assert vector is not None
            assert vector.tolist() == pytest.approx(_row(text), abs=1e-6)
            assert position not in found.faults
        else:
            assert vector is None
            whole = {"refused": EmbeddingFault.REFUSED, "fatal": EmbeddingFault.UNAVAILABLE}
            expected = whole[kind] if kind in whole else _BAD[kind][1]
            assert found.faults[position] is expected
    assert bool(found.problems) == bool(found.faults)
    assert len(inner.calls) <= 1 + 2 * len(texts)


@given(st.lists(KINDS, min_size=1, max_size=24), st.integers(1, 12))
def test_however_much_fails_the_calls_are_bounded_and_every_text_is_told_of(
    kinds: list[str], calls_max: int
) -> None:
    texts = [f"{kind}#{number}" for number, kind in enumerate(kinds)]
    inner = _Told()
    found = asyncio.run(
        embed_each(CheckedEmbedder(inner), texts, calls_max=calls_max, alive=_alive)
    )

    assert len(inner.calls) <= calls_max
    for position, kind in enumerate(kinds):
        vector = found.vectors[position]
        assert (vector is None) == (position in found.faults)
        assert vector is None or kind == "good"


def test_one_bad_text_at_whatever_place_costs_no_other_its_vector() -> None:
    assert [calls_to_single_out(texts) for texts in (1, 2, 3, 12, 16, 17)] == [1, 3, 5, 9, 9, 11]
    for count in range(1, 25):
        for bad in range(count):
            texts = [f"{'refused' if one == bad else 'good'}#{one}" for one in range(count)]
            inner = _Told()
            found = asyncio.run(
                embed_each(CheckedEmbedder(inner), texts, calls_max=calls_to_single_out(count))
            )
            assert found.faults == {bad: EmbeddingFault.REFUSED}, (count, bad)


def test_what_few_calls_tell_is_told_of_many_texts() -> None:
    texts = ["refused#0", *(f"good#{number}" for number in range(1, 7)), "refused#7"]
    found = asyncio.run(embed_each(CheckedEmbedder(_Told()), texts, calls_max=7))
    # Seven calls tell of every quarter; spent on the first half to its end, not of the second.
    assert [vector is not None for vector in found.vectors][2:6] == [True] * 4


@given(st.lists(KINDS, min_size=1, max_size=16), st.integers(1, 40))
def test_asking_whether_the_embedder_is_there_counts_too(kinds: list[str], calls_max: int) -> None:
    texts = [f"{kind}#{number}" for number, kind in enumerate(kinds)]
    inner, asked = _Told(), 0

    async def alive() -> bool:
        nonlocal asked
        asked += 1
        return True

    found = asyncio.run(embed_each(CheckedEmbedder(inner), texts, calls_max=calls_max, alive=alive))
    assert len(inner.calls) + asked <= calls_max
    for position, fault in found.faults.items():
        assert fault is not EmbeddingFault.UNAVAILABLE or kinds[position] == "fatal"
    if calls_max >= 2 * len(texts):
        told = [fault for fault in found.faults.values() if fault is not EmbeddingFault.NOT_TRIED]
        assert told or len(found.faults) < len(texts), "each batch tells of one text at least"


def _embed(texts: Sequence[str], **arguments: object) -> tuple[_Told, EachEmbedded]:
    inner = _Told()
    found = asyncio.run(
        embed_each(CheckedEmbedder(inner), texts, calls_max=CALLS_MAX, **arguments)  # type: ignore[arg-type] # the one further argument is checked where it is given
    )
    return inner, found


@pytest.mark.parametrize("alive", [None, _dead], ids=["nobody asks", "nobody is there"])
def test_an_embedder_that_is_down_is_not_asked_again_for_each_half(alive: object) -> None:
    inner, found = _embed([f"fatal#{number}" for number in range(8)], alive=alive)

    assert len(inner.calls) == 1
    assert set(found.faults.values()) == {EmbeddingFault.UNAVAILABLE}
    assert len(found.faults) == 8


def test_another_model_ends_the_batch() -> None:
    class Another(_Told):
        async def embed(self, texts: Sequence[str]) -> Vectors:
            await super().embed(texts)
            raise EmbedderMismatch("another model")

    inner = Another()
    texts = ["good#1", "good#2"]
    found = asyncio.run(embed_each(CheckedEmbedder(inner), texts, calls_max=9, alive=_alive))
    assert set(found.faults.values()) == {EmbeddingFault.MISMATCH}
    assert len(inner.calls) == 1


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_too_few_or_too_many_vectors_are_nobodys(rows: int) -> None:
    class Miscounting(_Told):
        async def embed(self, texts: Sequence[str]) -> Vectors:
            if len(texts) == 1:
                return await super().embed(texts)
            self.calls.append(list(texts))
            return np.tile(np.array([[1, 0, 0]], dtype=np.float32), (rows, 1))

    inner = Miscounting()
    texts = ["good#1", "good#2"]
    found = asyncio.run(embed_each(CheckedEmbedder(inner), texts, calls_max=9))
    # Nobody can tell whose they are: each text is asked for alone.
    assert inner.calls == [texts, ["good#1"], ["good#2"]]
    for vector, text in zip(found.vectors, texts, strict=True):
        assert vector is not None
        assert vector.tolist() == pytest.approx(_row(text), abs=1e-6)


def test_an_empty_batch_costs_no_call() -> None:
    inner, found = _embed([])
    assert (inner.calls, found.vectors, found.faults) == ([], (), {})


@pytest.mark.parametrize(
    "failure",
    [
        EmbeddingFailed("http://secret refused"),
        EmbedderUnavailable("http://secret is down", retry_after_s=40),
        EmbedderMismatch("http://secret serves another model"),
        PartlyEmbedded(
            "http://secret gave NaN",
            vectors=np.zeros((1, DIMENSION), dtype=np.float32),
            faults={0: EmbeddingFault.NOT_FINITE},
        ),
    ],
    ids=lambda failure: type(failure).__name__,
)
def test_a_question_that_has_no_vector_is_answered_with_503_and_never_as_nothing_stored(
    failure: EmbeddingFailed,
) -> None:
    answer = problem_of(failure)
    mismatch = isinstance(failure, EmbedderMismatch)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "60" if mismatch else "5")
    code = "embedder_mismatch" if mismatch else "embedding_failed"
    assert json.loads(bytes(answer.body))["code"] == code
    assert b"secret" not in answer.body
