from __future__ import annotations

import random
import warnings
from collections import Counter
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.partitioning import murmur2, partition_for

with warnings.catch_warnings():
    # The library reads its own data files in a way that Python 3.11 warns of.
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.partitioner.default import murmur2 as kafka_python_murmur2

# On a busy machine an example may take long for reasons of its own.
unhurried = settings(deadline=None)


def test_hash_equals_kafka_pythons_on_ten_thousand_random_keys() -> None:
    source = random.Random(20_261)
    for _ in range(10_000):
        key = source.randbytes(source.randrange(64))
        # The other side gives a signed number for the same 32 bits.
        assert murmur2(key) == kafka_python_murmur2(key) & 0xFFFFFFFF, key.hex()


def test_partition_is_the_one_kafkas_default_partitioner_picks_for_the_subjects_bytes() -> None:
    source = random.Random(7)
    for partitions in (1, 2, 8, 12, 1024):
        for _ in range(200):
            subject = UUID(bytes=source.randbytes(16))
            expected = (kafka_python_murmur2(subject.bytes) & 0x7FFFFFFF) % partitions
            assert partition_for(subject, partitions) == expected


@unhurried
@given(subject=st.uuids(), partitions=st.integers(1, 5000))
def test_partition_exists_and_is_the_same_every_time(subject: UUID, partitions: int) -> None:
    partition = partition_for(subject, partitions)
    assert 0 <= partition < partitions
    assert partition_for(UUID(str(subject)), partitions) == partition


def test_subjects_spread_over_all_partitions() -> None:
    source = random.Random(3)
    counts = Counter(partition_for(UUID(bytes=source.randbytes(16)), 8) for _ in range(8000))
    assert set(counts) == set(range(8))
    assert max(counts.values()) < 1.25 * min(counts.values())


@pytest.mark.parametrize("partitions", [0, -1])
def test_no_partition_to_choose_from_is_an_error(partitions: int) -> None:
    with pytest.raises(ValueError, match="at least one partition"):
        partition_for(UUID(int=1), partitions)
