from __future__ import annotations

import datetime as dt
from types import MappingProxyType
from uuid import UUID

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from schemas.tree import (
    ADDRESS_BITS,
    DAY_DEPTH,
    DEPTH,
    Punctured,
    SeedSet,
    address_for,
)

# On a busy machine an example may take long for reasons of its own.
unhurried = settings(deadline=None)

SEED = bytes(range(16))
ROOT = SeedSet.root(SEED)
addresses = st.integers(0, 2**ADDRESS_BITS - 1)


@st.composite
def near_addresses(draw: st.DrawFn) -> list[int]:
    """Addresses that share prefixes of every length, as random ones almost never do."""
    found = draw(st.lists(addresses, min_size=1, max_size=3))
    for _ in range(draw(st.integers(0, 5))):
        near = draw(st.sampled_from(found))
        kept_bits = draw(st.integers(0, ADDRESS_BITS))
        found.append(near ^ (draw(addresses) >> kept_bits))
    return found


def is_punctured(seeds: SeedSet, address: int) -> bool:
    try:
        seeds.leaf_key(address)
    except Punctured:
        return True
    return False


class TestAddress:
    def test_is_the_day_and_then_48_bits_of_the_id(self) -> None:
        record_id = UUID("01234567-89ab-4def-8123-456789abcdef")
        assert address_for(0x4E20, record_id) == 0x4E20_0123_4567_89AB

    def test_of_a_date_counts_days_since_1970(self) -> None:
        assert address_for(dt.date(1970, 1, 2), UUID(int=0)) == 1 << 48
        assert address_for(dt.date(2026, 11, 30), UUID(int=0)) >> 48 == 20787

    @pytest.mark.parametrize(
        ("day", "clamped"),
        [(-1, 0), (dt.date(1969, 12, 31), 0), (70_000, 0xFFFF), (dt.date(2200, 1, 1), 0xFFFF)],
    )
    def test_of_a_day_that_16_bits_cannot_tell_is_clamped(
        self, day: dt.date | int, clamped: int
    ) -> None:
        assert address_for(day, UUID(int=0)) >> 48 == clamped

    def test_of_an_aware_datetime_counts_by_its_utc_day(self) -> None:
        east = dt.timezone(dt.timedelta(hours=9))
        early = dt.datetime(2026, 1, 2, 3, 0, tzinfo=east)
        assert address_for(early, UUID(int=0)) == address_for(dt.date(2026, 1, 1), UUID(int=0))

    def test_of_a_naive_datetime_is_refused(self) -> None:
        naive = dt.datetime(2026, 1, 1, tzinfo=dt.UTC).replace(tzinfo=None)
        with pytest.raises(ValueError, match="time zone"):
            address_for(naive, UUID(int=0))

    @unhurried
    @given(day=st.integers(), record_id=st.uuids())
    def test_always_fits_64_bits(self, day: int, record_id: UUID) -> None:
        assert 0 <= address_for(day, record_id) < 2**ADDRESS_BITS


class TestLeafKeys:
    def test_do_not_change_between_releases(self) -> None:
        # Computed once by an implementation of its own: one BLAKE2s call a step, nothing shared.
        assert (
            ROOT.leaf_key(0).hex()
            == "858a9dcacee36617fa9080deb219b282de92c42d7e3e15a090b86675413da91a"
        )
        assert (
            ROOT.leaf_key(0x4E20_0123_4567_89AB).hex()
            == "f5e5d9ae009f8fcdc7a7422401584b41d1c3bbf176bd89f78fccd242be2345f2"
        )

    @unhurried
    @given(one=addresses, other=addresses)
    def test_differ_between_addresses(self, one: int, other: int) -> None:
        assert (ROOT.leaf_key(one) == ROOT.leaf_key(other)) == (one == other)

    @unhurried
    @given(address=addresses, seed=st.binary(min_size=16, max_size=16))
    def test_differ_between_roots(self, address: int, seed: bytes) -> None:
        assume(seed != SEED)
        assert SeedSet.root(seed).leaf_key(address) != ROOT.leaf_key(address)

    @unhurried
    @given(address=addresses)
    def test_are_keys_of_aes_256(self, address: int) -> None:
        assert len(ROOT.leaf_key(address)) == 32

    @pytest.mark.parametrize("address", [-1, 2**64])
    def test_of_an_address_outside_the_tree_are_an_error(self, address: int) -> None:
        with pytest.raises(ValueError, match="64 bits"):
            ROOT.leaf_key(address)

    def test_cannot_be_had_from_a_short_seed(self) -> None:
        with pytest.raises(ValueError, match="16 bytes"):
            SeedSet.root(b"short")

    def test_and_seeds_show_in_no_representation(self) -> None:
        assert SEED.hex() not in repr(ROOT)
        assert repr(SEED) not in repr(ROOT)


