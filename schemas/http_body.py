"""Reading the body of a request without trusting its sender with memory, time or encoding."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.message import Message
from http import HTTPStatus
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from schemas.errors import GatewayBusy, InputTooLarge
from schemas.json_values import ValueCount

VALUES_MAX: Final = 50_000
"""The most values of a body. 500 turns with every field are 8,001; to decode so many takes about 10
ms, for which nothing else is answered."""

BODY_SECONDS_MAX: Final = 30
"""How long a sender may take for a body: 8 MiB arrive in it at 2.2 Mbit/s."""

_JSON: Final = "application/json"
_UTF_8: Final = ("utf-8", "utf8", "us-ascii")  # ASCII is UTF-8 too


class JsonBodies:
    """Reads bodies that say they are JSON, within bounds for each and for all held at once.

    Attributes:
        held_bytes: how many bytes of bodies are held now.
    """

    def __init__(
        self,
        *,
        bytes_max: int,
        held_bytes_max: int,
        remedy: str,
        values_max: int = VALUES_MAX,
        seconds_max: float = BODY_SECONDS_MAX,
    ) -> None:
        """Set the bounds.

        Args:
            bytes_max: the most bytes that are read of one body.
            held_bytes_max: the most bytes of all bodies that are read or worked on at one time.
            remedy: what to send instead of a body that is too large.
            values_max: the most values that a body may hold.
            seconds_max: how long a body may take to arrive.
        """
        self.held_bytes = 0
        self._bytes_max = bytes_max
        self._held_bytes_max = held_bytes_max
        self._remedy = remedy
        self._values_max = values_max
        self._seconds_max = seconds_max

    @asynccontextmanager
    async def read(self, request: Request) -> AsyncIterator[bytearray]:
        """Yield the body, not yet decoded; it counts as held until it is left.

        Raises:
            HTTPException: 415, it is not said to be plain JSON in UTF-8; 400, the sender broke off;
                408, it did not arrive in time.
            InputTooLarge: it is above a bound of its own; the rest was not read.
            GatewayBusy: too much is held already.
        """
        _require_json(request)
        announced = request.headers.get("content-length", "")
        if announced.isdecimal() and int(announced[:20]) > self._bytes_max:
            raise self._too_many_bytes()
        body = bytearray()
        try:
            await self._fill(body, request)
            yield body
        finally:
            self.held_bytes -= len(body)

    async def _fill(self, body: bytearray, request: Request) -> None:
        values = ValueCount()
        try:
            async with asyncio.timeout(self._seconds_max):
                async for chunk in request.stream():
                    self._admit(body, chunk)
                    values.feed(chunk)
                    if values.seen > self._values_max:
                        raise InputTooLarge(
                            field="body",
                            problem=f"holds more than {self._values_max} values",
                            remedy=f"{self._remedy}, without fields that are not known",
                        )
        except ClientDisconnect:
            raise HTTPException(
                HTTPStatus.BAD_REQUEST, "the body broke off: send the request again"
            ) from None
        except TimeoutError:
            raise HTTPException(
                HTTPStatus.REQUEST_TIMEOUT,
                f"the body did not arrive within {self._seconds_max:g} s: {self._remedy}",
                headers={"Connection": "close"},
            ) from None

    def _admit(self, body: bytearray, chunk: bytes) -> None:
        # Only what has arrived counts: what is announced and never sent keeps nobody out.
        if len(body) + len(chunk) > self._bytes_max:
            raise self._too_many_bytes()
        if self.held_bytes + len(chunk) > self._held_bytes_max:
            raise GatewayBusy(
                "the gateway holds as many requests as it can: send the request again in a second"
            )
        self.held_bytes += len(chunk)
        body += chunk

    def _too_many_bytes(self) -> InputTooLarge:
        return InputTooLarge(
            field="body", problem=f"has more than {self._bytes_max} bytes", remedy=self._remedy
        )


def _charset(header: Message) -> str:
    """Return the character set of a content type in lower case; empty where it cannot be read."""
    try:
        charset = header.get_param("charset", "utf-8")
    except (LookupError, TypeError, ValueError):
        # Pieces of a parameter (RFC 2231) that nobody could put together; the reader's own failure.
        return ""
    return charset.lower() if isinstance(charset, str) else ""


def _require_json(request: Request) -> None:
    header = Message()
    # A header that is there twice counts whole: who passed the request on may have read the other.
    header["content-type"] = ", ".join(request.headers.getlist("content-type"))
    if header.get_content_type() != _JSON:
        raise HTTPException(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            f"the content type is not {_JSON}: send JSON and say so in Content-Type",
        )
    if _charset(header) not in _UTF_8:
        raise HTTPException(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "the character set is not UTF-8: send JSON encoded as UTF-8",
        )
    encoding = ", ".join(request.headers.getlist("content-encoding")).strip().lower()
    if encoding not in ("identity", ""):
        raise HTTPException(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "the body is compressed: send it without Content-Encoding",
        )
