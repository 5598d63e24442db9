from __future__ import annotations

import dataclasses
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.errors import SealBroken
from schemas.sealing import OVERHEAD_BYTES, Header, open_sealed, seal

# On a busy machine an example may take long for reasons of its own.
unhurried = settings(deadline=None)

KEY = bytes(range(32))
HEADER = Header(
    subject=UUID(int=1),
    record_id=UUID(int=2),
    address=0x4E20_0123_4567_89AB,
    schema_name="turn",
    schema_version=1,
)

# Names of one to 60 characters are below the limit of 255 bytes, whatever the characters.
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)
headers = st.builds(
    Header,
    subject=st.uuids(),
    record_id=st.uuids(),
    address=st.integers(0, 2**64 - 1),
    schema_name=names,
    schema_version=st.integers(0, 2**16 - 1),
)


def flip(data: bytes, bit: int) -> bytes:
    flipped = bytearray(data)
    flipped[bit // 8] ^= 1 << bit % 8
    return bytes(flipped)


class TestHeader:
    @unhurried
    @given(header=headers)
    def test_reads_back_the_same_from_its_bytes(self, header: Header) -> None:
        assert Header.decode(header.encode()) == header

    def test_has_bytes_that_do_not_change_between_releases(self) -> None:
        fields = [
            "01",
            "00000000000000000000000000000001",
            "00000000000000000000000000000002",
            "4e200123456789ab",
            "0001",
            "04",
            "7475726e",
        ]
        assert HEADER.encode().hex() == "".join(fields)

    @unhurried
    @given(data=st.binary(max_size=90))
    def test_that_is_malformed_is_a_broken_seal_and_nothing_else(self, data: bytes) -> None:
        for candidate in (data, b"\x01" + data):
            try:
                header = Header.decode(candidate)
            except SealBroken:
                continue
            assert header.encode() == candidate

    @unhurried
    @given(header=headers, data=st.data())
    def test_that_is_cut_or_continued_is_a_broken_seal(
        self, header: Header, data: st.DataObject
    ) -> None:
        whole = header.encode()
        cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
        for candidate in (cut, whole + data.draw(st.binary(min_size=1, max_size=9))):
            with pytest.raises(SealBroken):
                Header.decode(candidate)

    @pytest.mark.parametrize(
        ("data", "reason"),
        [
            (b"", "at least 44 bytes"),
            (b"\x07" + HEADER.encode()[1:], "format version is 7"),
            (HEADER.encode()[:-4] + b"\xff\xff\xff\xff", "not UTF-8"),
            (HEADER.encode()[:-5] + b"\x00", "schema name"),
            (HEADER.encode() + b"x", "announces 4 bytes"),
        ],
    )
    def test_that_is_malformed_says_what_is_wrong(self, data: bytes, reason: str) -> None:
        with pytest.raises(SealBroken, match=reason):
            Header.decode(data)

    @pytest.mark.parametrize(
        "changed",
        [
            {"address": 2**64},
            {"address": -1},
            {"schema_version": 2**16},
            {"schema_name": ""},
            {"schema_name": "n" * 256},
            {"format_version": 2},
        ],
    )
    def test_outside_its_ranges_is_never_written(self, changed: dict[str, int | str]) -> None:
        header = dataclasses.replace(HEADER, **changed)  # type: ignore[arg-type]  # one of many
        with pytest.raises(ValueError, match=r"bits|bytes|version"):
            header.encode()


class TestSeal:
    @unhurried
    @given(header=headers, key=st.binary(min_size=32, max_size=32), payload=st.binary())
    def test_opens_to_what_was_sealed(self, header: Header, key: bytes, payload: bytes) -> None:
        header_bytes = header.encode()
        assert open_sealed(key, header_bytes, seal(key, header_bytes, payload)) == payload

    @unhurried
    @given(header=headers, payload=st.binary(max_size=64), data=st.data())
    def test_breaks_with_any_flipped_bit(
        self, header: Header, payload: bytes, data: st.DataObject
    ) -> None:
        header_bytes = header.encode()
        sealed = seal(KEY, header_bytes, payload)
        header_bit = data.draw(st.integers(0, len(header_bytes) * 8 - 1))
        sealed_bit = data.draw(st.integers(0, len(sealed) * 8 - 1))
        key_bit = data.draw(st.integers(0, len(KEY) * 8 - 1))
        for key, associated, candidate in (
            (KEY, flip(header_bytes, header_bit), sealed),
            (KEY, header_bytes, flip(sealed, sealed_bit)),
            (flip(KEY, key_bit), header_bytes, sealed),
        ):
            with pytest.raises(SealBroken):
                open_sealed(key, associated, candidate)

    @unhurried
    @given(payload=st.binary(min_size=8))
    def test_never_shows_the_payload(self, payload: bytes) -> None:
        assert payload not in seal(KEY, HEADER.encode(), payload)

    def test_of_equal_payloads_differs_every_time(self) -> None:
        sealed = {seal(KEY, HEADER.encode(), b"the same") for _ in range(100)}
        assert len({each[:12] for each in sealed}) == 100

    def test_adds_28_bytes(self) -> None:
        assert len(seal(KEY, HEADER.encode(), b"x" * 100)) == 100 + OVERHEAD_BYTES == 128

    @pytest.mark.parametrize("length", [0, 12, 27])
    def test_that_was_cut_below_its_overhead_is_broken(self, length: int) -> None:
        with pytest.raises(SealBroken, match="at least 28 bytes"):
            open_sealed(KEY, HEADER.encode(), bytes(length))
