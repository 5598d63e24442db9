"""The HTTP routes that take in decisions about flags and ends of conversations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
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
    read_conversation_end,
    read_decision,
)
from producers.metrics import Command, command_refusals_counted
from producers.subject_records import Appended
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
) -> APIRouter:
    """Return the router of decisions about flags and of ends of conversations.

    Errors are raised as they are: the application answers them as problem details, see
    :func:`schemas.http.install_problem_handlers`.

    Args:
        appender: appends what was accepted.
        flags: finds the flag that a decision is about.
        authenticate: tells the caller of a request; nothing in the body can.
    """
    router = APIRouter()
    bodies = JsonBodies(
        bytes_max=REQUEST_BYTES_MAX, held_bytes_max=HELD_BYTES_MAX, remedy="send less"
    )

    @router.post("/v1/flags/{flag_id}", **accepted("Decide about a flag", DecisionBody))
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
                return answer(await appender.decide(caller.tenant, flag, decision))

    @router.post("/v1/conversations/end", **accepted("End a conversation", ConversationEndBody))
    async def end_conversation(request: Request) -> Response:
        """Append the end of a conversation, on which its turns that wait for it are processed.

        Where nothing was ever heard of the user, nothing waits and nothing is appended: `turn_id`
        and `position` are null.
        """
        with command_refusals_counted(Command.SESSION_END):
            caller = await authenticate(bearer_token(request))
            async with bodies.read(request) as content:
                end = read_conversation_end(decode_json(content))
                return answer(await appender.end_conversation(caller.tenant, end))

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


def answer(appended: Appended | None) -> Response:
    """Return the answer to what was accepted: its id, and where it stands."""
    return JSONResponse(
        {
            "turn_id": None if appended is None else str(appended.turn_id),
            "position": None if appended is None else appended.position,
        },
        status_code=HTTPStatus.ACCEPTED,
    )


def accepted(summary: str, body: type[Body] | None) -> dict[str, Any]:
    """Return what OpenAPI tells of a route that accepts a body, or none."""
    documented = {} if body is None else {"requestBody": documented_body(body)}
    return {
        "status_code": HTTPStatus.ACCEPTED,
        "summary": summary,
        "openapi_extra": documented,
    }
