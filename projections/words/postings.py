"""A memory's words as the bytes that its row holds, and those of many rows as arrays.

They are numbers of four bytes, little-endian: a zero, the number of words and one, and then one
number for each form: its hash above, how often it occurs in the four bits below. So those of many
rows, one behind the other, can be told apart without a list of their lengths.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from projections.words.analysis import document_words

WITHOUT_WORDS: Final = (0).to_bytes(4, "little") + (1).to_bytes(4, "little")
"""The bytes of a memory that has no word."""

_COUNT_MAX: Final = 15
_COUNT_BITS: Final = 4
_NUMBER_BYTES: Final = 4
_HEADER_NUMBERS: Final = 2

_LOW_BITS: Final = 0xFFFF
"""The bits of a form that are looked at first: a table of them all stays in the cache."""

# nbtree's BTMaxItemSize of 8 KiB pages: an entry of recall's index holds no more.
_ENTRY_BYTES_MAX: Final = 2_704
# Beside vector and words: entry header, subject, memory, marks, times, the embedder's name
# of at most 200 bytes, and what alignment and lengths take.
_ENTRY_BYTES_OTHERS: Final = 320
_INDEXED_DIMENSION_MAX: Final = 1_000
_FORMS_MAX: Final = 500


def forms_max(dimension: int) -> int:
    """Return how many different forms of a memory are kept, the first ones.

    What is read at every recall lies in one entry of an index, beside a vector of two bytes a
    component.

    Args:
        dimension: the components of the read model's vectors.
    """
    if dimension > _INDEXED_DIMENSION_MAX:
        return _FORMS_MAX  # read in the table
    room = _ENTRY_BYTES_MAX - _ENTRY_BYTES_OTHERS - 2 * dimension
    return min(_FORMS_MAX, room // _NUMBER_BYTES - _HEADER_NUMBERS)


def packed_words(content: str, dimension: int) -> bytes:
    """Return the bytes that the row of a memory holds of its words."""
    words = document_words(content)
    numbers = [0, words.length + 1]
    numbers += [
        (form << _COUNT_BITS) | min(count, _COUNT_MAX)
        for form, count in islice(words.counts.items(), forms_max(dimension))
    ]
    return np.array(numbers, dtype="<u4").tobytes()


@dataclass(frozen=True, kw_only=True, slots=True)
class Postings:
    """The words of some memories.

    Attributes:
        lengths: the number of words of each, shape ``(memories,)``.
        forms: the hash in each number of their bytes.
        counts: how often that form occurs there.
        begins: where the numbers of each memory begin, shape ``(memories,)``.
    """

    lengths: NDArray[np.int64]
    forms: NDArray[np.uint32]
    counts: NDArray[np.uint32]
    begins: NDArray[np.int64]

    def of(self, forms: Iterable[int]) -> Matches:
        """Return where some forms stand, and perhaps a few others.

        Each number is looked at once, however many forms there are: a page that is asked with has
        more than a hundred words.
        """
        wanted = np.zeros(_LOW_BITS + 1, dtype=bool)
        wanted[[form & _LOW_BITS for form in forms]] = True
        at = np.flatnonzero(wanted[self.forms & np.uint32(_LOW_BITS)])
        rows = np.searchsorted(self.begins, at, side="right") - 1
        # What stands in front of a memory's forms is none of them.
        posted = at - self.begins[rows] >= _HEADER_NUMBERS
        at = at[posted]
        return Matches(rows=rows[posted], forms=self.forms[at], counts=self.counts[at])


@dataclass(frozen=True, kw_only=True, slots=True)
class Matches:
    """Where forms stand; the arrays have one element for each place.

    Attributes:
        rows: in which memory.
        forms: which form.
        counts: how often it occurs there.
    """

    rows: NDArray[np.int64]
    forms: NDArray[np.uint32]
    counts: NDArray[np.uint32]

    def holding(self, form: int) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """Return which memories hold a form, and how often."""
        at = np.flatnonzero(self.forms == form)
        return self.rows[at], self.counts[at]


def unpacked_words(packed: bytes) -> Postings:
    """Return the words of memories whose bytes stand one behind the other."""
    numbers = np.frombuffer(packed, "<u4")
    begins = np.flatnonzero(numbers == 0)
    return Postings(
        lengths=numbers[begins + 1].astype(np.int64) - 1,
        forms=numbers >> np.uint32(_COUNT_BITS),
        counts=numbers & np.uint32(_COUNT_MAX),
        begins=begins,
    )
