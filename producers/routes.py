"""The HTTP route that takes turns in."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final, Protocol

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from starlette.responses import Response

from producers.append import Appended, AppendResult, Refused
from producers.json_text import decode_json
from producers.metrics import count_refused, refusals_counted
from producers.turns_input import TURNS_MAX, TurnBody, TurnInput, read_turn
from schemas.clock import utc_now
from schemas.errors import (
    InputTooLarge,
    InvalidInput,
    LogBusy,
    LogUnavailable,
    MemledgerError,
)
from schemas.http import KINDS, bearer_token, detail_of, log_withheld, problem, problem_of
from schemas.http_body import read_json_body
from schemas.records import Origin

Authenticate = Callable[[str], Awaitable[str]]
"""Returns the tenant of an API key's token, or raises ``InvalidApiKey``."""

_TURNS_PER_STEP: Final = 25
"""Checked between two looks at the event loop, so that a long list delays no recall."""


class Appender(Protocol):
    """What the route needs of :class:`~producers.append.TurnAppender`."""

    async def append(
        self, tenant: str, inputs: Sequence[TurnInput], origin: Origin
    ) -> list[AppendResult]:
        """Append turns and return one result for each, in the same order."""
        ...


def ingest_router(
    appender: Appender,
    authenticate: Authenticate,
    *,
    request_bytes_max: int,
    clock: Callable[[], datetime] = utc_now,
) -> APIRouter:
    """Return the router of ``POST /v1/turns``.

    Args:
        appender: appends what was accepted.
        authenticate: tells the tenant of an API key; nothing in the body can.
        request_bytes_max: the most bytes of one request.
        clock: the current time, aware.
    """
    router = APIRouter()

    @router.post(
        "/v1/turns",
        status_code=HTTPStatus.ACCEPTED,
        summary="Append one turn, or a list of up to 500",
        openapi_extra={"requestBody": {"required": True, "content": _documented_body()}},
    )
    async def append_turns(request: Request) -> Response:
        """Accepted means that every replica of the log has acknowledged the turn.

        One turn is answered with its `turn_id` and `position`, a list with one result for each of
        its turns, in order: `accepted`, or `refused` with an `error`. A list of which no turn was
        accepted is answered as a problem, with the same `results`.
        """
        try:
            with refusals_counted(Origin.HTTP):
                tenant = await authenticate(bearer_token(request))
                # Lone surrogates that were written as escapes come through: the policy for text
                # refuses them where they stand, so that they cost one turn, not the whole request.
                body = decode_json(
                    await read_json_body(
                        request,
                        bytes_max=request_bytes_max,
                        remedy="send fewer turns in one request",
                    )
                )
                items, is_list = _items(body)
            results = await _append_all(appender, tenant, items, clock())
        except MemledgerError as error:
            return problem_of(error)
        if is_list:
            return _list_response(results)
        (result,) = results
        if isinstance(result, Refused):
            return problem_of(result.error)
        return JSONResponse(_appended(result), status_code=HTTPStatus.ACCEPTED)

    return router


async def _append_all(
    appender: Appender, tenant: str, items: Sequence[object], now: datetime
) -> list[AppendResult]:
    """Append those of the items that are turns, and return one result for each item."""
    results: dict[int, AppendResult] = {}
    turns: list[TurnInput] = []
    places: list[int] = []
    for place, item in enumerate(items):
        try:
            turns.append(read_turn(item, now=now))
            places.append(place)
        except InvalidInput as error:
            count_refused(Origin.HTTP, error)
            results[place] = Refused(error=error)
        if place % _TURNS_PER_STEP == 0:
            await asyncio.sleep(0)
    if turns:
        appended = await appender.append(tenant, turns, Origin.HTTP)
        results.update(zip(places, appended, strict=True))
    return [results[place] for place in range(len(items))]


def _items(body: object) -> tuple[list[object], bool]:
    """Return what stands for turns in a body, and whether it came as a list."""
    if not isinstance(body, dict):
        raise InvalidInput(
            field="body",
            problem="is not a JSON object",
            remedy='send the object of one turn, or {"turns": [...]}',
        )
    if "turns" not in body:
        return [body], False
    unknown = sorted(body.keys() - {"turns"})
    if unknown:
        raise InvalidInput(
            field=ascii(unknown[0][:40])[1:-1],
            problem="is not a known field next to turns",
            remedy="send the fields of a turn inside its object in turns",
        )
    items = body["turns"]
    if not isinstance(items, list) or not items:
        raise InvalidInput(
            field="turns",
            problem="is not a list with something in it",
            remedy=f"send a list of 1 to {TURNS_MAX} turns",
        )
    if len(items) > TURNS_MAX:
        raise InputTooLarge(
            field="turns",
            problem=f"holds {len(items)} turns, the limit is {TURNS_MAX}",
            remedy="send them in several requests",
        )
    return items, True


def _list_response(results: Sequence[AppendResult]) -> Response:
    described = [_described(result) for result in results]
    errors = [result.error for result in results if isinstance(result, Refused)]
    log_withheld(errors)
    if len(errors) < len(results):
        return JSONResponse({"results": described}, status_code=HTTPStatus.ACCEPTED)
    # Whatever may succeed later tells how to answer, since the caller will send that again.
    error = next((error for error in errors if isinstance(error, LogUnavailable)), None)
    busy = isinstance(error, LogBusy)
    kind = KINDS[InvalidInput if error is None else LogBusy if busy else LogUnavailable]
    code = InvalidInput.code if error is None else _code(error)
    headers = {} if kind.retry_after_s is None else {"Retry-After": str(kind.retry_after_s)}
    return problem(
        kind.status,
        kind.title,
        f"none of the {len(results)} turns was accepted: see results for each"
        + ("" if error is None else "; send those that say retry again"),
        headers=headers,
        code=code,
        results=described,
    )


def _described(result: AppendResult) -> dict[str, object]:
    if isinstance(result, Appended):
        return {"status": "accepted", **_appended(result)}
    error = result.error
    described: dict[str, object] = {
        "code": _code(error),
        "detail": detail_of(error),
        "retry": isinstance(error, LogUnavailable),
    }
    if isinstance(error, InvalidInput):
        described |= {"field": error.field, "problem": error.problem, "remedy": error.remedy}
    return {"status": "refused", "error": described}


def _appended(result: Appended) -> dict[str, str]:
    return {"turn_id": str(result.turn_id), "position": result.position}


def _code(error: InvalidInput | LogUnavailable) -> str:
    if isinstance(error, InvalidInput):
        return error.code
    return "log_busy" if isinstance(error, LogBusy) else "log_unavailable"


def _documented_body() -> dict[str, Any]:
    turn = TurnBody.model_json_schema()
    turns = {
        "type": "object",
        "title": "Turns",
        "required": ["turns"],
        "additionalProperties": False,
        "properties": {
            "turns": {"type": "array", "minItems": 1, "maxItems": TURNS_MAX, "items": turn}
        },
    }
    return {"application/json": {"schema": {"anyOf": [turn, turns]}}}
