"""User tokens: short-lived, signed, each for one user of one tenant and for one purpose.

A token is ``mlu_<claims>.<signature>``, both in base64url without padding. The claims are JSON in
the clear: tenant, user, audience, the API key it was asked for with, when it was made and when it
ends. The signature is HMAC-SHA256 over everything in front of the dot, under a key of the key
directory that the claims name by its number. So whoever holds a token reads whose it is, and can
change nothing.

Nothing is stored of a token: it ends by itself, with the API key that it was asked for with, or
with its signing key.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from schemas.errors import InvalidInput, InvalidUserToken

LIFETIME_DEFAULT_S: Final = 15 * 60
LIFETIME_MAX_S: Final = 24 * 60 * 60
LIFETIME_MIN_S: Final = 1
SKEW_S: Final = 30
"""By how many seconds the clocks of two machines may differ: a token is good for so long after its
end, and may have been made so far in the future."""

PREFIX: Final = "mlu_"
_API_KEY_PREFIX: Final = "mlk_"  # that of schemas.keyring.api_keys
TOKEN_CHARACTERS_MAX: Final = 8_192
"""No token is longer: the longest user id and tenant's name have 2,848 bytes in UTF-8, or as many
characters that JSON escapes. What is longer is not looked at."""

_SIGNATURE_BYTES: Final = hashlib.sha256().digest_size
_SIGNATURE_CHARACTERS: Final = math.ceil(_SIGNATURE_BYTES * 8 / 6)
# No key and so no signature: compared against where the named key is not there.
_NO_KEY: Final = bytes(32)


class Audience(StrEnum):
    """What a token is for; it opens no other door."""

    MCP = "mcp"
    """The MCP server."""
    PAGE = "page"
    """The page on which a user sees what is remembered."""


class SigningKeys(Protocol):
    """The keys that tokens are signed with: :class:`~schemas.keyring.signing.SigningKeys`."""

    def newest(self) -> tuple[int, bytes]:
        """Return the number of the newest key, and the key.

        Raises:
            KeyMissing: there is none, and none can be made.
        """
        ...

    def numbered(self, number: int) -> bytes | None:
        """Return the key of a number; ``None`` where it is not there, or not any more."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class UserToken:
    """What a token says.

    Attributes:
        tenant: the tenant's name.
        user_id: the user, in normal form C.
        audience: what it is for.
        api_key_id: the id of the API key that it was asked for with; ``None`` where it was made
            with the operator's own rights.
        issued_at, expires_at: when it was made, and when it ends; UTC, in whole seconds.
    """

    tenant: str
    user_id: str
    audience: Audience
    api_key_id: str | None
    issued_at: datetime
    expires_at: datetime


