from __future__ import annotations

import dataclasses
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from schemas.errors import KeyMissing
from schemas.keyring.records import StoredBucket, StoredKeys, SubjectKeys
from schemas.keyring.wrapping import (
    BUCKETS,
    FileEpochKeys,
    Wrapper,
    new_keys,
    open_user_id,
    seal_user_id,
    user_index,
)


@pytest.fixture
def epoch_keys(tmp_path: Path) -> FileEpochKeys:
    keys = FileEpochKeys(tmp_path / "keys")
    keys.create_missing()
    return keys


@pytest.fixture
def wrapper(epoch_keys: FileEpochKeys) -> Wrapper:
    wrapper = Wrapper(epoch_keys)
    for bucket_id in range(BUCKETS):
        wrapper.learn(wrapper.new_bucket(bucket_id, 1))
    return wrapper


def stored(wrapper: Wrapper, keys: SubjectKeys) -> StoredKeys:
    return StoredKeys(
        subject=keys.subject, wrapped=wrapper.wrap(keys), bucket=wrapper.bucket_of(keys.subject)
    )


def flip_last_bit(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


class TestKeyDirectory:
    def test_holds_keys_that_only_their_owner_reads(
        self, epoch_keys: FileEpochKeys, tmp_path: Path
    ) -> None:
        files = sorted((tmp_path / "keys").iterdir())
        assert [file.name for file in files] == ["epoch-0001.key", "index.key"]
        for file in files:
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            assert len(file.read_bytes()) == 32
        assert stat.S_IMODE((tmp_path / "keys").stat().st_mode) == 0o700
        assert epoch_keys.epoch_key(1) != epoch_keys.index_key()

    def test_never_replaces_a_key(self, epoch_keys: FileEpochKeys) -> None:
        before = (epoch_keys.index_key(), epoch_keys.epoch_key(1))
        epoch_keys.create_missing()
        assert (epoch_keys.index_key(), epoch_keys.epoch_key(1)) == before

    def test_completes_what_a_crash_left_undone(
        self, epoch_keys: FileEpochKeys, tmp_path: Path
    ) -> None:
        index_key = epoch_keys.index_key()
        (tmp_path / "keys" / "epoch-0001.key").unlink()
        epoch_keys.create_missing()
        assert len(epoch_keys.epoch_key(1)) == 32
        assert epoch_keys.index_key() == index_key

    def test_made_by_many_at_once_gives_all_the_same_keys(self, tmp_path: Path) -> None:
        def make(_: int) -> tuple[bytes, bytes]:
            keys = FileEpochKeys(tmp_path / "shared")
            keys.create_missing()
            return keys.index_key(), keys.epoch_key(1)

        with ThreadPoolExecutor(8) as pool:
            assert len(set(pool.map(make, range(32)))) == 1
        assert len(list((tmp_path / "shared").iterdir())) == 2

    def test_keeps_the_key_of_a_process_that_was_faster(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        link = os.link

        def link_too_late(draft: Path, path: Path) -> None:
            path.write_bytes(b"f" * 32)
            link(draft, path)

        monkeypatch.setattr(os, "link", link_too_late)
        keys = FileEpochKeys(tmp_path)
        keys.create_missing()
        assert keys.index_key() == keys.epoch_key(1) == b"f" * 32
        assert len(list(tmp_path.iterdir())) == 2

    def test_without_a_key_says_so_and_makes_none(self, tmp_path: Path) -> None:
        keys = FileEpochKeys(tmp_path)
        with pytest.raises(KeyMissing, match="restore the key directory from its backup"):
            keys.epoch_key(1)
        with pytest.raises(KeyMissing, match=r"index\.key"):
            keys.index_key()
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("length", [0, 31, 33])
    def test_with_a_key_of_another_length_says_so(self, tmp_path: Path, length: int) -> None:
        (tmp_path / "epoch-0001.key").write_bytes(bytes(length))
        with pytest.raises(KeyMissing, match=f"holds {length} bytes"):
            FileEpochKeys(tmp_path).epoch_key(1)


class TestWrapping:
    def test_gives_back_the_same_keys(self, wrapper: Wrapper) -> None:
        keys = new_keys(uuid4(), "acme")
        assert wrapper.unwrap(stored(wrapper, keys), "acme") == keys

    def test_gives_back_punctured_seeds(self, wrapper: Wrapper) -> None:
        keys = new_keys(uuid4(), "acme")
        punctured = dataclasses.replace(keys, seeds=keys.seeds.puncture(12345))
        assert wrapper.unwrap(stored(wrapper, punctured), "acme") == punctured

    def test_shows_none_of_the_keys(self, wrapper: Wrapper) -> None:
        keys = new_keys(uuid4(), "acme")
        wrapped = wrapper.wrap(keys)
        assert keys.id_secret not in wrapped
        assert next(iter(keys.seeds.nodes.values())) not in wrapped

    def test_binds_keys_to_their_subject(self, wrapper: Wrapper) -> None:
        one = new_keys(UUID(int=5), "acme")
        other = UUID(int=5 + BUCKETS)  # the same bucket, so only the name differs
        swapped = dataclasses.replace(stored(wrapper, one), subject=other)
        with pytest.raises(KeyMissing, match=str(other)):
            wrapper.unwrap(swapped, "acme")

    @pytest.mark.parametrize("changed", [{"bucket_id": 8}, {"epoch": 2}, {"key_version": 2}])
    def test_binds_a_buckets_key_to_its_row(
        self, wrapper: Wrapper, tmp_path: Path, changed: dict[str, int]
    ) -> None:
        epoch_2 = tmp_path / "keys" / "epoch-0002.key"
        epoch_2.write_bytes((tmp_path / "keys" / "epoch-0001.key").read_bytes())
        bucket = dataclasses.replace(wrapper.new_bucket(7, 1), **changed)  # type: ignore[arg-type]  # all are int
        with pytest.raises(KeyMissing, match="belongs to another keyring"):
            wrapper.learn(bucket)

    def test_altered_keys_are_missing_never_erased(self, wrapper: Wrapper) -> None:
        found = stored(wrapper, new_keys(uuid4(), "acme"))
        altered = dataclasses.replace(found, wrapped=flip_last_bit(found.wrapped))
        with pytest.raises(KeyMissing, match="restore it whole"):
            wrapper.unwrap(altered, "acme")

    def test_follows_a_bucket_that_has_a_new_key(self, wrapper: Wrapper) -> None:
        keys = new_keys(uuid4(), "acme")
        before = stored(wrapper, keys)
        wrapper.learn(wrapper.new_bucket(before.bucket.bucket_id, 1))
        after = stored(wrapper, keys)
        assert after.bucket != before.bucket
        assert wrapper.unwrap(after, "acme") == keys
        crossed = dataclasses.replace(before, bucket=after.bucket)
        with pytest.raises(KeyMissing):
            wrapper.unwrap(crossed, "acme")

    def test_under_another_directorys_epoch_key_says_so(
        self, wrapper: Wrapper, tmp_path: Path
    ) -> None:
        bucket: StoredBucket = wrapper.new_bucket(0, 1)
        others = FileEpochKeys(tmp_path / "others")
        others.create_missing()
        with pytest.raises(KeyMissing, match="MEMLEDGER_KEY_DIRECTORY"):
            Wrapper(others).learn(bucket)


class TestUsers:
    def test_are_indexed_by_tenant_user_and_key(self) -> None:
        tenant, key = UUID(int=1), bytes(32)
        index = user_index(key, tenant, "ann")
        assert index == user_index(key, tenant, "ann")
        assert index != user_index(key, UUID(int=2), "ann")
        assert index != user_index(key, tenant, "Ann")
        assert index != user_index(b"\1" * 32, tenant, "ann")
        assert b"ann" not in index

    @pytest.mark.parametrize("user_id", ["ann", "", "a/../b", "nul\0", "é", "e\u0301", "x" * 3000])
    def test_are_named_again_by_their_subjects_keys_alone(self, user_id: str) -> None:
        keys = new_keys(uuid4(), "acme")
        sealed = seal_user_id(keys, user_id)
        assert open_user_id(keys, sealed) == user_id
        with pytest.raises(KeyMissing):
            open_user_id(new_keys(keys.subject, "acme"), sealed)

    def test_keys_show_in_no_representation(self) -> None:
        keys = new_keys(uuid4(), "acme")
        assert keys.id_secret.hex() not in repr(keys)
        assert "id_secret" not in repr(keys)
        assert "seeds" not in repr(keys)
