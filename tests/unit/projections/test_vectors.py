"""Vectors that a read model can hold."""

from __future__ import annotations

import numpy as np
import pytest

from projections.vectors import halves_of, usable_halves
from schemas.memory import Embedding
from tests.support.log_writer import DIMENSION, EMBEDDER, embedding


def _usable(candidate: Embedding | None) -> bytes | None:
    return usable_halves(candidate, model=EMBEDDER, dimension=DIMENSION)


def test_a_vector_of_the_read_models_own_embedder_is_usable() -> None:
    mine = embedding(1)

    assert _usable(mine) == mine.halves


@pytest.mark.parametrize(
    "other",
    [
        None,
        embedding(1, model="other"),
        embedding(1, dimension=DIMENSION + 1),
        Embedding(model=EMBEDDER, dimension=DIMENSION, halves=b"\0" * (2 * DIMENSION - 2)),
        Embedding(
            model=EMBEDDER, dimension=DIMENSION, halves=np.full(DIMENSION, np.nan, "<f2").tobytes()
        ),
        Embedding(
            model=EMBEDDER, dimension=DIMENSION, halves=np.full(DIMENSION, np.inf, "<f2").tobytes()
        ),
    ],
)
def test_any_other_vector_is_left_out(other: Embedding | None) -> None:
    assert _usable(other) is None


def test_halves_are_little_endian() -> None:
    assert halves_of(np.array([1.0, -2.0], np.float32)) == b"\x00\x3c\x00\xc0"
