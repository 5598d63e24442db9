"""The HTTP route of what sessions came to."""

# Annotations are not postponed here: FastAPI evaluates those of functions inside a function.

from dataclasses import dataclass
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from projections.routes import Authenticate, FindSubject, IsPaused, nobody_paused
from projections.summaries import (
    SUMMARIES_DEFAULT,
    SUMMARIES_MAX,
    NoSummaries,
    PostgresSummaries,
    SessionSummary,
    Summaries,
)
from schemas.http_query import require_plain_query
from schemas.injection import InjectionForm
from schemas.summaries import WithoutSummary
from schemas.text import clean_identifier, clean_user_id
from schemas.withholding import WithheldReason


class SummaryQuery(BaseModel):
    """Whose sessions, and how the block is written."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    user_id: str = Field(description="Whose sessions.")
    conversation_id: str | None = Field(
        default=None, description="Only those of this conversation; else of all."
    )
    limit: int = Field(
        default=SUMMARIES_DEFAULT,
        ge=1,
        le=SUMMARIES_MAX,
        description="Of how many ends of sessions it is told, the latest.",
    )
    format: Literal["text", "xml"] = Field(
        default="text", description="How the block is written: as text or as XML."
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class SummariesAnswer:
    """What sessions came to, as it is answered; see :class:`~projections.summaries.Summaries`.

    Attributes:
        summaries: the latest first.
        injection: those that are there as a block of notes; empty for none.
        format: how it is written.
        reason: why there is no summary; ``None`` where there is one.
        remaking: whether a worker has to make one again.
    """

    summaries: tuple[SessionSummary, ...]
    injection: str
    format: str
    reason: NoSummaries | WithoutSummary | WithheldReason | None
    remaking: bool


def summary_router(
    *,
    summaries: PostgresSummaries,
    authenticate: Authenticate,
    find_subject: FindSubject,
    is_paused: IsPaused = nobody_paused,
) -> APIRouter:
    """Return the router of ``GET /v1/conversations/summary``.

    Args:
        summaries: reads them.
        authenticate: tells the tenant of a request.
        find_subject: tells the subject of a tenant's user.
        is_paused: tells whether a tenant's user has paused memory.
    """
    router = APIRouter()

    @router.get("/v1/conversations/summary", summary="Show what sessions of a user came to")
    async def get_summaries(
        request: Request,
        tenant: Annotated[str, Depends(authenticate)],
        asked: Annotated[SummaryQuery, Query()],
    ) -> SummariesAnswer:
        """Return the latest summaries of a conversation, or of all, and a block for a prompt.

        Of a user who has paused memory nothing is looked at.
        """
        require_plain_query(request.scope["query_string"])
        user_id = clean_user_id(asked.user_id)
        conversation_id = asked.conversation_id
        if conversation_id is not None:
            conversation_id = clean_identifier("conversation_id", conversation_id)
        paused = await is_paused(tenant, user_id)
        subject: UUID | None = None if paused else await find_subject(tenant, user_id)
        found = (
            _NOTHING
            if subject is None
            else await summaries.latest(
                subject,
                conversation_id=conversation_id,
                limit=asked.limit,
                form=InjectionForm(asked.format),
            )
        )
        return SummariesAnswer(
            summaries=found.summaries,
            injection=found.injection,
            format=asked.format,
            reason=WithheldReason.PAUSED if paused else found.reason,
            remaking=found.remaking,
        )

    return router


_NOTHING = Summaries(summaries=(), injection="", reason=NoSummaries.NONE_MADE, remaking=False)
