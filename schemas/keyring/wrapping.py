"""How keys are wrapped: an epoch key wraps the bucket keys, a bucket key wraps its subjects' keys.

The epoch key lies outside Postgres and its backups. Destroying it makes every copy of what it
wrapped worthless, in the write-ahead log and in backups as well.
"""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import os
from pathlib import Path
from typing import Final, Protocol
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from schemas.errors import KeyMissing
from schemas.keyring.records import StoredBucket, StoredKeys, SubjectKeys
from schemas.tree import SEED_BYTES, SeedSet

KEY_BYTES: Final = 32
ID_SECRET_BYTES: Final = 32
BUCKETS: Final = 1024
FIRST_EPOCH: Final = 1
_NONCE_BYTES: Final = 12  # NIST SP 800-38D, section 8.2


class EpochKeys(Protocol):
    """Where the keys lie that are kept apart from the keyring's database."""

    def index_key(self) -> bytes:
        """Return the key of 32 bytes under which user ids are indexed.

        Raises:
            KeyMissing: it is not there.
        """

    def epoch_key(self, epoch: int) -> bytes:
        """Return an epoch's key of 32 bytes.

        Raises:
            KeyMissing: it is not there.
        """

    def create_missing(self) -> None:
        """Make the index key and the first epoch's key where they are not there.

        To be called only while the keyring's database is empty.
        """


class FileEpochKeys:
    """Keys in a directory, 32 random bytes each: ``index.key`` and ``epoch-0001.key``."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def index_key(self) -> bytes:
        """Return the key of 32 bytes under which user ids are indexed.

        Raises:
            KeyMissing: the file is not there, or holds no key.
        """
        return self._read(self._directory / "index.key")

    def epoch_key(self, epoch: int) -> bytes:
        """Return an epoch's key of 32 bytes.

        Raises:
            KeyMissing: the file is not there, or holds no key.
        """
        return self._read(self._epoch_file(epoch))

    def create_missing(self) -> None:
        """Make the index key and the first epoch's key where they are not there.

        To be called only while the keyring's database is empty.
        """
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in (self._directory / "index.key", self._epoch_file(FIRST_EPOCH)):
            create_key(path)

    def _epoch_file(self, epoch: int) -> Path:
        return self._directory / f"epoch-{epoch:04d}.key"

    def _read(self, path: Path) -> bytes:
        try:
            key = path.read_bytes()
        except FileNotFoundError as error:
            raise KeyMissing(
                f"{path} is not there, and the keyring's database needs it: restore the key "
                "directory from its backup, or name the right one in MEMLEDGER_KEY_DIRECTORY; "
                "a new key would leave every record unreadable"
            ) from error
        except OSError as error:
            raise KeyMissing(f"{path} cannot be read: {error}; let this process read it") from error
        if len(key) != KEY_BYTES:
            raise KeyMissing(
                f"{path} holds {len(key)} bytes, a key has {KEY_BYTES}: restore it from its backup"
            )
        return key


def create_key(path: Path) -> None:
    """Write a random key that is there whole or not at all, and never replaces another."""
    if path.exists():
        return
    draft = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        try:
            os.write(descriptor, os.urandom(KEY_BYTES))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        try:
            os.link(draft, path)
        except FileExistsError:
            return  # another process was faster, and its key counts
    finally:
        draft.unlink()
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


class Wrapper:
    """Wraps and unwraps under the buckets' keys, which it keeps unwrapped in memory."""

    def __init__(self, epoch_keys: EpochKeys) -> None:
        self._epoch_keys = epoch_keys
        # One epoch at a time: a destroyed epoch's key must not live on here once it is replaced.
        self._epoch: tuple[int, AESGCM] | None = None
        self._buckets: dict[int, tuple[StoredBucket, AESGCM]] = {}

    def new_bucket(self, bucket_id: int, epoch: int, key_version: int = 1) -> StoredBucket:
        """Return a bucket with a fresh key, wrapped under an epoch's key."""
        bucket = StoredBucket(
            bucket_id=bucket_id, epoch=epoch, key_version=key_version, wrapped=b""
        )
        wrapped = _encrypt(self._epoch_cipher(epoch), os.urandom(KEY_BYTES), _bucket_name(bucket))
        return dataclasses.replace(bucket, wrapped=wrapped)

    def learn(self, bucket: StoredBucket) -> AESGCM:
        """Return the cipher of a bucket as the database shows it now, unwrapped at most once.

        Raises:
            KeyMissing: the epoch's key is not there, or does not open the bucket.
        """
        known = self._buckets.get(bucket.bucket_id)
        if known is not None and known[0] == bucket:
            return known[1]
        epoch_cipher = self._epoch_cipher(bucket.epoch)
        try:
            cipher = AESGCM(_decrypt(epoch_cipher, bucket.wrapped, _bucket_name(bucket)))
        except InvalidTag as error:
            raise KeyMissing(
                f"the key of epoch {bucket.epoch} does not open the bucket {bucket.bucket_id}: the "
                "key directory belongs to another keyring; name the right one in "
                "MEMLEDGER_KEY_DIRECTORY, or restore it from its backup"
            ) from error
        self._buckets[bucket.bucket_id] = (bucket, cipher)
        return cipher

    def bucket_of(self, subject: UUID) -> StoredBucket:
        """Return the bucket of a subject, as this process last learnt of it."""
        return self._buckets[subject.int % BUCKETS][0]

    def wrap(self, keys: SubjectKeys) -> bytes:
        """Return a subject's keys under its bucket's key."""
        cipher = self._buckets[keys.subject.int % BUCKETS][1]
        return _encrypt(cipher, keys.id_secret + keys.seeds.to_bytes(), _subject_name(keys.subject))

    def unwrap(self, stored: StoredKeys, tenant: str | None) -> SubjectKeys:
        """Return the keys of a living subject.

        Raises:
            KeyMissing: they do not open under the bucket's key.
        """
        cipher = self.learn(stored.bucket)
        try:
            material = _decrypt(cipher, stored.wrapped, _subject_name(stored.subject))
            seeds = SeedSet.from_bytes(material[ID_SECRET_BYTES:])
        except (InvalidTag, ValueError) as error:
            raise KeyMissing(
                f"the keys of the subject {stored.subject} do not open under its bucket's key: "
                "the keyring was altered or restored in part; restore it whole from its backup"
            ) from error
        return SubjectKeys(
            subject=stored.subject,
            tenant=tenant,
            id_secret=material[:ID_SECRET_BYTES],
            seeds=seeds,
            paused=stored.paused,
        )

    def _epoch_cipher(self, epoch: int) -> AESGCM:
        if self._epoch is None or self._epoch[0] != epoch:
            self._epoch = (epoch, AESGCM(self._epoch_keys.epoch_key(epoch)))
        return self._epoch[1]


