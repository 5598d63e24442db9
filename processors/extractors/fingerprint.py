"""Name the state of the rules, so that a replay knows whether they have changed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Final

from processors import moments, own_words
from processors.extractors import (
    corrections,
    grammar,
    phrases,
    predicates,
    sentences,
    statements,
    tastes,
    vocabulary,
    whereabouts,
    work,
)

_MODULES: Final = (
    moments,
    own_words,
    corrections,
    grammar,
    phrases,
    sentences,
    statements,
    tastes,
    vocabulary,
    whereabouts,
    work,
)
_DIGITS: Final = 16


def fingerprint(version: int) -> str:
    """Return a hash over a version and over every pattern and word list of the rules."""
    parts = [str(version)]
    for group in predicates.GROUPS:
        parts += group.patterns
    for module in _MODULES:
        parts += _spelled(module)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:_DIGITS]


def _spelled(module: ModuleType) -> Iterator[str]:
    for name, value in sorted(vars(module).items()):
        if isinstance(value, re.Pattern):
            yield f"{name}={value.pattern}"
        elif isinstance(value, frozenset) and all(isinstance(word, str) for word in value):
            yield f"{name}={' '.join(sorted(value))}"
