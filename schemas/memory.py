"""What a memory is: one version of one statement, with where it came from and when it held."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import blake2b
from typing import Annotated, Final
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

from schemas.slots import SINGLE_VALUED, Slot

ABOUT_USER: Final = "user"
"""The value of ``about`` for a statement about the user; else the name or the relation of whom."""

ABOUT_ASSISTANT: Final = "assistant"
"""The value of ``about`` for what the assistant said: kept as an episode and never as a fact."""

CONTENT_CHARACTERS_MAX: Final = 2_000
"""Most characters of a statement: about 500 tokens, a page's third, which no single fact needs.

The whole of a turn, which the ``verbatim`` extractor keeps, may be as long as the turn is.
"""


def _in_utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


UtcDatetime = Annotated[AwareDatetime, AfterValidator(_in_utc)]
"""An aware time, held in UTC; a time without a zone is refused."""


class Record(BaseModel):
    """The base of everything that lands in the log: frozen, and closed to unknown fields."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64"
    )


class MemoryKind(StrEnum):
    """What sort of statement a memory is."""

    SEMANTIC = "semantic"
    """A fact, which holds until it is changed."""
    EPISODIC = "episodic"
    """Something that happened or was said at one time."""
    PROCEDURAL = "procedural"
    """How the assistant should behave."""


class Confidence(StrEnum):
    """Whether the user said it or it was concluded."""

    STATED = "stated"
    INFERRED = "inferred"


class Source(StrEnum):
    """Who vouches for a memory."""

    USER = "user"
    CURATION = "curation"
    SYSTEM = "system"
    ASSISTANT = "assistant"
    """The assistant said it, which makes it an episode and never a fact about the user."""


class Embedding(Record):
    """The vector of a memory's content, with the model that made it.

    Attributes:
        model: the embedder's name; similarities hold only within one name.
        dimension: number of components.
        halves: the components as little-endian IEEE 754 half floats, ``2 * dimension`` bytes. The
            read model stores halves, so the log holds exactly what is served.
    """

    model: str
    dimension: int = Field(gt=0)
    halves: bytes


class Precision(StrEnum):
    """How exactly a time was told: its start then stands for the whole of it."""

    MOMENT = "moment"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


class Provenance(Record):
    """Where a fact of the operator's own systems comes from.

    Attributes:
        system: the system that knows it: ``orders``.
        type: what sort of fact it is there: ``order_late``.
        reference: the system's own name for it: an order's number; ``None`` where it has none.
    """

    system: str = Field(min_length=1)
    type: str = Field(min_length=1)
    reference: str | None = None


class Memory(Record):
    """One version of one statement.

    Attributes:
        memory_id: this version; derived from the outcome that brought it forth.
        lineage_id: the ``memory_id`` of the lineage's first version.
        kind: semantic, episodic or procedural.
        content: the statement, in the user's language.
        slot: the attribute it states.
        about: ``"user"``, or of whom it speaks.
        importance: 1 (trivia) to 5 (safety).
        confidence: stated or inferred.
        source: who vouches for it.
        turn_id: the turn that caused it, or the record that did where no turn stands behind it.
        conversation_id: the conversation of that turn; empty without one.
        quote: the exact words of the turn that caused it; empty without a turn.
        valid_from: since when it is true.
        valid_from_precision: how exactly that was told: "in 2019" begins with that year, and is no
            1 January.
        valid_to: until when it was true; ``None`` while it is.
        recorded_at: when the ledger learnt it.
        expires_at: when it ceases by itself, or ``None``.
        embedding: the vector of ``content``; ``None`` where the embedder gave none (yet).
        provenance: the operator's system that it comes from; ``None`` for every other source.
        merged_from: the versions that this one stands for since a consolidation; none of them is
            itself a merged one.
        curated_at: when a person created, approved or corrected it; ``None`` where nobody did.
    """

    memory_id: UUID
    lineage_id: UUID
    kind: MemoryKind
    content: str = Field(min_length=1)
    slot: Slot
    about: str = Field(min_length=1)
    importance: int = Field(ge=1, le=5)
    confidence: Confidence
    source: Source
    turn_id: UUID
    conversation_id: str
    quote: str
    valid_from: UtcDatetime
    valid_from_precision: Precision = Precision.MOMENT
    valid_to: UtcDatetime | None = None
    recorded_at: UtcDatetime
    expires_at: UtcDatetime | None = None
    embedding: Embedding | None = None
    provenance: Provenance | None = None
    merged_from: tuple[UUID, ...] = ()
    curated_at: UtcDatetime | None = None

    @property
    def single_valued(self) -> bool:
        """Whether a newer value of the same slot and about displaces this one."""
        return self.slot in SINGLE_VALUED


