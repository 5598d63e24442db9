"""The keys that user tokens are signed with: ``user-tokens-0001.key`` and on, in the key directory.

Unlike the keys beside them, nothing is unreadable without them: where one is lost, its tokens end,
and a new one is made.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from schemas.errors import KeyMissing
from schemas.keyring.wrapping import KEY_BYTES, create_key

KEPT_S: Final = 5.0
"""How long the directory is not looked at again: so long a rotation takes to arrive."""

_NAME: Final = re.compile(r"user-tokens-(\d{4})\.key")
_NUMBER_MAX: Final = 9_999


class SigningKeys:
    """The signing keys of a key directory. The newest signs, all that are there verify.

    To rotate, make the next one (:meth:`rotate`); to end what an old one signed, remove its file.
    """

    def __init__(
        self,
        directory: Path,
        *,
        kept_s: float = KEPT_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Name the directory.

        Args:
            directory: the key directory.
            kept_s: for how many seconds the keys are kept in memory.
            clock: monotonic seconds.
        """
        self._directory = directory
        self._kept_s = kept_s
        self._clock = clock
        self._keys: dict[int, bytes] = {}
        self._read_at = -math.inf

    def newest(self) -> tuple[int, bytes]:
        """Return the number of the newest key, and the key; the first one is made where none is.

        Raises:
            KeyMissing: there is none and none can be made, or one cannot be read.
        """
        keys = self._current()
        if not keys:
            self._create(1)
            keys = self._current()
        number = max(keys)
        return number, keys[number]

    def numbered(self, number: int) -> bytes | None:
        """Return the key of a number; ``None`` where it is not there, or not any more.

        Raises:
            KeyMissing: a key is there and cannot be read.
        """
        return self._current().get(number)

    def rotate(self) -> int:
        """Make the next key, which signs from now on, and return its number.

        Other processes follow within ``KEPT_S``. What was signed before stays good until it ends.

        Raises:
            KeyMissing: it cannot be made.
        """
        number = max(self._read(), default=0) + 1
        self._create(number)
        return number

    def remove_before(self, number: int) -> list[int]:
        """Remove every key in front of one, and return their numbers: what they signed ends.

        Raises:
            KeyMissing: one cannot be removed.
        """
        older = sorted(known for known in self._read() if known < number)
        for known in older:
            path = self._path(known)
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise KeyMissing(
                    f"{path} cannot be removed: {error.strerror}; remove it yourself"
                ) from error
        self._read_at = -math.inf
        return older

    def _path(self, number: int) -> Path:
        return self._directory / f"user-tokens-{number:04d}.key"

    def _create(self, number: int) -> None:
        if number > _NUMBER_MAX:
            raise KeyMissing(
                f"{self._directory} holds the last key for user tokens that can be: remove old ones"
            )
        path = self._path(number)
        try:
            create_key(path)
        except OSError as error:
            raise KeyMissing(
                f"{path} cannot be made: {error.strerror}; let this process write there once, or "
                f"put a file of {KEY_BYTES} random bytes in its place"
            ) from error
        self._read_at = -math.inf

    def _current(self) -> dict[int, bytes]:
        now = self._clock()
        if now - self._read_at >= self._kept_s:
            self._keys = self._read()
            self._read_at = now
        return self._keys

    def _read(self) -> dict[int, bytes]:
        found: dict[int, bytes] = {}
        try:
            for path in self._directory.iterdir():
                named = _NAME.fullmatch(path.name)
                if named is not None:
                    found[int(named[1])] = path.read_bytes()
        except OSError as error:
            raise KeyMissing(
                f"{self._directory} cannot be read: {error.strerror}; let this process read it"
            ) from error
        for number, key in found.items():
            if len(key) != KEY_BYTES:
                raise KeyMissing(
                    f"user-tokens-{number:04d}.key in {self._directory} holds {len(key)} bytes, a "
                    f"key has {KEY_BYTES}: remove it, which ends what it signed"
                )
        return found
