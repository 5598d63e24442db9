"""A provider of language models that answers nothing and counts what it is asked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Final

from deploy.estimate.tokens import tokens_in
from processors.extractors.model.provider import Answer, Question, Stop
from schemas.proposals import Usage

CACHED_TOKENS_MIN: Final = 512
"""A shorter beginning is not kept by any provider."""

NOTHING: Final = '{"operations": []}'


@dataclass(frozen=True, kw_only=True, slots=True)
class Assumed:
    """What an estimate takes for granted, since only real use can tell.

    Attributes:
        known: how many known memories each question shows.
        known_characters: how long each of their statements is.
        memories_per_turn: how many memories an answer holds, for each turn that is asked about:
            as many as the labelled conversations of the source tree ask for.
        memory_tokens: how many tokens one of them is in an answer: 300 characters of JSON.
        cached_share: of how many calls the provider still has the rules that each begins with.
    """

    known: int
    known_characters: int = 60
    memories_per_turn: float = 0.6
    memory_tokens: int = 90
    cached_share: float = 0.9


class CountingProvider:
    """Counts each question's tokens as usage, and answers that there is nothing to remember.

    Args:
        assumed: what is taken for granted.
    """

    def __init__(self, assumed: Assumed) -> None:
        self._assumed = assumed

    @property
    def name(self) -> str:
        """``estimate``: no extractor is called so."""
        return "estimate"

    @property
    def model(self) -> str:
        """``estimate``."""
        return "estimate"

    async def ask(self, question: Question, *, timeout_s: float) -> Answer:  # noqa: ARG002 - the protocol's
        """Return that there is nothing, with what asking would have cost."""
        kept = _tokens_of_rules(question.system, json.dumps(question.schema))
        said = round(tokens_in(question.text))
        usage = Usage(calls=1, output_tokens=round(tokens_in(NOTHING)))
        if kept < CACHED_TOKENS_MIN:
            usage = usage.model_copy(update={"input_tokens": kept + said})
        else:
            read = round(kept * self._assumed.cached_share)
            usage = usage.model_copy(
                update={
                    "input_tokens": said,
                    "cache_read_tokens": read,
                    "cache_write_tokens": kept - read,
                }
            )
        return Answer(text=NOTHING, stop=Stop.DONE, stop_reason="estimated", usage=usage)

    async def aclose(self) -> None:
        """Close nothing."""


@cache
def _tokens_of_rules(system: str, schema: str) -> int:
    return round(tokens_in(system) + tokens_in(schema))