def new_keys(subject: UUID, tenant: str | None) -> SubjectKeys:
    """Return fresh keys for a subject."""
    return SubjectKeys(
        subject=subject,
        tenant=tenant,
        id_secret=os.urandom(ID_SECRET_BYTES),
        seeds=SeedSet.root(os.urandom(SEED_BYTES)),
    )


def user_index(index_key: bytes, tenant_id: UUID, user_id: str) -> bytes:
    """Return the index entry of a user: it tells nothing without the index key."""
    return hmac.digest(index_key, tenant_id.bytes + user_id.encode(), hashlib.sha256)


def index_key_check(index_key: bytes) -> bytes:
    """Return what the index key answers, by which the database knows it again."""
    return hmac.digest(index_key, b"memledger index key", hashlib.sha256)


def seal_user_id(keys: SubjectKeys, user_id: str) -> bytes:
    """Return a user id under a key of its subject, so that it is destroyed with it."""
    return _encrypt(_user_cipher(keys), user_id.encode(), _user_name(keys.subject))


def open_user_id(keys: SubjectKeys, sealed: bytes) -> str:
    """Return the user id of a living subject.

    Raises:
        KeyMissing: it does not open under the subject's keys.
    """
    try:
        return _decrypt(_user_cipher(keys), sealed, _user_name(keys.subject)).decode()
    except InvalidTag as error:
        raise KeyMissing(
            f"the user id of the subject {keys.subject} does not open under its keys: "
            "the keyring was altered or restored in part; restore it whole from its backup"
        ) from error


def _user_cipher(keys: SubjectKeys) -> AESGCM:
    return AESGCM(hmac.digest(keys.id_secret, b"memledger user id", hashlib.sha256))


# What is wrapped is named in the associated data, so that no wrapped key can stand in for another.


def _bucket_name(bucket: StoredBucket) -> bytes:
    return f"memledger bucket {bucket.bucket_id} {bucket.epoch} {bucket.key_version}".encode()


def _subject_name(subject: UUID) -> bytes:
    return b"memledger subject " + subject.bytes


def _user_name(subject: UUID) -> bytes:
    return b"memledger user " + subject.bytes


def _encrypt(cipher: AESGCM, plain: bytes, name: bytes) -> bytes:
    nonce = os.urandom(_NONCE_BYTES)
    return nonce + cipher.encrypt(nonce, plain, name)


def _decrypt(cipher: AESGCM, wrapped: bytes, name: bytes) -> bytes:
    return cipher.decrypt(wrapped[:_NONCE_BYTES], wrapped[_NONCE_BYTES:], name)
