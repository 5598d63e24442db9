"""API keys: ``mlk_<key id>_<secret>``, shown once; the keyring stores a digest of the secret."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field
from typing import Final

from schemas.errors import InvalidApiKey
from schemas.user_tokens import is_user_token

_TOKEN: Final = re.compile(r"mlk_([0-9a-f]{16})_([0-9a-f]{64})")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """An API key as its bearer holds it.

    Attributes:
        key_id: names the key, 16 hexadecimal digits; not a secret.
        secret: 64 hexadecimal digits.
    """

    key_id: str
    secret: str = field(repr=False)

    @staticmethod
    def new() -> ApiKey:
        """Return a fresh key."""
        return ApiKey(key_id=secrets.token_hex(8), secret=secrets.token_hex(32))

    @staticmethod
    def parse(token: str) -> ApiKey:
        """Return the key that a token spells.

        Raises:
            InvalidApiKey: it spells none.
        """
        match = _TOKEN.fullmatch(token)
        if match is None:
            raise InvalidApiKey(
                "a user token opens only /v1/me or /mcp: send the API key"
                if is_user_token(token)
                else "an API key looks like mlk_<16 digits>_<64 digits>: send it whole"
            )
        return ApiKey(key_id=match[1], secret=match[2])

    @property
    def token(self) -> str:
        """What the bearer sends."""
        return f"mlk_{self.key_id}_{self.secret}"

    @property
    def digest(self) -> bytes:
        """What the keyring stores: SHA-256 of the secret."""
        return hashlib.sha256(self.secret.encode()).digest()

    def matches(self, digest: bytes) -> bool:
        """Tell in constant time whether a stored digest is this key's."""
        return hmac.compare_digest(self.digest, digest)
