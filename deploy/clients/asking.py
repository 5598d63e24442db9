"""Sending a tool's request, and sending it again while that may help."""

from __future__ import annotations

from asyncio import sleep as sleep_in_loop
from collections.abc import Mapping
from time import sleep
from typing import Any

import httpx

from deploy.clients.account import Account
from deploy.clients.answers import ATTEMPTS_MAX, TIMEOUT, Again, Read, read_answer


class Asking:
    """Sends requests for one user.

    Args:
        account: whose memory it is.
        client: sends them; without one, each request opens a connection of its own.
    """

    def __init__(self, account: Account, client: httpx.Client | None = None) -> None:
        self._account = account
        self._client = client

    def ask(self, path: str, body: Mapping[str, Any], read: Read) -> str:
        """Return the text for the model.

        Raises:
            ToolFailed: there is none; the message is for the model.
        """
        for attempt in range(1, ATTEMPTS_MAX + 1):
            answer = read_answer(self._post(path, body), read, last=attempt == ATTEMPTS_MAX)
            if not isinstance(answer, Again):
                return answer
            sleep(answer.after_s)
        raise AssertionError("the last attempt is answered or fails")

    def _post(self, path: str, body: Mapping[str, Any]) -> httpx.Response | httpx.HTTPError:
        post = httpx.post if self._client is None else self._client.post
        url, headers = self._account.url(path), self._account.headers
        try:
            return post(url, json=dict(body), headers=headers, timeout=TIMEOUT)
        except httpx.HTTPError as error:
            return error


class AsyncAsking:
    """Sends requests for one user, in an event loop.

    Args:
        account: whose memory it is.
        client: sends them; without one, each request opens a connection of its own.
    """

    def __init__(self, account: Account, client: httpx.AsyncClient | None = None) -> None:
        self._account = account
        self._client = client

    async def ask(self, path: str, body: Mapping[str, Any], read: Read) -> str:
        """Return the text for the model.

        Raises:
            ToolFailed: there is none; the message is for the model.
        """
        for attempt in range(1, ATTEMPTS_MAX + 1):
            response = await self._post(path, body)
            answer = read_answer(response, read, last=attempt == ATTEMPTS_MAX)
            if not isinstance(answer, Again):
                return answer
            await sleep_in_loop(answer.after_s)
        raise AssertionError("the last attempt is answered or fails")

    async def _post(self, path: str, body: Mapping[str, Any]) -> httpx.Response | httpx.HTTPError:
        try:
            if self._client is not None:
                return await self._send(self._client, path, body)
            async with httpx.AsyncClient() as client:
                return await self._send(client, path, body)
        except httpx.HTTPError as error:
            return error

    async def _send(
        self, client: httpx.AsyncClient, path: str, body: Mapping[str, Any]
    ) -> httpx.Response:
        url, headers = self._account.url(path), self._account.headers
        return await client.post(url, json=dict(body), headers=headers, timeout=TIMEOUT)
