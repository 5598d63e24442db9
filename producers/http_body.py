"""Reading a JSON body without trusting its sender with memory, stack or encoding."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from schemas.errors import InputTooLarge, InvalidInput

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


def decode_json(body: bytes | bytearray) -> object:
    """Return what UTF-8 JSON says; a byte order mark in front of it is ignored.

    Raises:
        InvalidInput: it is not JSON in UTF-8, or nested too deeply to be read.
    """
    try:
        return json.loads(body.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise _unreadable(f"is not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise _unreadable(
            f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from None
    except RecursionError:
        raise _unreadable("is nested too deeply") from None
    except ValueError:
        # An integer of more digits than Python converts.
        raise _unreadable("holds a number that is too long") from None


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


def _unreadable(problem: str) -> InvalidInput:
    return InvalidInput(
        field="body", problem=problem, remedy="send one JSON object encoded as UTF-8"
    )
