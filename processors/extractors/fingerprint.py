"""Name the state of the rules, so that a replay knows whether they have changed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.resources import files
from typing import Final

MODULES: Final = (
    "processors.about",
    "processors.extractors.corrections",
    "processors.extractors.findings",
    "processors.extractors.grammar",
    "processors.extractors.phrases",
    "processors.extractors.predicates",
    "processors.extractors.proposals",
    "processors.extractors.rules",
    "processors.extractors.sentences",
    "processors.extractors.statements",
    "processors.extractors.tastes",
    "processors.extractors.vocabulary",
    "processors.extractors.whereabouts",
    "processors.extractors.work",
    "processors.moments",
    "processors.own_words",
    "processors.pasted",
    "schemas.injection",
    "schemas.memory",
    "schemas.slots",
)
"""The modules that decide what the rules find."""

_DIGITS: Final = 16


def fingerprint(modules: Sequence[str] = MODULES) -> str:
    """Return a hash over the source text of every module that decides what is found.

    So a change of a comment gives another one too: to take rules for changed that are not costs a
    replay nobody needed, to miss a change would let two different sets of rules pass for one.

    Args:
        modules: their dotted names; by default those of the ``rules`` extractor.
    """
    digest = hashlib.sha256()
    for name in modules:
        digest.update(f"{name}\n{_source(name)}\n".encode())
    return digest.hexdigest()[:_DIGITS]


def _source(module: str) -> str:
    package, *path = module.split(".")
    return files(package).joinpath(*path[:-1], f"{path[-1]}.py").read_text(encoding="utf-8")
