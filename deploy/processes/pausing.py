"""The HTTP routes by which a user's memory is paused and resumed."""

# Annotations are not postponed here: FastAPI evaluates those of functions inside a function.

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Protocol

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from producers.bodies import Body, documented_body, read_body
from schemas.http_body import JsonBodies
from schemas.http_query import require_plain_query
from schemas.json_text import decode_json
from schemas.keyring import Pause
from schemas.text import clean_user_id

REQUEST_BYTES_MAX: Final = 16 * 1024
"""Holds the longest user id with every character escaped."""

HELD_BYTES_MAX: Final = 1024 * 1024
"""The most bytes of all such bodies that are in work at one time: each waits for a lease."""

Authenticate = Callable[[Request], Awaitable[str]]
"""Returns the tenant of a request's API key, or raises ``InvalidApiKey``."""

FindPause = Callable[[str, str], Awaitable[Pause]]
"""Returns whether a tenant's user has paused; raises ``UnknownTenant``, ``KeyringUnavailable``."""


class SetPaused(Protocol):
    """Pauses or resumes a tenant's user, as :meth:`schemas.keyring.Keyring.set_paused` does."""

    async def __call__(self, tenant: str, user_id: str, *, paused: bool) -> Pause:
        """Return the user's state once every process knows of it."""
        ...


class PauseBody(Body):
    """Whether a user's memory is to be paused as JSON."""

    user_id: Annotated[str, Field(description="Whose: any text of 1 to 512 characters, opaque.")]
    paused: Annotated[bool, Field(description="true to pause, false to resume.")]


class PauseQuery(BaseModel):
    """Whose pause to show."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    user_id: str = Field(description="Whose.")


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownPause:
    """Whether a user has paused memory.

    Attributes:
        user_id: the user, in normal form C.
        paused: whether.
        since: since when; null where it is not paused.
    """

    user_id: str
    paused: bool
    since: datetime | None


def pause_router(
    *, authenticate: Authenticate, pause: FindPause, set_paused: SetPaused
) -> APIRouter:
    """Return the router of ``GET`` and ``PUT /v1/pause``.

    Args:
        authenticate: tells the tenant of a request.
        pause: tells whether a tenant's user has paused.
        set_paused: pauses and resumes.
    """
    router = APIRouter()
    bodies = JsonBodies(
        bytes_max=REQUEST_BYTES_MAX, held_bytes_max=HELD_BYTES_MAX, remedy="send less"
    )
    documented: dict[str, Any] = {"requestBody": documented_body(PauseBody)}

    @router.put("/v1/pause", summary="Pause or resume a user's memory", openapi_extra=documented)
    async def put_pause(
        request: Request, tenant: Annotated[str, Depends(authenticate)]
    ) -> ShownPause:
        """Pause or resume; answered, after half a second, once every gateway holds to it.

        While it is paused, turns of the user are not appended and nothing is recalled for them.
        What is stored stays, and can be listed, corrected and deleted. The same again changes
        nothing.
        """
        async with bodies.read(request) as content:
            asked = read_body(decode_json(content), PauseBody, whole="request")
            user_id = clean_user_id(asked.user_id)
            return _shown(user_id, await set_paused(tenant, user_id, paused=asked.paused))

    @router.get("/v1/pause", summary="Tell whether a user has paused memory")
    async def get_pause(
        request: Request,
        tenant: Annotated[str, Depends(authenticate)],
        asked: Annotated[PauseQuery, Query()],
    ) -> ShownPause:
        """Tell whether a user has paused memory; one who was never heard of has not."""
        require_plain_query(request.scope["query_string"])
        user_id = clean_user_id(asked.user_id)
        return _shown(user_id, await pause(tenant, user_id))

    return router


def _shown(user_id: str, state: Pause) -> ShownPause:
    since = None if state.since is None else state.since.astimezone(UTC)
    return ShownPause(user_id=user_id, paused=state.paused, since=since)
