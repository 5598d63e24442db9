"""The HTTP route by which users see the summaries of their own chat sessions."""

# Annotations are not postponed here: FastAPI evaluates those of functions inside a function.

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from projections.own_routes import Holder, keep_nowhere
from projections.routes import FindSubject
from projections.summaries import (
    SUMMARIES_DEFAULT,
    SUMMARIES_MAX,
    PostgresSummaries,
    SummaryPage,
)
from schemas.http_query import require_plain_query
from schemas.user_tokens import UserToken


class SummaryPageQuery(BaseModel):
    """Which page of the summaries."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cursor: str | None = Field(default=None, description="next_cursor of the page before.")
    limit: int = Field(
        default=SUMMARIES_DEFAULT,
        ge=1,
        le=SUMMARIES_MAX,
        description="The most summaries of a page.",
    )


def own_summary_router(
    *, summaries: PostgresSummaries, holder: Holder, find_subject: FindSubject
) -> APIRouter:
    """Return the router of ``GET /v1/me/summaries``.

    Args:
        summaries: lists what sessions came to.
        holder: tells whose token a request carries.
        find_subject: tells the subject of a tenant's user.
    """
    router = APIRouter(dependencies=[Depends(keep_nowhere)])

    @router.get("/v1/me/summaries", summary="List what your chats came to")
    async def list_own_summaries(
        request: Request,
        user: Annotated[UserToken, Depends(holder)],
        asked: Annotated[SummaryPageQuery, Query()],
    ) -> SummaryPage:
        """List the summaries of your chat sessions, the latest first."""
        require_plain_query(request.scope["query_string"])
        subject = await find_subject(user.tenant, user.user_id)
        return await summaries.page(subject, cursor=asked.cursor, limit=asked.limit)

    return router
