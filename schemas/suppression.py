"""What a person deleted or corrected, as keys under which the same is found when it is said again.

A key does not hold the words that it stands for, so that it may stay when they are gone, and it is
made under a secret of the subject: whoever has the key alone cannot try whether guessed words are
these, nor whether two subjects deleted the same. Words that were said before the decision are not
stored again under any of the keys; said after it they are.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Final, Protocol
from uuid import UUID

from pydantic import Field

from schemas.memory import MemoryKind, folded, statement_parts
from schemas.slots import SINGLE_VALUED, Slot

KEY_BYTES: Final = 16
SECRET_BYTES: Final = 32

SuppressionKey = Annotated[bytes, Field(min_length=KEY_BYTES, max_length=KEY_BYTES)]
"""16 bytes: the key of a statement, or of the words that caused one."""

Form = tuple[str, ...]
"""What of a statement counts when it is compared, its words folded; never to be stored."""

_CONTEXT: Final = b"memledger suppressions"
"""Parts the secret from whatever else is derived from a subject's."""

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


@dataclass(frozen=True, slots=True)
class SuppressionKeying:
    """Makes the keys of one subject's suppressions.

    Attributes:
        secret: 32 bytes, of this subject and for this alone.

    Raises:
        ValueError: the secret has another length; an empty one would key nothing.
    """

    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        """Check the secret."""
        if len(self.secret) != SECRET_BYTES:
            raise ValueError(
                f"the secret of suppressions has {len(self.secret)} bytes, not {SECRET_BYTES}: "
                "make it with SuppressionKeying.of_subject"
            )

    @classmethod
    def of_subject(cls, id_secret: bytes) -> SuppressionKeying:
        """Return the keying of a subject.

        Args:
            id_secret: the subject's 32-byte secret, which the keyring holds.
        """
        return cls(hmac.digest(id_secret, _CONTEXT, hashlib.sha256))

    def stated_keys(self, stated: Statement) -> frozenset[bytes]:
        """Return the keys of a statement: two statements that share one count as the same."""
        return frozenset(map(self._key, statement_forms(stated)))

    def suppression_keys(self, stated: Statement) -> frozenset[bytes]:
        """Return every key under which a statement is not stored again, that of its words too."""
        return self.stated_keys(stated) | {self.words_key(stated.about, stated.content)}

    def words_key(self, about: str, content: str) -> bytes:
        """Return the key of words, whatever they are filed as and whenever they were true.

        It is for what speaks of several times at once, as a memory does that stands for others.
        """
        return self._key(("words", folded(about), folded(content)))

    def _key(self, form: Form) -> bytes:
        digest = hashlib.blake2b(digest_size=KEY_BYTES, key=self.secret)
        for part in form:
            encoded = part.encode()
            digest.update(len(encoded).to_bytes(4, "big"))
            digest.update(encoded)
        return digest.digest()


def statement_forms(stated: Statement) -> frozenset[Form]:
    """Return the forms of a statement: two statements that share one count as the same.

    The words of a fact count whether it is filed as a fact or as a rule; those of an episode with
    its time. A statement that another model words differently is found by what caused it: the value
    of a slot of one value by the turn, any other by the turn and the words that are its evidence.
    Without evidence the turn is no cause.
    """
    kinds = _LASTING if stated.kind in _LASTING else (stated.kind,)
    forms: set[Form] = {
        ("statement", *statement_parts(it, stated.about, stated.content, stated.valid_from))
        for it in kinds
    }
    if stated.quote:
        forms.add(_source_form(stated))
    return frozenset(forms)


def _source_form(stated: Statement) -> Form:
    # The evidence tells which statement is meant; where it is left out, the slot does.
    single = stated.slot in SINGLE_VALUED
    which = (stated.slot.value, "") if single else ("", folded(stated.quote))
    return ("source", str(stated.turn_id), folded(stated.about), *which)
