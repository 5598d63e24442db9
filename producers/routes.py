"""The HTTP route that takes turns in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from starlette.responses import Response

from producers.metrics import count_refused, refusals_counted
from producers.ports import Appender
from producers.steps import Steps
from producers.subject_records import Appended, AppendResult, Refused, Withheld
from producers.turns_body import read_items
from producers.turns_input import TURNS_MAX, TurnBody, TurnInput, read_turn
from schemas.clock import utc_now
from schemas.errors import (
    InvalidInput,
    LogBusy,
    LogUnavailable,
    MemledgerError,
)
from schemas.http import KINDS, bearer_token, detail_of, log_withheld, problem, problem_of
from schemas.http_body import JsonBodies
from schemas.records import Origin

Authenticate = Callable[[str], Awaitable[str]]
"""Returns the tenant of an API key's token, or raises ``InvalidApiKey``."""

Admit = Callable[[str, int], None]
"""Counts so many turns of a tenant, or raises ``RateLimited``."""


def everything_admitted(_tenant: str, _turns: int) -> None:
    """Let every turn in: for where there are no limits."""


def ingest_router(
    appender: Appender,
    authenticate: Authenticate,
    *,
    bodies: JsonBodies,
    admit: Admit = everything_admitted,
    clock: Callable[[], datetime] = utc_now,
) -> APIRouter:
    """Return the router of ``POST /v1/turns``.

    Args:
        appender: appends what was accepted.
        authenticate: tells the tenant of an API key; nothing in the body can.
        bodies: reads the bodies of requests within bounds.
        admit: holds tenants to their rates.
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

        One turn is answered with the ledger's own `turn_id`, its `position` and the id that it was
        sent with, a list with one result for each of its turns, in order: `accepted`, `withheld`
        with a `reason`, or `refused` with an `error`. A list of which every turn was refused is
        answered as a problem, with the same `results`.

        What is incognito, or said by a user who has paused memory, is withheld: nothing of it is
        appended. One turn is then answered with 200 and `withheld`, and so is a list of which no
        turn was accepted.
        """
        try:
            async with AsyncExitStack() as held:
                with refusals_counted(Origin.HTTP):
                    tenant = await authenticate(bearer_token(request))
                    body = await held.enter_async_context(bodies.read(request))
                    items, is_list = await read_items(body)
                    admit(tenant, len(items))
                answers = await _append_all(appender, tenant, items, clock())
        except MemledgerError as error:
            return problem_of(error)
        if is_list:
            return _list_response(answers)
        (answer,) = answers
        if isinstance(answer.result, Refused):
            return problem_of(answer.result.error)
        if isinstance(answer.result, Withheld):
            return JSONResponse(
                {
                    "turn_id": None,
                    "client_turn_id": answer.client_turn_id,
                    "position": None,
                    "withheld": answer.result.reason.value,
                }
            )
        return JSONResponse(
            _appended(answer.result, answer.client_turn_id), status_code=HTTPStatus.ACCEPTED
        )

    return router


@dataclass(frozen=True, kw_only=True, slots=True)
class _Answer:
    """What became of one item of a request.

    Attributes:
        result: accepted, withheld or refused.
        client_turn_id: the client's own id of the turn, if it is one and has one.
    """

    result: AppendResult
    client_turn_id: str | None


async def _append_all(
    appender: Appender, tenant: str, items: Sequence[object], now: datetime
) -> list[_Answer]:
    """Append those of the items that are turns, and return one answer for each item."""
    answers: dict[int, _Answer] = {}
    turns: list[TurnInput] = []
    places: list[int] = []
    steps = Steps()
    for place, item in enumerate(items):
        try:
            turns.append(read_turn(item, now=now))
            places.append(place)
        except InvalidInput as error:
            count_refused(Origin.HTTP, error)
            answers[place] = _Answer(result=Refused(error=error), client_turn_id=None)
        await steps.give_way()
    if turns:
        appended = await appender.append(tenant, turns, Origin.HTTP)
        for place, turn, result in zip(places, turns, appended, strict=True):
            answers[place] = _Answer(result=result, client_turn_id=turn.turn_id)
    return [answers[place] for place in range(len(items))]


def _list_response(answers: Sequence[_Answer]) -> Response:
    described = [_described(answer) for answer in answers]
    errors = [answer.result.error for answer in answers if isinstance(answer.result, Refused)]
    log_withheld(errors)
    if any(isinstance(answer.result, Appended) for answer in answers):
        return JSONResponse({"results": described}, status_code=HTTPStatus.ACCEPTED)
    if len(errors) < len(answers):  # the others were withheld, and nothing was accepted
        return JSONResponse({"results": described})
    # Whatever may succeed later tells how to answer, since the caller will send that again.
    error = next((error for error in errors if isinstance(error, LogUnavailable)), None)
    busy = isinstance(error, LogBusy)
    kind = KINDS[InvalidInput if error is None else LogBusy if busy else LogUnavailable]
    code = InvalidInput.code if error is None else _code(error)
    headers = {} if kind.retry_after_s is None else {"Retry-After": str(kind.retry_after_s)}
    return problem(
        kind.status,
        kind.title,
        f"none of the {len(answers)} turns was accepted: see results for each"
        + ("" if error is None else "; send those that say retry again"),
        headers=headers,
        code=code,
        results=described,
    )


def _described(answer: _Answer) -> dict[str, object]:
    if isinstance(answer.result, Appended):
        return {"status": "accepted", **_appended(answer.result, answer.client_turn_id)}
    if isinstance(answer.result, Withheld):
        return {
            "status": "withheld",
            "reason": answer.result.reason.value,
            "client_turn_id": answer.client_turn_id,
        }
    error = answer.result.error
    described: dict[str, object] = {
        "code": _code(error),
        "detail": detail_of(error),
        "retry": isinstance(error, LogUnavailable),
    }
    if isinstance(error, InvalidInput):
        described |= {"field": error.field, "problem": error.problem, "remedy": error.remedy}
    return {"status": "refused", "error": described}


def _appended(result: Appended, client_turn_id: str | None) -> dict[str, str | None]:
    return {
        "turn_id": str(result.turn_id),
        "client_turn_id": client_turn_id,
        "position": result.position,
    }


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
