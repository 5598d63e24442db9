"""The HTTP routes by which persons and systems have something remembered, corrected or deleted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from producers.command_routes import (
    HELD_BYTES_MAX,
    REQUEST_BYTES_MAX,
    Authenticate,
    accepted,
    answer,
)
from producers.commands import CommandAppender
from producers.curations import CurationAppender
from producers.curations_input import (
    CorrectionBody,
    read_correction,
    read_deletion,
    read_remembered,
)
from producers.facts_input import FactBody, FactInput
from producers.metrics import Command, command_refusals_counted
from schemas.clock import utc_now
from schemas.http import bearer_token
from schemas.http_body import JsonBodies
from schemas.http_query import require_no_query, require_plain_query
from schemas.json_text import decode_json

_KEY: Final = "idempotency-key"

_KEY_DOCUMENTED: Final[dict[str, Any]] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": "Stands in for `id`: sent again with the same one, the request counts once.",
}


def curation_router(
    curations: CurationAppender,
    facts: CommandAppender,
    authenticate: Authenticate,
    *,
    clock: Callable[[], datetime] = utc_now,
) -> APIRouter:
    """Return the router of what is remembered outside of turns, and of decisions about memories.

    Errors are raised as they are: the application answers them as problem details, see
    :func:`schemas.http.install_problem_handlers`.

    Args:
        curations: appends what persons decide.
        facts: appends what systems tell.
        authenticate: tells the caller of a request; nothing in the body can.
        clock: the current time, aware.
    """
    router = APIRouter()
    bodies = JsonBodies(
        bytes_max=REQUEST_BYTES_MAX, held_bytes_max=HELD_BYTES_MAX, remedy="send less"
    )

    @router.post("/v1/memories", **_documented("Remember something outside of any turn", FactBody))
    async def remember(request: Request) -> Response:
        """Append a fact that one of your systems vouches for, or what a person states.

        Neither needs words of the user as evidence. A fact of a system obeys all other rules when
        it is processed; a person may besides ask for what a model must not keep, such as health,
        but for no secret and no instruction. What a person states outranks whatever a model
        proposes. Accepted means that every replica of the log has acknowledged it. Sent again under
        its `id` it counts once.
        """
        with command_refusals_counted(Command.SYSTEM_FACT):
            caller = await authenticate(bearer_token(request))
            async with bodies.read(request) as content:
                told = read_remembered(
                    decode_json(content), now=clock(), caller=caller.name, key=_key_of(request)
                )
                if isinstance(told, FactInput):
                    return answer(await facts.remember(caller.tenant, told))
                return answer(await curations.remember(caller.tenant, told))

    @router.patch("/v1/memories/{memory_id}", **_documented("Correct a memory", CorrectionBody))
    async def correct(memory_id: str, request: Request) -> Response:
        """Append what a memory should have been, or whether it is pinned.

        What it said never was true; what it should have said stands in its place in time, and
        outranks whatever a model proposes. Another user's memory is answered like none at all.
        """
        with command_refusals_counted(Command.CURATION):
            caller = await authenticate(bearer_token(request))
            require_no_query(request.scope["query_string"])
            async with bodies.read(request) as content:
                told = read_correction(
                    decode_json(content), caller=caller.name, key=_key_of(request)
                )
                return answer(await curations.correct(caller.tenant, memory_id, told))

    @router.delete("/v1/memories/{memory_id}", **_documented("Delete a memory", None))
    async def delete(memory_id: str, request: Request) -> Response:
        """Append that a memory is to be deleted, with every version of it.

        It is then gone from every answer, and what was said before is not stored again. Another
        user's memory is answered like none at all.
        """
        with command_refusals_counted(Command.CURATION):
            caller = await authenticate(bearer_token(request))
            require_plain_query(request.scope["query_string"])
            told = read_deletion(
                dict(request.query_params), caller=caller.name, key=_key_of(request)
            )
            return answer(await curations.delete(caller.tenant, memory_id, told))

    return router


def _key_of(request: Request) -> str | None:
    return request.headers.get(_KEY)


def _documented(summary: str, body: type[FactBody | CorrectionBody] | None) -> dict[str, Any]:
    told = accepted(summary, body)
    parameters = [_KEY_DOCUMENTED, *(_DELETION_PARAMETERS if body is None else ())]
    told["openapi_extra"] |= {"parameters": parameters}
    return told


_DELETION_PARAMETERS: Final[tuple[dict[str, Any], ...]] = tuple(
    {
        "name": name,
        "in": "query",
        "required": name == "user_id",
        "schema": {"type": "string"},
        "description": told,
    }
    for name, told in (
        ("user_id", "Whose memory it is."),
        ("reason", "Why; it stays in the log."),
        ("actor", "Who decided, as you name them; without it, the id of the API key."),
        ("id", "Your id of this deletion of this memory: sent again, it counts once."),
    )
)
