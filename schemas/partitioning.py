"""The one function that decides in which partition a subject's records lie.

Every topic of a subject's data has the same number of partitions, and every producer sets the
partition explicitly, so one subject's records lie in one partition of each topic, in order. The
hash is that of Kafka's default partitioner, so that other languages' tools find the same place.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Final
from uuid import UUID

# The constants of MurmurHash2 and the seed, as Kafka's default partitioner fixes them
# (org.apache.kafka.common.utils.Utils.murmur2).
_SEED: Final = 0x9747B28C
_MULTIPLIER: Final = 0x5BD1E995
_WORD: Final = 0xFFFFFFFF
_POSITIVE: Final = 0x7FFFFFFF

_REMEMBERED: Final = 16_384
"""Subjects whose partition is kept: those who talk now, each of whom is asked for every turn."""


def murmur2(data: bytes) -> int:
    """Return Kafka's murmur2 hash of ``data``, as an unsigned integer of 32 bits."""
    length = len(data)
    hashed = _SEED ^ length
    whole = length & ~3
    for (word,) in struct.iter_unpack("<I", data[:whole]):
        mixed = (word * _MULTIPLIER) & _WORD
        mixed ^= mixed >> 24
        hashed = ((hashed * _MULTIPLIER) & _WORD) ^ ((mixed * _MULTIPLIER) & _WORD)
    if whole < length:
        hashed ^= int.from_bytes(data[whole:], "little")
        hashed = (hashed * _MULTIPLIER) & _WORD
    hashed ^= hashed >> 13
    hashed = (hashed * _MULTIPLIER) & _WORD
    return hashed ^ (hashed >> 15)


@lru_cache(maxsize=_REMEMBERED)
def partition_for(subject: UUID, partitions: int) -> int:
    """Return the partition, from 0, of every record of a subject.

    Args:
        subject: the subject the record is about.
        partitions: how many partitions the topics of subjects' data have, at least 1.

    Raises:
        ValueError: there is no partition to choose from.
    """
    if partitions < 1:
        raise ValueError(f"a topic has at least one partition, not {partitions}")
    return (murmur2(subject.bytes) & _POSITIVE) % partitions
