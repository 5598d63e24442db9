"""The HTTP route that shows the flag queue to a tenant's staff."""

# Annotations are not postponed here: FastAPI evaluates those of functions inside a function.

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from projections.flags import LIMIT_DEFAULT, LIMIT_MAX, FlagPage, PostgresFlags
from projections.routes import Authenticate, FindSubject
from schemas.events import RejectionReason
from schemas.flags import Flag, FlagState, Verdict
from schemas.http_query import require_plain_query
from schemas.proposals import Operation
from schemas.text import clean_user_id

UserIds = Callable[[Collection[UUID]], Awaitable[Mapping[UUID, str]]]
"""Returns the user ids of subjects; those that are erased are left out.

Raises ``KeyMissing`` or ``KeyringUnavailable``.
"""


class FlagsQuery(BaseModel):
    """Which flags to list."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    state: FlagState = Field(
        default=FlagState.OPEN, description="What became of them: open, approved or refused."
    )
    user_id: str | None = Field(
        default=None, description="Whose; without it, those of every user of the tenant."
    )
    cursor: str | None = Field(default=None, description="next_cursor of the page before.")
    limit: int = Field(
        default=LIMIT_DEFAULT, ge=1, le=LIMIT_MAX, description="The most flags of a page."
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownFlag:
    """A flag as staff sees it; see :class:`~schemas.flags.Flag`.

    Attributes:
        user_id: whose memory it would change.
    """

    flag_id: UUID
    user_id: str
    state: FlagState
    reasons: tuple[RejectionReason, ...]
    operation: Operation
    turn_id: UUID
    conversation_id: str
    said_at: datetime
    utc_offset_minutes: int
    flagged_at: datetime
    verdict: Verdict | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownFlags:
    """A page of the queue; see :class:`~projections.flags.FlagPage`."""

    flags: tuple[ShownFlag, ...]
    next_cursor: str | None
    generation: str


def flag_router(
    *,
    flags: PostgresFlags,
    authenticate: Authenticate,
    find_subject: FindSubject,
    user_ids: UserIds,
) -> APIRouter:
    """Return the router of ``GET /v1/flags``.

    Args:
        flags: the queue.
        authenticate: tells the tenant of a request.
        find_subject: tells the subject of a tenant's user.
        user_ids: tells whose flags these are.
    """
    router = APIRouter()

    @router.get("/v1/flags", summary="List what was left to a person")
    async def get_flags(
        request: Request,
        tenant: Annotated[str, Depends(authenticate)],
        asked: Annotated[FlagsQuery, Query()],
    ) -> ShownFlags:
        """List flags: those that wait, the longest waiting first; others, the latest first.

        A page may hold fewer than `limit` before the last: what was flagged of users who were
        erased since is left out.
        """
        require_plain_query(request.scope["query_string"])
        subject = None
        if asked.user_id is not None:
            subject = await find_subject(tenant, clean_user_id(asked.user_id))
            if subject is None:
                return ShownFlags(flags=(), next_cursor=None, generation=flags.generation)
        page = await flags.page(
            tenant, state=asked.state, subject=subject, cursor=asked.cursor, limit=asked.limit
        )
        return _shown(page, await user_ids({flag.subject for flag in page.flags}))

    return router


def _shown(page: FlagPage, users: Mapping[UUID, str]) -> ShownFlags:
    return ShownFlags(
        flags=tuple(
            _shown_flag(flag, users[flag.subject]) for flag in page.flags if flag.subject in users
        ),
        next_cursor=page.next_cursor,
        generation=page.generation,
    )


def _shown_flag(flag: Flag, user_id: str) -> ShownFlag:
    return ShownFlag(
        flag_id=flag.flag_id,
        user_id=user_id,
        state=flag.state,
        reasons=flag.reasons,
        operation=flag.operation,
        turn_id=flag.turn_id,
        conversation_id=flag.conversation_id,
        said_at=flag.said_at,
        utc_offset_minutes=flag.utc_offset_minutes,
        flagged_at=flag.flagged_at,
        verdict=flag.verdict,
    )
