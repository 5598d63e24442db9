"""What a person deleted or corrected, as keys under which the same is found when it is said again.

A key does not hold the words that it stands for, so that it may stay when they are gone; but it has
no secret, so whoever has it and guesses the words can tell that they were these. Words that were
said before the decision are not stored again under any of the keys; said after it they are.
"""

from __future__ import annotations

from datetime import datetime
from hashlib import blake2b
from typing import Annotated, Final, Protocol
from uuid import UUID

from pydantic import Field

from schemas.memory import MemoryKind, folded, statement_key
from schemas.slots import SINGLE_VALUED, Slot

KEY_BYTES: Final = 16

SuppressionKey = Annotated[bytes, Field(min_length=KEY_BYTES, max_length=KEY_BYTES)]
"""16 bytes: the key of a statement, or of the words that caused one."""

_LASTING: Final = (MemoryKind.SEMANTIC, MemoryKind.PROCEDURAL)


class Statement(Protocol):
    """A statement with what caused it: a memory, or what a person's decision tells of one."""

    @property
    def kind(self) -> MemoryKind: ...  # noqa: D102 - as in a memory

    @property
    def slot(self) -> Slot: ...  # noqa: D102 - as in a memory

    @property
    def about(self) -> str: ...  # noqa: D102 - as in a memory

    @property
    def content(self) -> str: ...  # noqa: D102 - as in a memory

    @property
    def valid_from(self) -> datetime: ...  # noqa: D102 - as in a memory

    @property
    def turn_id(self) -> UUID: ...  # noqa: D102 - as in a memory

    @property
    def quote(self) -> str: ...  # noqa: D102 - as in a memory


def stated_keys(stated: Statement) -> frozenset[bytes]:
    """Return the keys of a statement: two statements that share one count as the same.

    The words of a fact count whether it is filed as a fact or as a rule; those of an episode with
    its time. A statement that another model words differently is found by what caused it: the value
    of a slot of one value by the turn, any other by the turn and the words that are its evidence.
    Without evidence the turn is no cause.
    """
    kinds = _LASTING if stated.kind in _LASTING else (stated.kind,)
    keys = {statement_key(it, stated.about, stated.content, stated.valid_from) for it in kinds}
    if stated.quote:
        keys.add(_source_key(stated))
    return frozenset(keys)


def suppression_keys(stated: Statement) -> frozenset[bytes]:
    """Return every key under which a statement is not stored again, that of its words too."""
    return stated_keys(stated) | {words_key(stated.about, stated.content)}


def words_key(about: str, content: str) -> bytes:
    """Return the key of words, whatever they are filed as and whenever they were true.

    It is for what speaks of several times at once, as a memory does that stands for others.
    """
    return _digest(b"ml-words", folded(about), folded(content))


def _source_key(stated: Statement) -> bytes:
    # The evidence tells which statement is meant; where it is left out, the slot does.
    single = stated.slot in SINGLE_VALUED
    which = (stated.slot.value, "") if single else ("", folded(stated.quote))
    return _digest(b"ml-source", str(stated.turn_id), folded(stated.about), *which)


def _digest(person: bytes, *parts: str) -> bytes:
    digest = blake2b(digest_size=KEY_BYTES, person=person)
    for part in parts:
        encoded = part.encode()
        digest.update(len(encoded).to_bytes(4, "big"))
        digest.update(encoded)
    return digest.digest()
