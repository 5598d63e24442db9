"""The texts of an operation that would be kept, for the rules that look for what must not be."""

from __future__ import annotations

from schemas.memory import ABOUT_USER
from schemas.proposals import Operation


def kept_texts(operation: Operation) -> tuple[str, ...]:
    """Return the different texts of an operation that would land in the ledger."""
    texts = dict.fromkeys((operation.content, operation.quote, operation.about))
    texts.pop(ABOUT_USER, None)
    return tuple(texts)
