"""A memory's words as the bytes that its row holds, and those of many rows as arrays.

They are numbers of four bytes, little-endian: a zero, the number of words and one, and then one
number for each form: its hash above, how often it occurs in the four bits below. So those of many
rows, one behind the other, can be told apart without a list of their lengths.
"""

from __future__ import annotations

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
_HASH_BITS: Final = 8 * _NUMBER_BYTES - _COUNT_BITS
_HEADER_NUMBERS: Final = 2

_HIGH_BITS: Final = 8
"""The bits of a form that are looked at first: those in the last byte of its number."""

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
        numbers: the numbers of their bytes.
        begins: where the numbers of each memory begin, shape ``(memories,)``.
    """

    lengths: NDArray[np.int64]
    numbers: NDArray[np.uint32]
    begins: NDArray[np.int64]

    def of(self, forms: NDArray[np.uint32]) -> Matches:
        """Return where some forms stand.

        Each number is looked at once, however many forms there are: a page that is asked with has
        more than a hundred words.

        Args:
            forms: the hashes of the forms, in ascending order, shape ``(forms,)``; one that stands
                there twice is found once, at its first place.
        """
        wanted = bytearray(1 << _HIGH_BITS)
        for high in (forms >> np.uint32(_HASH_BITS - _HIGH_BITS)).tolist():
            wanted[high] = True
        last = self.numbers.view(np.uint8)[_NUMBER_BYTES - 1 :: _NUMBER_BYTES].tobytes()
        # A table of bytes: what arrays look up is first widened to eight bytes each.
        at = np.frombuffer(last.translate(wanted), dtype=bool).nonzero()[0]
        found = self.numbers[at]
        hashes = found >> np.uint32(_COUNT_BITS)
        which = forms.searchsorted(hashes)
        # What is alike in its high bits alone is another.
        same = forms.take(which, mode="clip") == hashes
        at, found, which = at[same], found[same], which[same]
        rows = self.begins.searchsorted(at, side="right") - 1
        counts = found & np.uint32(_COUNT_MAX)
        # What stands in front of a memory's forms is none of them, and hardly ever looks like one.
        within = at - self.begins[rows] >= _HEADER_NUMBERS
        if not within.all():
            rows, which, counts = rows[within], which[within], counts[within]
        return Matches(rows=rows, which=which, counts=counts)


@dataclass(frozen=True, kw_only=True, slots=True)
class Matches:
    """Where forms stand; the arrays have one element for each place, in the order of the rows.

    Attributes:
        rows: in which memory.
        which: which of the forms.
        counts: how often it occurs there.
    """

    rows: NDArray[np.int64]
    which: NDArray[np.int64]
    counts: NDArray[np.uint32]


def unpacked_words(packed: bytes) -> Postings:
    """Return the words of memories whose bytes stand one behind the other."""
    numbers = np.frombuffer(packed, "<u4")
    begins = np.flatnonzero(numbers == 0)
    return Postings(
        lengths=numbers[begins + 1].astype(np.int64) - 1, numbers=numbers, begins=begins
    )
