"""The gateway's HTTP API as the tools use it: one user's memories, and errors fit for a model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import httpx

from schemas.request_context import HEADER, current_request

TIMEOUT_S: Final = 30.0
"""How long one request to the gateway may take: recall and appends have shorter deadlines there.

Held here, since a client whose requests stay in the process knows no deadline of its own.
"""

_CALLER_ERRORS: Final = frozenset(
    {HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.CONFLICT}
)
"""What the one who called a tool can put right; the gateway's own words repeat no value."""


_AWAY: Final = "memory does not answer now: go on without it, or try again later"


class MemoryUnavailable(Exception):
    """A request could not be answered; the message is fit for a model to read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """Whose memories a tool is about, and by what right; neither comes from a tool's arguments.

    Attributes:
        user_id: the user.
        bearer: lends the token that the gateway is shown, for one request.
    """

    user_id: str
    bearer: Callable[[], AbstractContextManager[str]]


def caller_with_key(user_id: str, api_key: str) -> Caller:
    """Return a caller who has an API key of the user's tenant."""
    return Caller(user_id=user_id, bearer=lambda: nullcontext(api_key))


class GatewayClient:
    """Asks the gateway on behalf of callers.

    Every method raises :class:`MemoryUnavailable`.

    Args:
        http: a client whose base URL is the gateway's.
    """

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def search(self, caller: Caller, query: str, *, limit: int) -> dict[str, Any]:
        """Return what ``POST /v1/recall`` answers."""
        body = {"user_id": caller.user_id, "query": query, "limit": limit}
        return await self._asked(caller, "POST", "/v1/recall", json=body)

    async def page(self, caller: Caller, *, cursor: str | None, limit: int) -> dict[str, Any]:
        """Return a page of ``GET /v1/memories``."""
        query = {"user_id": caller.user_id, "limit": str(limit)}
        if cursor is not None:
            query["cursor"] = cursor
        return await self._asked(caller, "GET", "/v1/memories", params=query)

    async def is_paused(self, caller: Caller) -> bool:
        """Return whether the user has paused memory."""
        told = await self._asked(caller, "GET", "/v1/pause", params={"user_id": caller.user_id})
        return told["paused"] is True

    async def remember(self, caller: Caller, fact: Mapping[str, Any]) -> dict[str, Any]:
        """Return what ``POST /v1/memories`` answers to a person's own statement."""
        body = {"user_id": caller.user_id, "source": "person", **fact}
        return await self._asked(caller, "POST", "/v1/memories", json=body)

    async def forget(self, caller: Caller, memory_id: str) -> dict[str, Any]:
        """Return what ``DELETE /v1/memories/{memory_id}`` answers.

        Args:
            caller: whose memory it is.
            memory_id: a UUID in its plain spelling, since it stands in an address.
        """
        query = {"user_id": caller.user_id}
        return await self._asked(caller, "DELETE", f"/v1/memories/{memory_id}", params=query)

    async def _asked(
        self,
        caller: Caller,
        method: str,
        address: str,
        *,
        params: Mapping[str, str] | None = None,
        json: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        request = current_request()
        headers = {} if request is None else {HEADER: request.request_id}
        try:
            with caller.bearer() as token:
                headers["Authorization"] = f"Bearer {token}"
                async with asyncio.timeout(TIMEOUT_S):
                    answer = await self._http.request(
                        method, address, headers=headers, params=params, json=json
                    )
        except (httpx.HTTPError, TimeoutError):
            # What it says may name hosts and addresses.
            raise MemoryUnavailable(_AWAY) from None
        if not answer.is_success:
            raise MemoryUnavailable(_told(answer))
        try:
            content = answer.json()
        except ValueError:
            content = None
        if not isinstance(content, dict):  # not the gateway, but somebody in front of it
            raise MemoryUnavailable(_AWAY)
        return content


def _told(answer: httpx.Response) -> str:
    """Return what a model is told of a refusal: nothing of stores, keys or other users."""
    status = answer.status_code
    if status in _CALLER_ERRORS:
        try:
            return str(answer.json()["detail"])
        except (ValueError, KeyError, TypeError):
            return "memory refuses this: change what was asked"
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return "memory is closed to this connection: it has to be connected anew"
    if status == HTTPStatus.NOT_FOUND:
        return "this user has no such memory: take a memory_id from a search or the list"
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        pause = answer.headers.get("retry-after", "a few")
        return f"memory is asked too often: try again in {pause} s"
    return _AWAY
