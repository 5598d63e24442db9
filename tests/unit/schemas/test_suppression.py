"""Keys of what was deleted tell nothing to whoever has them without the subject's secret."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from uuid import UUID

import pytest

from schemas.memory import MemoryKind, folded, statement_key
from schemas.slots import Slot
from schemas.suppression import KEY_BYTES, SuppressionKeying, statement_forms

ONE, OTHER = bytes(range(32)), bytes(32)
TURN = UUID(int=7)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Stated:
    """A statement, as it is deleted."""

    kind: MemoryKind = MemoryKind.SEMANTIC
    slot: Slot = Slot.NOTE
    about: str = "user"
    content: str = "Has HIV"
    valid_from: datetime = NOON
    turn_id: UUID = TURN
    quote: str = "I have HIV"


def keys(stated: Stated, id_secret: bytes = ONE) -> frozenset[bytes]:
    return SuppressionKeying.of_subject(id_secret).suppression_keys(stated)


def _digests_without_the_secret(stated: Stated) -> Iterator[bytes]:
    """Yield what a reader of the table can make of guessed words, without a secret or badly."""
    words = ("words", folded(stated.about), folded(stated.content))
    yield from (
        statement_key(kind, stated.about, stated.content, stated.valid_from) for kind in MemoryKind
    )
    people = (b"", b"ml-statement", b"ml-words", b"ml-source")
    forms = (*statement_forms(stated), words)
    for form, person, secret in product(forms, people, (b"", bytes(32), b"memledger suppressions")):
        for parts in (form, form[1:]):
            digest = hashlib.blake2b(digest_size=KEY_BYTES, key=secret, person=person)
            for part in parts:
                digest.update(len(part.encode()).to_bytes(4, "big") + part.encode())
            yield digest.digest()


@pytest.mark.parametrize("kind", MemoryKind)
def test_the_same_statement_of_two_subjects_has_no_key_in_common(kind: MemoryKind) -> None:
    stated = Stated(kind=kind)
    assert keys(stated)
    assert keys(stated).isdisjoint(keys(stated, OTHER))
    assert keys(stated) == keys(stated)


@pytest.mark.parametrize("kind", MemoryKind)
def test_no_key_can_be_made_of_the_words_without_the_secret(kind: MemoryKind) -> None:
    stated = Stated(kind=kind)
    assert keys(stated).isdisjoint(_digests_without_the_secret(stated))


def test_the_secret_of_suppressions_is_not_that_of_ids() -> None:
    keying = SuppressionKeying.of_subject(ONE)
    assert keying.secret != ONE
    stated = Stated()
    assert SuppressionKeying(ONE).suppression_keys(stated).isdisjoint(keys(stated))


@pytest.mark.parametrize("length", [0, 16, 33])
def test_a_secret_of_another_length_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match=f"has {length} bytes, not 32"):
        SuppressionKeying(bytes(length))


def test_a_keying_does_not_show_its_secret() -> None:
    keying = SuppressionKeying.of_subject(ONE)
    assert keying.secret.hex() not in repr(keying)
    assert str(keying.secret) not in repr(keying)


@pytest.mark.parametrize("content", ["has hiv.", "  HAS   HIV ", "Has\u00a0HIV!", "\uff28as HIV"])
def test_another_spelling_has_the_same_keys(content: str) -> None:
    assert keys(Stated(content=content)) == keys(Stated())


def test_what_is_not_the_same_has_another_key() -> None:
    mine = keys(Stated(quote=""))
    assert mine.isdisjoint(keys(Stated(content="Had HIV", quote="")))
    assert mine.isdisjoint(keys(Stated(about="Ann", quote="")))
    keying = SuppressionKeying.of_subject(ONE)
    now = Stated(kind=MemoryKind.EPISODIC, quote="")
    later = Stated(kind=MemoryKind.EPISODIC, quote="", valid_from=NOON.replace(hour=13))
    assert keying.stated_keys(now).isdisjoint(keying.stated_keys(later))
    assert keying.words_key("user", "Has HIV") in keys(now) & keys(later)