def statement_key(kind: MemoryKind, about: str, content: str, valid_from: datetime) -> bytes:
    """Return the 16-byte key under which two statements count as the same one.

    Case, spacing, punctuation and Unicode form do not matter. An episode is bound to its time: the
    same words said at another time are another episode. It has no secret: whoever has it can try
    words, so it stands nowhere but beside the words themselves.
    """
    digest = blake2b(digest_size=16, person=b"ml-statement")
    for part in statement_parts(kind, about, content, valid_from):
        encoded = part.encode()
        digest.update(len(encoded).to_bytes(4, "big"))
        digest.update(encoded)
    return digest.digest()


def statement_parts(
    kind: MemoryKind, about: str, content: str, valid_from: datetime
) -> tuple[str, ...]:
    """Return what of a statement counts when two are compared: what its key is a digest of."""
    moment = valid_from.astimezone(UTC).isoformat() if kind is MemoryKind.EPISODIC else ""
    return (kind.value, folded(about), folded(content), moment)


def folded(text: str) -> str:
    """Return ``text`` without case, spacing and punctuation, for comparing statements.

    What changes the meaning stays: symbols (``C`` and ``C++`` differ), the marks of a name or an
    amount (``C#``, ``.NET``, ``5%``, ``snake_case``, ``@ann``), signs and points between digits
    (``1.5`` and ``15`` differ), and an address as a whole (``a.b@c.org``, ``https://c.org/a-b``). A
    text of nothing but punctuation is kept as it is, so that two of them differ.
    """
    normal = unicodedata.normalize("NFKC", text).casefold()
    if not normal.isascii():
        # Folding case may take a composed letter apart.
        normal = unicodedata.normalize("NFKC", normal)
    if normal.replace(" ", "").isalnum():
        return " ".join(normal.split())
    return " ".join(" ".join(map(_folded_word, _words(normal))).split()) or normal


_INVISIBLE: Final = ("Z", "Cc", "Cf", "Cs")
"""Categories that part words. What this Python does not know yet (Cn) may be tomorrow's letter."""

_ADDRESS: Final = re.compile(r"[^\W_](@|://)[^\W_]")


def _words(text: str) -> list[str]:
    if text.isprintable():
        return text.split()
    return "".join(
        " " if unicodedata.category(character).startswith(_INVISIBLE) else character
        for character in text
    ).split()


def _folded_word(word: str) -> str:
    if word.isalnum():
        return word
    if _ADDRESS.search(word) is not None:
        return _without_ends(word)
    return "".join(
        character if _is_kept(word, index) else " " for index, character in enumerate(word)
    )


def _without_ends(word: str) -> str:
    """Return a word without the punctuation around it."""
    kept = [place for place, character in enumerate(word) if not _is_punctuation(character)]
    return word[kept[0] : kept[-1] + 1]


def _is_kept(word: str, index: int) -> bool:
    character = word[index]
    if not _is_punctuation(character):
        return True
    before, after = word[index - 1 : index], word[index + 1 : index + 2]
    match character:
        case "#" | "%" | "@":
            return before.isalnum() or after.isalnum()
        case "_":
            return before.isalnum() and after.isalnum()
        case ".":
            return (before.isdigit() and after.isdigit()) or (not before and after.isalpha())
        case "-":
            return after.isdigit()
    return before.isdigit() and after.isdigit()


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character).startswith("P")
