"""Talks whose questions name the turns that answer them, as public sets for memory hold them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """One turn of a talk.

    Attributes:
        reference: what questions name it by; unique within its talk.
        text: what was said.
        said_at: when.
    """

    reference: str
    text: str
    said_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceQuestion:
    """A question with the turns that answer it.

    Attributes:
        asks: the question.
        kind: what sort of question the set says it is.
        evidence: the references of the turns, at least one.
    """

    asks: str
    kind: str
    evidence: frozenset[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Talk:
    """All that one user said, and what is asked about it.

    Attributes:
        name: the set's own name for it.
        said: the turns, in their order.
        asked: the questions; all evidence is in ``said``.
    """

    name: str
    said: tuple[Said, ...]
    asked: tuple[EvidenceQuestion, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class PublicSet:
    """A set of talks, as it was read.

    Attributes:
        name: ``locomo`` or ``longmemeval``.
        talks: the talks.
        left_out: how many questions were left out, by why.
    """

    name: str
    talks: tuple[Talk, ...]
    left_out: dict[str, int]
