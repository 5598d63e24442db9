"""The texts of an operation that would be kept, for the rules that look for what must not be."""

from __future__ import annotations

from schemas.proposals import Operation


def kept_texts(operation: Operation) -> tuple[str, ...]:
    """Return the different texts of an operation that would land in the ledger."""
    return tuple(dict.fromkeys((operation.content, operation.quote, operation.about)))
