"""What a worker counts whose extractor asks a language model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from prometheus_client import Counter, Gauge

from schemas.breaker import BreakerState
from schemas.proposals import Usage

MODEL_CALLS: Final = Counter(
    "memledger_model_calls_total",
    "Calls of a language model, by result",
    ["extractor", "model", "result"],
)
MODEL_TOKENS: Final = Counter(
    "memledger_model_tokens_total",
    "Tokens that calls of a language model read and wrote, by kind",
    ["extractor", "model", "kind"],
)
MODEL_BREAKER: Final = Gauge(
    "memledger_model_breaker_open",
    "Whether a language model is left alone since it does not answer, or refuses whatever we send",
    ["extractor", "model"],
)


def count_tokens(*, extractor: str, model: str, usage: Usage) -> None:
    """Count the tokens of one call."""
    for kind, tokens in (
        ("input", usage.input_tokens),
        ("output", usage.output_tokens),
        ("cache_read", usage.cache_read_tokens),
        ("cache_write", usage.cache_write_tokens),
    ):
        MODEL_TOKENS.labels(extractor, model, kind).inc(tokens)


def watch_breaker(*, extractor: str, model: str, state: Callable[[], BreakerState]) -> None:
    """Let the gauge tell of a breaker; the last one of a model counts."""
    MODEL_BREAKER.labels(extractor, model).set_function(
        lambda: float(state() is not BreakerState.CLOSED)
    )
