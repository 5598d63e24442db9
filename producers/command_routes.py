"""The HTTP routes that take in what is no turn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final
from uuid import UUID

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from starlette.responses import Response

from producers.bodies import Body, documented_body
from producers.commands import CommandAppender, unknown_flag
from producers.commands_input import (
    ConversationEndBody,
    DecisionBody,
    FactBody,
    read_conversation_end,
    read_decision,
    read_fact,
)
from producers.metrics import Command, command_refusals_counted
from producers.subject_records import Appended
from schemas.clock import utc_now
from schemas.flags import Flag, Flags
from schemas.http import bearer_token
from schemas.http_body import JsonBodies
from schemas.json_text import decode_json

REQUEST_BYTES_MAX: Final = 256 * 1024
"""Holds the longest fact with every character escaped, and decomposed."""

HELD_BYTES_MAX: Final = 8 * 1024 * 1024
"""The most bytes of all such bodies that are read or worked on at one time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """Who sent a request.

    Attributes:
        tenant: the tenant of the API key.
        name: names the key itself, for records of who decided; no secret.
    """

    tenant: str
    name: str


Authenticate = Callable[[str], Awaitable[Caller]]
"""Returns the caller that an API key's token belongs to, or raises ``InvalidApiKey``."""


def command_router(
    appender: CommandAppender,
    flags: Flags,
    authenticate: Authenticate,
    *,
    clock: Callable[[], datetime] = utc_now,
) -> APIRouter:
    """Return the router of facts, decisions about flags and ends of conversations.

    Errors are raised as they are: the application answers them as problem details, see
    :func:`schemas.http.install_problem_handlers`.

    Args:
        appender: appends what was accepted.
        flags: finds the flag that a decision is about.
        authenticate: tells the caller of a request; nothing in the body can.
        clock: the current time, aware.
    """
    router = APIRouter()
    bodies = JsonBodies(
        bytes_max=REQUEST_BYTES_MAX, held_bytes_max=HELD_BYTES_MAX, remedy="send less"
    )

    @router.post("/v1/memories", **_accepted("Remember a fact of one of your systems", FactBody))
    async def remember(request: Request) -> Response:
        """Append a fact that one of the operator's own systems vouches for.

        It needs no words of the user as evidence; all other rules apply when it is processed.
        Accepted means that every replica of the log has acknowledged it. Sent again under its `id`
        it counts once.
        """
        with command_refusals_counted(Command.SYSTEM_FACT):
            caller = await authenticate(bearer_token(request))
            async with bodies.read(request) as content:
                fact = read_fact(decode_json(content), now=clock())
                return _answer(await appender.remember(caller.tenant, fact))

    @router.post("/v1/flags/{flag_id}", **_accepted("Decide about a flag", DecisionBody))
    async def decide(flag_id: str, request: Request) -> Response:
        """Append a person's decision about what code left to a person.

        The first decision counts; the same decision again is accepted again, another one is a
        conflict.
        """
        with command_refusals_counted(Command.FLAG_DECISION):
            caller = await authenticate(bearer_token(request))
            async with bodies.read(request) as content:
                decision = read_decision(decode_json(content), caller=caller.name)
                flag = await _flag(flags, caller.tenant, flag_id)
                return _answer(await appender.decide(caller.tenant, flag, decision))

    @router.post("/v1/conversations/end", **_accepted("End a conversation", ConversationEndBody))
    async def end_conversation(request: Request) -> Response:
        """Append the end of a conversation, on which its turns that wait for it are processed.

        Where nothing was ever heard of the user, nothing waits and nothing is appended: `turn_id`
        and `position` are null.
        """
        with command_refusals_counted(Command.SESSION_END):
            caller = await authenticate(bearer_token(request))
            async with bodies.read(request) as content:
                end = read_conversation_end(decode_json(content))
                return _answer(await appender.end_conversation(caller.tenant, end))

    return router


async def _flag(flags: Flags, tenant: str, flag_id: str) -> Flag:
    """Return the flag that an address names.

    Raises:
        UnknownFlag: the tenant has none of that name, or nothing can have such a name.
        ReadModelUnavailable: the read model cannot be asked.
    """
    try:
        named = UUID(flag_id)
    except ValueError:
        raise unknown_flag() from None
    flag = await flags.get(tenant, named)
    if flag is None:
        raise unknown_flag()
    return flag


def _answer(appended: Appended | None) -> Response:
    return JSONResponse(
        {
            "turn_id": None if appended is None else str(appended.turn_id),
            "position": None if appended is None else appended.position,
        },
        status_code=HTTPStatus.ACCEPTED,
    )


def _accepted(summary: str, body: type[Body]) -> dict[str, Any]:
    return {
        "status_code": HTTPStatus.ACCEPTED,
        "summary": summary,
        "openapi_extra": {"requestBody": documented_body(body)},
    }
