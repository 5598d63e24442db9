"""Reading a JSON body without trusting its sender with memory, stack or encoding."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from producers.json_text import decode_json
from schemas.errors import InputTooLarge

_JSON: Final = "application/json"


async def read_json(request: Request, *, bytes_max: int) -> object:
    """Return the decoded body of a request.

    Lone surrogates that were written as escapes come through: the policy for text refuses them
    where they stand, so that they cost one turn and not the whole request.

    Args:
        request: the request.
        bytes_max: the most bytes that are read of it.

    Raises:
        HTTPException: 415, it is not said to be plain JSON; 400, the sender broke off.
        InputTooLarge: it is larger than ``bytes_max``; the rest was not read.
        InvalidInput: it is not JSON in UTF-8, or nested too deeply to be read.
    """
    _require_json(request)
    return decode_json(await _read_limited(request, bytes_max))


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


async def _read_limited(request: Request, bytes_max: int) -> bytearray:
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > bytes_max:
        raise _too_large(bytes_max)
    body = bytearray()
    try:
        async for chunk in request.stream():
            if len(body) + len(chunk) > bytes_max:
                raise _too_large(bytes_max)
            body += chunk
    except ClientDisconnect:
        raise HTTPException(
            HTTPStatus.BAD_REQUEST, "the body broke off: send the request again"
        ) from None
    return body


def _too_large(bytes_max: int) -> InputTooLarge:
    return InputTooLarge(
        field="body",
        problem=f"has more than {bytes_max} bytes",
        remedy="send fewer turns in one request",
    )