class TestPuncture:
    @unhurried
    @given(punctured=near_addresses(), others=near_addresses())
    def test_forgets_those_leaves_and_changes_no_other(
        self, punctured: list[int], others: list[int]
    ) -> None:
        seeds = ROOT
        for address in punctured:
            seeds = seeds.puncture(address)
        assert all(is_punctured(seeds, address) for address in punctured)
        neighbours = [address ^ 1 for address in punctured]
        for address in {*others, *neighbours} - set(punctured):
            assert seeds.leaf_key(address) == ROOT.leaf_key(address)

    @unhurried
    @given(punctured=near_addresses())
    def test_keeps_at_most_15_seeds_a_level_for_each_leaf(self, punctured: list[int]) -> None:
        seeds = ROOT
        for address in punctured:
            seeds = seeds.puncture(address)
        assert len(seeds.nodes) <= len(set(punctured)) * 15 * 16

    @unhurried
    @given(punctured=near_addresses())
    def test_does_not_depend_on_order_or_repetition(self, punctured: list[int]) -> None:
        forth = back = ROOT
        for address in punctured:
            forth = forth.puncture(address)
        for address in [*reversed(punctured), *punctured]:
            back = back.puncture(address)
        assert forth.to_bytes() == back.to_bytes()

    @unhurried
    @given(address=addresses, depth=st.integers(0, DEPTH), other=addresses, leaf=addresses)
    def test_of_an_inner_node_forgets_all_below_it(
        self, address: int, depth: int, other: int, leaf: int
    ) -> None:
        shift = ADDRESS_BITS - 4 * depth
        seeds = ROOT.puncture(leaf).puncture(address >> shift, depth)
        below = (address >> shift << shift) | (other & ((1 << shift) - 1))
        assert is_punctured(seeds, below)
        if other >> shift != address >> shift and other != leaf:
            assert seeds.leaf_key(other) == ROOT.leaf_key(other)

    def test_of_a_day_forgets_the_day_and_costs_one_path_of_four_steps(self) -> None:
        day = 20_787
        seeds = ROOT.puncture(day, DAY_DEPTH)
        assert len(seeds.nodes) == 15 * 4
        assert is_punctured(seeds, address_for(day, UUID(int=2**127)))
        assert not is_punctured(seeds, address_for(day + 1, UUID(int=2**127)))

    def test_of_the_root_forgets_everything(self) -> None:
        assert ROOT.puncture(0, 0).nodes == {}

    def test_leaves_the_set_it_was_asked_of_alone(self) -> None:
        ROOT.puncture(5)
        assert ROOT.nodes == {(0, 0): SEED}

    def test_keeps_no_seed_from_which_the_leaf_could_be_computed(self) -> None:
        address = 0x4E20_0123_4567_89AB
        seeds = ROOT.puncture(address)
        above = {(depth, address >> ADDRESS_BITS - 4 * depth) for depth in range(DEPTH + 1)}
        assert not above & set(seeds.nodes)


class TestEncoding:
    @unhurried
    @given(punctured=near_addresses())
    def test_of_punctured_sets_reads_back_the_same(self, punctured: list[int]) -> None:
        seeds = ROOT
        for address in punctured:
            seeds = seeds.puncture(address)
            data = seeds.to_bytes()
            assert SeedSet.from_bytes(data) == seeds
            assert SeedSet.from_bytes(data).to_bytes() == data

    def test_of_the_root_and_of_nothing_read_back_the_same(self) -> None:
        assert SeedSet.from_bytes(ROOT.to_bytes()) == ROOT
        empty = SeedSet(MappingProxyType({}))
        assert SeedSet.from_bytes(empty.to_bytes()) == empty

    def test_of_one_forgotten_leaf_takes_less_than_4_kb(self) -> None:
        assert len(ROOT.puncture(0x4E20_0123_4567_89AB).to_bytes()) < 4000

    def test_begins_with_its_version(self) -> None:
        assert ROOT.to_bytes()[0] == 1

    @unhurried
    @given(data=st.binary(max_size=80), address=addresses)
    def test_that_is_damaged_is_refused_or_canonical(self, data: bytes, address: int) -> None:
        whole = ROOT.puncture(address).to_bytes()
        for damaged in (data, b"\x01" + data, whole[: len(data)], whole + data):
            try:
                seeds = SeedSet.from_bytes(damaged)
            except ValueError:
                continue
            assert seeds.to_bytes() == damaged

    @unhurried
    @given(address=addresses, data=st.data())
    def test_that_is_cut_anywhere_is_refused(self, address: int, data: st.DataObject) -> None:
        whole = ROOT.puncture(address).to_bytes()
        end = data.draw(st.integers(0, len(whole) - 1))
        with pytest.raises(ValueError, match="seed set"):
            SeedSet.from_bytes(whole[:end])

    def test_of_another_version_is_refused(self) -> None:
        with pytest.raises(ValueError, match="version"):
            SeedSet.from_bytes(b"\x02" + ROOT.to_bytes()[1:])

    def test_with_a_node_that_has_nothing_left_below_is_refused(self) -> None:
        with pytest.raises(ValueError, match="valid state"):
            SeedSet.from_bytes(b"\x01\x02" + bytes(4))
