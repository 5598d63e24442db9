"""Users of two tenants whose ids are taken for each other where somebody is careless."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from string import ascii_lowercase
from typing import Final

from tests.support.one_process import TENANT

OTHER_TENANT: Final = f"{TENANT}-corp"
"""Begins like the other tenant's name."""

COMPOSED: Final = "ren\u00e9"
DECOMPOSED: Final = unicodedata.normalize("NFD", COMPOSED)
"""One name, spelled in both ways: docs/input.md says that they are one user."""

_WORD: Final = re.compile(r"zq[a-z]([a-z])zq", re.IGNORECASE)


@dataclass(kw_only=True)
class Person:
    """A user, and what is kept of that user.

    Attributes:
        tenant, user_id: who it is.
        letter: marks every word of theirs.
        api_key: an API key of the tenant's.
        page, mcp: user tokens for the page and for the Model Context Protocol.
        position: that of their last turn.
        ids: by kind, the ids that a caller may name.
    """

    tenant: str
    user_id: str
    letter: str
    api_key: str = field(default="", repr=False)
    page: str = field(default="", repr=False)
    mcp: str = field(default="", repr=False)
    position: str = ""
    ids: dict[str, str] = field(default_factory=dict)

    def word(self, kind: str) -> str:
        """Return a word that nobody else has; ``kind`` is one letter."""
        return f"zq{kind}{self.letter}zq"

    @property
    def path(self) -> str:
        """Where their one file lies."""
        return f"/memories/{self.word('p')}.md"


def everybody() -> list[Person]:
    """Return all users; those with one id in both tenants stand next to each other."""
    named = [
        (TENANT, "ann"),
        (OTHER_TENANT, "ann"),
        (TENANT, "Ann"),
        (TENANT, "ann%"),
        (TENANT, "ann_"),
        (TENANT, "annb"),  # what `ann_` matches where it is a pattern
        (TENANT, "an"),
        (TENANT, "ann "),
        (TENANT, "\uff41\uff4e\uff4e"),  # `ann` in normal form KC alone
        (TENANT, f"{OTHER_TENANT}/ann"),
        (TENANT, COMPOSED),
        (OTHER_TENANT, COMPOSED),
    ]
    return [
        Person(tenant=tenant, user_id=user_id, letter=letter)
        for (tenant, user_id), letter in zip(named, ascii_lowercase, strict=False)
    ]


def owners(text: str) -> set[str]:
    """Return the letters of those whose words a text holds, however they are written."""
    return {letter.lower() for letter in _WORD.findall(text)}


def ids_of_others(text: str, asked: str, person: Person, people: Iterable[Person]) -> list[str]:
    """Return the ids of other users that an answer tells and the question did not."""
    return [
        f"{kind} of {other.tenant}:{other.user_id}"
        for other in people
        if other is not person
        for kind, named in other.ids.items()
        if named in text and named not in asked
    ]
