"""Reading the body of a request without trusting its sender with memory or encoding."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from schemas.errors import InputTooLarge

_JSON: Final = "application/json"


async def read_json_body(request: Request, *, bytes_max: int, remedy: str) -> bytes:
    """Return the body of a request that says it is JSON, not yet decoded.

    Args:
        request: the request.
        bytes_max: the most bytes that are read of it.
        remedy: what to send instead of a body that is larger.

    Raises:
        HTTPException: 415, it is not said to be plain JSON; 400, the sender broke off.
        InputTooLarge: it is larger than ``bytes_max``; the rest was not read.
    """
    _require_json(request)
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > bytes_max:
        raise _too_large(bytes_max, remedy)
    body = bytearray()
    try:
        async for chunk in request.stream():
            if len(body) + len(chunk) > bytes_max:
                raise _too_large(bytes_max, remedy)
            body += chunk
    except ClientDisconnect:
        raise HTTPException(
            HTTPStatus.BAD_REQUEST, "the body broke off: send the request again"
        ) from None
    return bytes(body)


def _require_json(request: Request) -> None:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != _JSON:
        raise HTTPException(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            f"the content type is not {_JSON}: send JSON and say so in Content-Type",
        )
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise HTTPException(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "the body is compressed: send it without Content-Encoding",
        )


def _too_large(bytes_max: int, remedy: str) -> InputTooLarge:
    return InputTooLarge(field="body", problem=f"has more than {bytes_max} bytes", remedy=remedy)
