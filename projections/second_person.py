"""Saying to users what is noted of them: "Is vegetarian" becomes "you are vegetarian".

Statements are kept without their subject, in the language they were made in. Only English ones that
begin with a verb of a closed list are turned around; any other is told as it stands, which is never
wrong.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_IRREGULAR: Final = {
    "is": "are",
    "was": "were",
    "has": "have",
    "does": "do",
    "goes": "go",
    "studies": "study",
    "carries": "carry",
    "isn't": "aren't",
    "wasn't": "weren't",
    "hasn't": "haven't",
    "doesn't": "don't",
}
# In the third person; without their "s" they are in the second.
_REGULAR: Final = [
    "avoids",
    "believes",
    "bikes",
    "buys",
    "codes",
    "collects",
    "commutes",
    "cooks",
    "cycles",
    "dislikes",
    "drinks",
    "drives",
    "eats",
    "enjoys",
    "expects",
    "feels",
    "finds",
    "follows",
    "gets",
    "gives",
    "grows",
    "hates",
    "helps",
    "hopes",
    "keeps",
    "knows",
    "learns",
    "leads",
    "likes",
    "lives",
    "loves",
    "makes",
    "manages",
    "meets",
    "moves",
    "needs",
    "owes",
    "owns",
    "paints",
    "plans",
    "plays",
    "practises",
    "practices",
    "prefers",
    "reads",
    "rents",
    "rides",
    "runs",
    "sells",
    "sings",
    "sleeps",
    "speaks",
    "spends",
    "starts",
    "supports",
    "swims",
    "takes",
    "teaches",
    "tends",
    "thinks",
    "trains",
    "travels",
    "trusts",
    "uses",
    "visits",
    "volunteers",
    "wakes",
    "walks",
    "wants",
    "wears",
    "works",
    "writes",
]
_VERBS: Final[Mapping[str, str]] = MappingProxyType(
    {verb: verb.removesuffix("s") for verb in _REGULAR} | {"teaches": "teach"} | _IRREGULAR
)
_MODALS: Final = frozenset(["can", "cannot", "can't", "must", "will", "would", "could", "should"])
_OPENING: Final = re.compile(r"(?:the user |user )?([a-z]+(?:n['\u2019]t)?) (?=\S)", re.IGNORECASE)
# After these the sentence speaks of somebody by a word that would have to change with it.
_OTHERS: Final = re.compile(
    r"\b(?:he|she|they|his|her|hers|him|their|theirs|them|himself|herself|themselves|its)\b",
    re.IGNORECASE,
)
# A further verb of the same person, which would have to change with the first: behind a word or a
# sign that joins, one of the list, or any word that ends like a verb and has something behind it.
_FURTHER: Final = re.compile(
    r"(?:\b(?:and|but|or|nor|yet|then)\b|[,;:.])\s+(?:(?:also|never|often|always|still|now|then|not|"
    r"sometimes|usually|just|[a-z]+ly)\s+)*"
    rf"(?:(?:{'|'.join(map(re.escape, _VERBS))})\b|[a-z]+(?<!s)s\s+\S)",
    re.IGNORECASE,
)


def to_the_user(statement: str) -> str | None:
    """Return an English statement about the user as it is said to them, without its first capital.

    Args:
        statement: one line, which begins with its verb or with "the user".

    Returns:
        ``None`` where that cannot be done for sure.
    """
    opening = _OPENING.match(statement)
    if opening is None or _OTHERS.search(statement) or _FURTHER.search(statement):
        return None
    verb = opening[1].lower().replace("\u2019", "'")
    spoken = verb if verb in _MODALS else _VERBS.get(verb)
    if spoken is None:
        return None
    return f"you {spoken} {statement[opening.end() :]}"
