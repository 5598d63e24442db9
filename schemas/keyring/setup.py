"""Making a new keyring's keys, and checking that an existing one and its key directory fit."""

from __future__ import annotations

import asyncio
import hmac

from schemas.errors import KeyMissing
from schemas.keyring.store import KeyringStore
from schemas.keyring.wrapping import BUCKETS, FIRST_EPOCH, EpochKeys, Wrapper, index_key_check


async def set_up(store: KeyringStore, wrapper: Wrapper, epoch_keys: EpochKeys) -> None:
    """Make the keys of a new keyring; leave one that has buckets as it is.

    Keys outside the database are made only while it is empty, so that a key directory that was
    lost is never replaced in silence.
    """
    async with store.setting_up() as setup:
        if await setup.count_buckets():
            return
        await asyncio.to_thread(epoch_keys.create_missing)
        buckets = [wrapper.new_bucket(bucket_id, FIRST_EPOCH) for bucket_id in range(BUCKETS)]
        await setup.create(buckets, index_key_check(epoch_keys.index_key()))


async def verify(store: KeyringStore, wrapper: Wrapper, epoch_keys: EpochKeys) -> bytes:
    """Open every bucket, and return the index key once it is known to be the right one.

    Raises:
        KeyMissing: a key is not there or not the one that the database was made with.
    """
    buckets = await store.buckets()
    if len(buckets) != BUCKETS:
        raise KeyMissing(
            f"the keyring's database has {len(buckets)} of {BUCKETS} buckets: "
            "run the migrations on a new one, restore an old one whole from its backup"
        )
    for bucket in buckets:
        wrapper.learn(bucket)
    index_key = epoch_keys.index_key()
    expected = await store.index_key_check()
    if expected is None or not hmac.compare_digest(expected, index_key_check(index_key)):
        raise KeyMissing(
            "index.key is not the one that the keyring's database was made with, and users would "
            "not be found by it: restore the key directory from its backup"
        )
    return index_key