class _Claims(BaseModel):
    """The claims as they are written; the short names are those of JSON Web Tokens (RFC 7519)."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)

    kid: int = Field(ge=1)
    aud: str
    tenant: str
    sub: str
    azp: str | None
    iat: int = Field(ge=0)
    exp: int = Field(ge=0)


class UserTokens:
    """Makes user tokens, and tells whose one is."""

    def __init__(self, keys: SigningKeys, *, clock: Callable[[], float] = time.time) -> None:
        """Wire the parts.

        Args:
            keys: the keys that tokens are signed with.
            clock: seconds since 1970.
        """
        self._keys = keys
        self._clock = clock

    def mint(
        self,
        *,
        tenant: str,
        user_id: str,
        audience: Audience,
        api_key_id: str | None,
        lifetime_s: int = LIFETIME_DEFAULT_S,
    ) -> tuple[str, UserToken]:
        """Return a token and what it says.

        Args:
            tenant: the tenant whose user it is.
            user_id: the user, in normal form C.
            audience: what it is for.
            api_key_id: the id of the API key that asks for it, with which it ends; ``None`` for the
                operator's own tools.
            lifetime_s: how long it is good for, ``LIFETIME_MIN_S`` to ``LIFETIME_MAX_S`` seconds.

        Raises:
            InvalidInput: the lifetime is out of bounds.
            KeyMissing: there is no key to sign with.
        """
        if not LIFETIME_MIN_S <= lifetime_s <= LIFETIME_MAX_S:
            raise InvalidInput(
                field="lifetime_s",
                problem="is out of bounds",
                remedy=f"send {LIFETIME_MIN_S} to {LIFETIME_MAX_S} seconds, or leave it out for "
                f"{LIFETIME_DEFAULT_S}",
            )
        number, key = self._keys.newest()
        now = int(self._clock())
        claims = _Claims(
            kid=number,
            aud=audience.value,
            tenant=tenant,
            sub=user_id,
            azp=api_key_id,
            iat=now,
            exp=now + lifetime_s,
        )
        signed = PREFIX + _encoded(
            json.dumps(claims.model_dump(), separators=(",", ":"), ensure_ascii=False).encode()
        )
        return f"{signed}.{_encoded(_signature(key, signed))}", _told(claims, audience)

    def verify(self, token: str, audience: Audience) -> UserToken:
        """Return what a token says.

        Whether the API key that it was asked for with is still valid is for the caller to ask.

        Args:
            token: what the bearer sent.
            audience: the door that it is shown at.

        Raises:
            InvalidUserToken: it is none, was changed, has ended, or is for another door. Before its
                signature was found right nothing of what it says is believed or told.
        """
        signed, signature = _parts(token)
        claims = _claims(signed)
        # With no such key the comparison fails like any other, in the same time.
        key = None if claims is None else self._keys.numbered(claims.kid)
        expected = _signature(key or _NO_KEY, signed)
        if not hmac.compare_digest(expected, signature) or key is None or claims is None:
            raise InvalidUserToken(
                "the user token is not one that was made here, or its signing key is gone: ask for "
                "a new one by POST /v1/user-tokens"
            )
        now = self._clock()
        if now >= claims.exp + SKEW_S:
            raise InvalidUserToken(
                "the user token has expired: ask for a new one by POST /v1/user-tokens"
            )
        if claims.iat > now + SKEW_S:
            raise InvalidUserToken(
                "the user token was made in the future: set the machines' clocks right"
            )
        if claims.aud != audience.value:
            raise InvalidUserToken(
                f"the user token is not for this door: ask for one with the audience {audience}"
            )
        return _told(claims, audience)


def is_user_token(token: str) -> bool:
    """Tell whether a bearer's token means to be a user token, as opposed to an API key."""
    return token.startswith(PREFIX)


def _told(claims: _Claims, audience: Audience) -> UserToken:
    return UserToken(
        tenant=claims.tenant,
        user_id=claims.sub,
        audience=audience,
        api_key_id=claims.azp,
        issued_at=datetime.fromtimestamp(claims.iat, UTC),
        expires_at=datetime.fromtimestamp(claims.exp, UTC),
    )


def _parts(token: str) -> tuple[str, bytes]:
    """Return what is signed, and the signature."""
    signed, _, signature = token.partition(".")
    decoded = None
    if (
        len(token) <= TOKEN_CHARACTERS_MAX
        and token.isascii()
        and is_user_token(signed)
        and len(signature) == _SIGNATURE_CHARACTERS
    ):
        decoded = _decoded(signature)
    if decoded is None:
        raise InvalidUserToken(
            "an API key opens nothing here: send a user token, made by POST /v1/user-tokens"
            if token.startswith(_API_KEY_PREFIX)
            else f"a user token looks like {PREFIX}<claims>.<signature>: send it whole"
        )
    return signed, decoded


def _claims(signed: str) -> _Claims | None:
    """Return the claims, of which nothing is believed yet; ``None`` where there are none."""
    decoded = _decoded(signed.removeprefix(PREFIX))
    if decoded is None:
        return None
    try:
        return _Claims.model_validate_json(decoded)
    except ValidationError:
        return None


def _signature(key: bytes, signed: str) -> bytes:
    return hmac.digest(key, b"memledger user token\0" + signed.encode(), hashlib.sha256)


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str) -> bytes | None:
    """Return what base64url spells; ``None`` where it spells nothing, or not in the one way.

    The last character has bits that count for nothing: two texts would spell the same bytes.
    """
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if _encoded(data) == text else None
