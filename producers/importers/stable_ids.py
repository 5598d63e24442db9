"""Ids for turns whose export gives them none: they follow from what was said.

Equal turns are told apart by how many said the very same before, so that a "yes" that was said
twice is two turns, and a file that is imported again adds nothing.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

from producers.importers.recent import Recent
from schemas import text
from schemas.errors import InvalidInput

REMEMBERED_MAX: Final = 100_000
"""Of how many different turns without an id it is remembered how often they came: 20 MB. One that
comes again word for word, at the same time and in the same conversation, after so many others is
taken for the same turn."""

_ID_BYTES: Final = 16


class StableIds:
    """Hands out ids within one file or conversation."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._repeats: Recent[int] = Recent(REMEMBERED_MAX)

    def next_id(self, *said: str, owner: str = "") -> str:
        """Return the id of a turn.

        Args:
            said: what the turn is made of.
            owner: whose repetitions count together; it is not part of the id.
        """
        own = digest_of(*said)
        key = digest_of(owner, own.hex())
        number = (self._repeats.get(key) or 0) + 1
        self._repeats.set(key, number)
        return f"{self._prefix}:{own.hex()}:{number}"


def digest_of(*parts: str) -> bytes:
    """Return 16 bytes that tell sequences of texts apart, whatever their spelling in Unicode."""
    digest = blake2b(digest_size=_ID_BYTES, person=b"ml-jsonlines")
    for part in parts:
        encoded = _spelling(part).encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(4, "big"))
        digest.update(encoded)
    return digest.digest()


def _spelling(part: str) -> str:
    try:
        return text.normal_form("text", part)
    except InvalidInput:
        # Such a text is for the policy to refuse; here it must only not be in the way.
        return part
