"""The HTTP routes by which users correct, pin and delete what is remembered of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Final

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import Response

from producers.bodies import Body, read_body
from producers.command_routes import HELD_BYTES_MAX, REQUEST_BYTES_MAX, accepted, answer
from producers.curations import CurationAppender
from producers.curations_input import (
    CorrectionInput,
    DeletionInput,
    clean_correction,
    clean_deletion,
)
from producers.metrics import Command, command_refusals_counted
from schemas.http_body import JsonBodies
from schemas.http_query import require_no_query
from schemas.json_text import decode_json
from schemas.memory import CONTENT_CHARACTERS_MAX
from schemas.user_tokens import UserToken

ACTOR: Final = "the user"
"""Who decided, as the log tells it: the holder of a token is the user whose memory it is."""

Holder = Callable[[Request], Awaitable[UserToken]]
"""Returns whose token a request carries; raises ``InvalidUserToken`` or ``KeyringUnavailable``."""


class OwnCorrectionBody(Body):
    """What a memory of the caller's own is to be as JSON; what is left out stays as it is."""

    content: Annotated[
        str | None,
        Field(
            description="What it should have said, not blank; at most "
            f"{CONTENT_CHARACTERS_MAX} characters."
        ),
    ] = None
    pinned: Annotated[bool | None, Field(description="Whether it is served whatever is asked.")] = (
        None
    )


def own_curation_router(curations: CurationAppender, holder: Holder) -> APIRouter:
    """Return the router of ``PATCH`` and ``DELETE /v1/me/memories/{memory_id}``.

    Args:
        curations: appends what persons decide.
        holder: tells whose token a request carries; nothing else tells whose memory is meant.
    """
    router = APIRouter()
    bodies = JsonBodies(
        bytes_max=REQUEST_BYTES_MAX, held_bytes_max=HELD_BYTES_MAX, remedy="send less"
    )

    @router.patch(
        "/v1/me/memories/{memory_id}", **accepted("Correct a memory of yours", OwnCorrectionBody)
    )
    async def correct_own(memory_id: str, request: Request) -> Response:
        """Append what a memory of yours should have been, or whether it is pinned.

        What became of it, `GET /v1/me/turns/{turn_id}` tells.
        """
        with command_refusals_counted(Command.CURATION):
            user = await holder(request)
            require_no_query(request.scope["query_string"])
            async with bodies.read(request) as content:
                asked = read_body(decode_json(content), OwnCorrectionBody, whole="body")
                told = clean_correction(
                    CorrectionInput(
                        user_id=user.user_id,
                        content=asked.content,
                        pinned=asked.pinned,
                        actor=ACTOR,
                    )
                )
                return answer(await curations.correct(user.tenant, memory_id, told))

    @router.delete("/v1/me/memories/{memory_id}", **accepted("Delete a memory of yours", None))
    async def delete_own(memory_id: str, request: Request) -> Response:
        """Append that a memory of yours is to be deleted, with every version of it.

        What became of it, `GET /v1/me/turns/{turn_id}` tells.
        """
        with command_refusals_counted(Command.CURATION):
            user = await holder(request)
            require_no_query(request.scope["query_string"])
            told = clean_deletion(DeletionInput(user_id=user.user_id, actor=ACTOR))
            return answer(await curations.delete(user.tenant, memory_id, told))

    return router
