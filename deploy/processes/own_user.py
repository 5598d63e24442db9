"""Whose token a request to ``/v1/me`` carries, and the routes that are about that user as such."""

# Annotations are not postponed here: FastAPI evaluates those of functions inside a function.

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Request
from pydantic import Field

from deploy.processes.pausing import FindPause, SetPaused
from deploy.processes.user_tokens import UserTokenHolders
from producers.bodies import Body, documented_body, read_body
from projections.own_routes import Holder, keep_nowhere
from schemas.errors import InvalidApiKey, InvalidUserToken
from schemas.http import bearer_token
from schemas.http_body import JsonBodies
from schemas.http_query import require_no_query
from schemas.json_text import decode_json
from schemas.keyring import Pause
from schemas.user_tokens import Audience, UserToken

REQUEST_BYTES_MAX: Final = 1024
"""Holds a body that says true or false, with room for blanks."""

HELD_BYTES_MAX: Final = 64 * 1024
"""The most bytes of all such bodies that are in work at one time: each waits for a lease."""

Admit = Callable[[str], None]
"""Counts a request of a tenant's, or raises ``RateLimited``."""


class OwnPauseBody(Body):
    """Whether memory is to be paused as JSON."""

    paused: Annotated[bool, Field(description="true to pause, false to resume.")]


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnUser:
    """Whose token it is, and whether that user has paused memory.

    Attributes:
        user_id: the user, as the chat application names them.
        expires_at: when the token ends.
        paused: whether memory is paused.
        paused_since: since when; null where it is not paused.
    """

    user_id: str
    expires_at: datetime
    paused: bool
    paused_since: datetime | None


def page_holder(
    holders: UserTokenHolders, admit: Admit
) -> Callable[[Request], Awaitable[UserToken]]:
    """Return what tells whose token a request carries; a token of another door is none here.

    Args:
        holders: verify tokens.
        admit: counts the request for the token's tenant.
    """

    async def holder(request: Request) -> UserToken:
        try:
            token = bearer_token(request)
        except InvalidApiKey:
            raise InvalidUserToken(
                "no user token: send the header Authorization: Bearer <token> with one that "
                f"POST /v1/user-tokens made for the audience {Audience.PAGE}"
            ) from None
        said = await holders.holder(token, Audience.PAGE)
        admit(said.tenant)
        return said

    return holder


def own_user_router(*, holder: Holder, pause: FindPause, set_paused: SetPaused) -> APIRouter:
    """Return the router of ``GET /v1/me`` and ``PUT /v1/me/pause``.

    Args:
        holder: tells whose token a request carries.
        pause: tells whether a tenant's user has paused.
        set_paused: pauses and resumes.
    """
    router = APIRouter(dependencies=[Depends(keep_nowhere)])
    bodies = JsonBodies(
        bytes_max=REQUEST_BYTES_MAX, held_bytes_max=HELD_BYTES_MAX, remedy="send less"
    )
    documented: dict[str, Any] = {"requestBody": documented_body(OwnPauseBody)}

    @router.get("/v1/me", summary="Tell whose token it is")
    async def get_me(request: Request, user: Annotated[UserToken, Depends(holder)]) -> OwnUser:
        """Tell whose token it is, until when it is good, and whether memory is paused."""
        require_no_query(request.scope["query_string"])
        return _shown(user, await pause(user.tenant, user.user_id))

    @router.put("/v1/me/pause", summary="Pause or resume your memory", openapi_extra=documented)
    async def put_pause(request: Request, user: Annotated[UserToken, Depends(holder)]) -> OwnUser:
        """Pause or resume; answered, after half a second, once every gateway holds to it.

        While it is paused, turns of yours are not appended and nothing is recalled for you. What is
        stored stays, and can be listed, corrected and deleted. The same again changes nothing.
        """
        require_no_query(request.scope["query_string"])
        async with bodies.read(request) as content:
            asked = read_body(decode_json(content), OwnPauseBody, whole="request")
            state = await set_paused(user.tenant, user.user_id, paused=asked.paused)
            return _shown(user, state)

    return router


def _shown(user: UserToken, state: Pause) -> OwnUser:
    return OwnUser(
        user_id=user.user_id,
        expires_at=user.expires_at,
        paused=state.paused,
        paused_since=None if state.since is None else state.since.astimezone(UTC),
    )
