"""ETags: what a listing answered is not sent again to who has it already (RFC 9110, section 13)."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections.abc import Callable
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from schemas.errors import KeyMissing
from schemas.keyring.signing import SigningKeys

_OK: Final = 200
_NOT_MODIFIED: Final = 304
_TAG_BYTES: Final = 16
_TAG: Final = re.compile(r'(?:W/)?("[^"]*")')
# What RFC 9110 has a 304 repeat, and what names the request.
_KEPT_OF_304: Final = frozenset({"cache-control", "etag", "vary", "x-request-id"})


class ConditionalGets:
    """Answers a ``GET`` under ``/v1/`` with 304 where the caller has the same answer already.

    The answer is made first, as for anybody: that there is nothing new is told only to who may read
    it. The tag is an HMAC of address, caller and body under a key that nobody outside knows: nobody
    can compare it with guesses of what a user's memories are, nor with another caller's answer.

    Args:
        app: the application.
        key: returns the key of the tags.
    """

    def __init__(self, app: ASGIApp, *, key: Callable[[], bytes]) -> None:
        self._app = app
        self._key = key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if (
            scope["type"] != "http"
            or scope["method"] != "GET"
            or not scope["path"].startswith("/v1/")
        ):
            await self._app(scope, receive, send)
            return
        await self._app(scope, receive, _Tagging(scope, send, self._key).send)


class _Tagging:
    """Sends one answer on, with its tag, or a 304 in its place."""

    def __init__(self, scope: Scope, send: Send, key: Callable[[], bytes]) -> None:
        self._scope = scope
        self._send = send
        self._key = key
        self._held: Message | None = None

    async def send(self, message: Message) -> None:
        """Take the next message of the answer; the head waits for the body."""
        if message["type"] == "http.response.start" and _is_whole_json(message):
            self._held = message
            return
        start, self._held = self._held, None
        if start is None:
            await self._send(message)
            return
        if message.get("more_body"):  # streamed: nobody holds it whole
            await self._send(start)
            await self._send(message)
            return
        headers = MutableHeaders(scope=start)
        tag = self._tag(message.get("body", b""))
        headers["ETag"] = tag
        # Kept by the caller alone, and asked about each time.
        headers["Cache-Control"] = "private, no-cache"
        headers["Vary"] = "Authorization"
        if self._has(tag):
            kept = [pair for pair in headers.raw if pair[0].decode().lower() in _KEPT_OF_304]
            await self._send({**start, "status": _NOT_MODIFIED, "headers": kept})
            await self._send({"type": "http.response.body", "body": b""})
            return
        await self._send(start)
        await self._send(message)

    def _tag(self, body: bytes) -> str:
        asked = self._scope["path"].encode() + b"?" + self._scope["query_string"]
        caller = Headers(scope=self._scope).get("authorization", "").encode("latin-1")
        told = hmac.new(self._key(), digestmod=hashlib.sha256)
        for part in (asked, caller):
            told.update(len(part).to_bytes(8, "big"))
            told.update(part)
        told.update(body)
        return f'"{told.hexdigest()[: 2 * _TAG_BYTES]}"'

    def _has(self, tag: str) -> bool:
        sent = ", ".join(Headers(scope=self._scope).getlist("if-none-match"))
        return sent.strip() == "*" or tag in _TAG.findall(sent)


def _is_whole_json(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    if "no-store" in headers.get("cache-control", ""):
        return False  # nobody has it already
    return start["status"] == _OK and headers.get("content-type") == "application/json"


def tag_key_of(signing: SigningKeys) -> Callable[[], bytes]:
    """Return what gives the key of the tags: the same in every gateway of one key directory.

    Where no signing key can be had, it is one of this process alone: then a caller who comes to
    another gateway is sent what it has.
    """
    own = os.urandom(32)

    def key() -> bytes:
        try:
            _, shared = signing.newest()
        except KeyMissing:
            return own
        return hmac.digest(shared, b"memledger etag", hashlib.sha256)

    return key
