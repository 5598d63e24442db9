"""Which tenant an API key belongs to, remembered for a lease."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from schemas.errors import InvalidApiKey
from schemas.keyring.api_keys import ApiKey
from schemas.keyring.store import KeyringStore

# Compared against where a key is not known, so that its absence takes as long as a wrong secret.
_NO_DIGEST: Final = bytes(32)


@dataclass(frozen=True, slots=True)
class _Known:
    tenant: str
    valid_until: float
    digest: bytes = field(repr=False)


class Authenticator:
    """Tells whose an API key is; a revocation takes effect everywhere within a lease.

    Args:
        store: the keyring's tables.
        lease_seconds: how long an answer is good for.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        store: KeyringStore,
        *,
        lease_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._lease_seconds = lease_seconds
        self._clock = clock
        # Bounded by the number of valid keys there ever were: nothing else is remembered.
        self._known: dict[str, _Known] = {}

    async def authenticate(self, token: str) -> str:
        """Return the name of the tenant that an API key belongs to.

        Raises:
            InvalidApiKey: the key is malformed, unknown or revoked.
            KeyringUnavailable: it cannot be told.
        """
        key = ApiKey.parse(token)
        known = self._known.get(key.key_id)
        if known is None or self._clock() >= known.valid_until:
            known = await self._look_up(key.key_id)
        if not key.matches(known.digest if known else _NO_DIGEST) or known is None:
            raise InvalidApiKey("the API key is unknown or revoked: ask the operator for a new one")
        return known.tenant

    def forget(self, key_id: str) -> None:
        """Ask again for this key the next time."""
        self._known.pop(key_id, None)

    async def _look_up(self, key_id: str) -> _Known | None:
        began = self._clock()
        found = await self._store.api_key(key_id)
        self.forget(key_id)
        if found is None:
            return None
        digest, tenant = found
        known = _Known(tenant=tenant, valid_until=began + self._lease_seconds, digest=digest)
        self._known[key_id] = known
        return known
