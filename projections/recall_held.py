"""All memories of one subject that hold at a moment, as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from projections.reading import Row
from projections.words.postings import Postings, unpacked_words
from schemas.slots import Slot

# The column of the same name: the version, since when it is true, and what it is.
_FACTS: Final = np.dtype([("memory_id", "V16"), ("valid_from", ">i8"), ("marks", ">i2")])
_ID_BYTES: Final = 16
_EPISODIC: Final = 1
_PROCEDURAL: Final = 2
_SAFETY: Final = 4
_PINNED: Final = 8
_ALWAYS: Final = _PROCEDURAL | _SAFETY | _PINNED
_IMPORTANCE_SHIFT: Final = 4
_IMPORTANCE_MASK: Final = 7
_SLOTS: Final = {Slot.DIET: 128, Slot.RESIDENCE: 256}
# Postgres counts microseconds from 2000-01-01, the epoch that this is the distance to.
_POSTGRES_EPOCH_S: Final = 946_684_800
_MICROSECONDS: Final = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """What weighs the memories that hold; the arrays have one element for each, in one order.

    Attributes:
        cosine: similarity to the question; NaN without a vector that can be compared.
        postings: its words.
        turns_next: the first turn of the partition that was not read; ``None`` before any.
        first_open: the subject's first turn that is not closed; ``None`` where all are.
    """

    cosine: NDArray[np.float64]
    postings: Postings
    turns_next: int | None
    first_open: int | None
    _facts: bytes
    _valid_from: NDArray[np.int64]
    _marks: NDArray[np.int16]
    _pinned_ats: bytes

    def __len__(self) -> int:
        return len(self.cosine)

    @property
    def valid_from_s(self) -> NDArray[np.float64]:
        """Since when it is true, in seconds since 1970."""
        return _seconds(self._valid_from)

    @property
    def importance(self) -> NDArray[np.int16]:
        """1 to 5."""
        return (self._marks >> _IMPORTANCE_SHIFT) & _IMPORTANCE_MASK

    @property
    def episodic(self) -> NDArray[np.bool_]:
        """Whether it is an episode."""
        return self._marked(_EPISODIC)

    @property
    def procedural(self) -> NDArray[np.bool_]:
        """Whether it tells how the assistant should behave."""
        return self._marked(_PROCEDURAL)

    @property
    def safety(self) -> NDArray[np.bool_]:
        """Whether it is of the highest importance for the user's safety."""
        return self._marked(_SAFETY)

    @property
    def pinned(self) -> NDArray[np.bool_]:
        """Whether a person pinned it."""
        return self._marked(_PINNED)

    @property
    def always(self) -> NDArray[np.bool_]:
        """Whether it is one of these three, which are served whatever is asked."""
        return self._marked(_ALWAYS)

    def of_slot(self, slot: Slot) -> NDArray[np.bool_]:
        """Return which memories are of a slot that has a topic, about the user."""
        return self._marked(_SLOTS[slot])

    @property
    def pinned_s(self) -> NDArray[np.float64]:
        """When it was pinned, in seconds since 1970; NaN where it is not."""
        pinned_s = np.full(len(self), np.nan)
        pinned_s[self.pinned] = _seconds(np.frombuffer(self._pinned_ats, ">i8"))
        return pinned_s

    def _marked(self, bits: int) -> NDArray[np.bool_]:
        marked: NDArray[np.bool_] = (self._marks & bits) != 0
        return marked

    @property
    def searched(self) -> int:
        """How many have a vector that was compared."""
        return int(np.count_nonzero(~np.isnan(self.cosine)))

    @property
    def nearest(self) -> float | None:
        """The best cosine; ``None`` where nothing was compared."""
        return float(np.nanmax(self.cosine)) if self.searched else None

    def id_bytes(self, place: int) -> bytes:
        """Return the bytes of the id of the memory at a place."""
        begin = place * _FACTS.itemsize
        return self._facts[begin : begin + _ID_BYTES]

    def memory_id(self, place: int) -> UUID:
        """Return the id of the memory at a place."""
        return UUID(bytes=self.id_bytes(place))


def wanted_marks(topics: Iterable[Slot]) -> int:
    """Return the bits of what is always served, and of slots whose topic is asked for."""
    return sum((_SLOTS[slot] for slot in topics), _ALWAYS)


def held_of(row: Row) -> Held:
    """Return what a statement of recall tells, see ``sql/recall.sql``.

    Raises:
        RuntimeError: its columns do not hold as many memories as it says.
    """
    cosine = np.frombuffer(row["cosines"] or b"", ">f4").astype(np.float64)
    facts = np.frombuffer(row["facts"] or b"", _FACTS)
    postings = unpacked_words(row["words"] or b"")
    if not row["stored"] == len(cosine) == len(facts) == len(postings.lengths):
        raise RuntimeError(
            "recall read columns of different lengths: rows hold words that are none"
        )
    return Held(
        cosine=np.minimum(cosine, 1.0),
        postings=postings,
        turns_next=row["turns_next"],
        first_open=row["first_open"],
        _facts=row["facts"] or b"",
        _valid_from=facts["valid_from"],
        _marks=facts["marks"].astype(np.int16),
        _pinned_ats=row["pinned_ats"] or b"",
    )


def _seconds(since_2000: NDArray[np.int64]) -> NDArray[np.float64]:
    return since_2000.astype(np.float64) / _MICROSECONDS + _POSTGRES_EPOCH_S


NOTHING_HELD: Final = held_of(
    {
        "stored": 0,
        "facts": None,
        "cosines": None,
        "pinned_ats": None,
        "words": None,
        "turns_next": None,
        "first_open": None,
    }
)
"""What is held of a user of whom nothing was ever heard."""
