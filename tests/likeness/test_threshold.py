"""The default embedder's threshold, with the words that stand before it."""

from __future__ import annotations

import asyncio

from processors.deciding.wording import may_state_the_same
from projections.embedders import MiniLmEmbedder
from tests.likeness.measure import cosines, figures
from tests.likeness.pairs import read_pairs


def test_the_threshold_costs_little_of_what_words_find() -> None:
    embedder = MiniLmEmbedder()
    found = [pair for pair in read_pairs() if may_state_the_same(pair.one, pair.other)]
    near = [
        cosine >= embedder.same_statement_similarity
        for cosine in asyncio.run(cosines(found, embedder))
    ]
    told = figures(found, near)
    assert told.precision == 1.0
    assert told.recall > 0.95


def test_no_cosine_of_the_default_embedder_tells_an_opposite_from_a_repetition() -> None:
    # Should a model be able to, the comparison of words may be given up for it.
    embedder = MiniLmEmbedder()
    pairs = [
        pair for pair in read_pairs() if pair.same or pair.trap in {"taste", "negation", "number"}
    ]
    measured = asyncio.run(cosines(pairs, embedder))
    opposite = max(one for one, pair in zip(measured, pairs, strict=True) if not pair.same)
    same = sorted(one for one, pair in zip(measured, pairs, strict=True) if pair.same)
    assert opposite > same[-len(same) // 20]
