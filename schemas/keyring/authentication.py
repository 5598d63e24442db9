"""Which tenant an API key belongs to, remembered for a lease."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from schemas.errors import InvalidApiKey
from schemas.keyring.api_keys import ApiKey
from schemas.keyring.store import KeyringStore

UNKNOWN_KEPT_MAX: Final = 1_024
"""Of how many key ids it is remembered, for a lease, that there is no such key: so asking again
costs what it costs for one that there is."""

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
        # Bounded by the number of valid keys there ever were.
        self._known: dict[str, _Known] = {}
        # Until when each id is known to be none.
        self._unknown: OrderedDict[str, float] = OrderedDict()

    async def authenticate(self, token: str) -> str:
        """Return the name of the tenant that an API key belongs to.

        Raises:
            InvalidApiKey: the key is malformed, unknown or revoked.
            KeyringUnavailable: it cannot be told.
        """
        key = ApiKey.parse(token)
        known = await self._find(key.key_id)
        # Both are always asked: a key that is not there costs what a wrong secret costs.
        if not key.matches(known.digest if known else _NO_DIGEST) or known is None:
            raise InvalidApiKey("the API key is unknown or revoked: ask the operator for a new one")
        return known.tenant

    async def tenant_of(self, key_id: str) -> str | None:
        """Return the tenant of a valid API key by its id; ``None`` where there is no such key.

        Raises:
            KeyringUnavailable: it cannot be told.
        """
        known = await self._find(key_id)
        return None if known is None else known.tenant

    def forget(self, key_id: str) -> None:
        """Ask again for this key the next time."""
        self._known.pop(key_id, None)
        self._unknown.pop(key_id, None)

    async def _find(self, key_id: str) -> _Known | None:
        now = self._clock()
        known = self._known.get(key_id)
        if known is not None and now < known.valid_until:
            return known
        if now < self._unknown.get(key_id, now):
            return None
        return await self._look_up(key_id)

    async def _look_up(self, key_id: str) -> _Known | None:
        began = self._clock()
        found = await self._store.api_key(key_id)
        self.forget(key_id)
        if found is None:
            self._unknown[key_id] = began + self._lease_seconds
            while len(self._unknown) > UNKNOWN_KEPT_MAX:
                self._unknown.popitem(last=False)
            return None
        digest, tenant = found
        known = _Known(tenant=tenant, valid_until=began + self._lease_seconds, digest=digest)
        self._known[key_id] = known
        return known
