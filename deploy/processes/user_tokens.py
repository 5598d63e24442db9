"""User tokens at the gateway: making them for who has an API key, and telling whose one is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Annotated, Any, Final, Protocol

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import Field
from starlette.responses import Response

from producers.bodies import Body, documented_body, read_body
from schemas import user_tokens
from schemas.errors import InvalidUserToken
from schemas.http import bearer_token
from schemas.http_body import JsonBodies
from schemas.json_text import decode_json
from schemas.text import clean_user_id
from schemas.user_tokens import Audience, UserToken, UserTokens

REQUEST_BYTES_MAX: Final = 16 * 1024
"""Holds the longest user id with every character escaped."""

HELD_BYTES_MAX: Final = 1024 * 1024
"""The most bytes of all such bodies that are read at one time."""

ApiKeyHolder = Callable[[str], Awaitable[tuple[str, str]]]
"""Returns the tenant and the id of an API key's token, or raises ``InvalidApiKey``."""


class ApiKeys(Protocol):
    """The part of the keyring that knows API keys."""

    async def tenant_of_api_key(self, key_id: str) -> str | None:
        """Return the tenant of a valid API key by its id; ``None`` where there is no such key.

        Raises:
            KeyringUnavailable: it cannot be told.
        """
        ...


class UserTokenBody(Body):
    """What a token is asked for as JSON."""

    user_id: Annotated[
        str, Field(description="Whose token it is: any text of 1 to 512 characters, opaque.")
    ]
    audience: Annotated[
        Audience,
        Field(
            strict=False,
            description="The one door that it opens: mcp, the MCP server; page, the page on which "
            "a user sees what is remembered.",
        ),
    ]
    lifetime_s: Annotated[
        int,
        Field(
            ge=user_tokens.LIFETIME_MIN_S,
            le=user_tokens.LIFETIME_MAX_S,
            description="For how many seconds it is good.",
        ),
    ] = user_tokens.LIFETIME_DEFAULT_S


class UserTokenHolders:
    """Tells who holds a user token; one ends with the API key that it was asked for with."""

    def __init__(self, tokens: UserTokens, api_keys: ApiKeys) -> None:
        """Wire the parts.

        Args:
            tokens: verifies tokens.
            api_keys: knows which API keys are valid.
        """
        self._tokens = tokens
        self._api_keys = api_keys

    async def holder(self, token: str, audience: Audience) -> UserToken:
        """Return what a token says, if it is good at this door now.

        Args:
            token: what the bearer sent.
            audience: the door.

        Raises:
            InvalidUserToken: it is none, was changed, has ended, is for another door, or its API
                key was revoked.
            KeyringUnavailable: whether the API key is valid cannot be told.
        """
        said = self._tokens.verify(token, audience)
        if said.api_key_id is not None:
            tenant = await self._api_keys.tenant_of_api_key(said.api_key_id)
            if tenant != said.tenant:
                raise InvalidUserToken(
                    "the API key that the user token was asked for with was revoked: ask for a new "
                    "one by POST /v1/user-tokens"
                )
        return said


def user_token_router(tokens: UserTokens, holder_of: ApiKeyHolder) -> APIRouter:
    """Return the router of ``POST /v1/user-tokens``.

    Args:
        tokens: makes tokens.
        holder_of: tells the tenant and the id of an API key; nothing in the body can.
    """
    router = APIRouter()
    bodies = JsonBodies(
        bytes_max=REQUEST_BYTES_MAX, held_bytes_max=HELD_BYTES_MAX, remedy="send less"
    )
    documented: dict[str, Any] = {"requestBody": documented_body(UserTokenBody)}

    @router.post(
        "/v1/user-tokens",
        status_code=HTTPStatus.CREATED,
        summary="Make a short-lived token for one user",
        openapi_extra=documented,
    )
    async def make_token(request: Request) -> Response:
        """Make a token that opens one door for one user, without the API key.

        It ends by itself, and as soon as the API key that it was asked for with is revoked. The
        user need not be known yet.
        """
        tenant, key_id = await holder_of(bearer_token(request))
        async with bodies.read(request) as content:
            asked = read_body(decode_json(content), UserTokenBody, whole="request")
            token, said = tokens.mint(
                tenant=tenant,
                user_id=clean_user_id(asked.user_id),
                audience=asked.audience,
                api_key_id=key_id,
                lifetime_s=asked.lifetime_s,
            )
        return JSONResponse(
            {
                "token": token,
                "user_id": said.user_id,
                "audience": said.audience.value,
                "expires_at": said.expires_at.isoformat().replace("+00:00", "Z"),
            },
            status_code=HTTPStatus.CREATED,
        )

    return router
