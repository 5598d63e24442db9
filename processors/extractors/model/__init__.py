"""Extractors that ask a language model: what is asked, how, and how its answers are read."""

from __future__ import annotations

from processors.extractors.model.making import ANTHROPIC, OPENAI, make_model_extractor

__all__ = ["ANTHROPIC", "OPENAI", "make_model_extractor"]
