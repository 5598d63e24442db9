"""The HTTP route that shows what became of a turn."""

# Annotations are not postponed here: FastAPI evaluates those of functions inside a function.

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from projections.routes import Authenticate, FindSubject
from projections.turns import PostgresTurns, TurnAccount, unknown_turn
from schemas.http_query import require_plain_query
from schemas.text import clean_user_id


class TurnQuery(BaseModel):
    """Whose turn to show."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    user_id: str = Field(description="Whose turn it is.")


def turn_router(
    *, turns: PostgresTurns, authenticate: Authenticate, find_subject: FindSubject
) -> APIRouter:
    """Return the router of ``GET /v1/turns/{turn_id}``.

    Args:
        turns: knows what became of turns.
        authenticate: tells the tenant of a request.
        find_subject: tells the subject of a tenant's user.
    """
    router = APIRouter()

    @router.get("/v1/turns/{turn_id}", summary="Show what became of a turn")
    async def get_turn(
        request: Request,
        turn_id: str,
        tenant: Annotated[str, Depends(authenticate)],
        asked: Annotated[TurnQuery, Query()],
    ) -> TurnAccount:
        """Show how a turn closed, what was noted of it, and what was refused by which rules.

        The same is told of a fact that was remembered, of a decision about a flag, and of the end
        of a session: by the `turn_id` that each was answered with.
        """
        require_plain_query(request.scope["query_string"])
        subject = await find_subject(tenant, clean_user_id(asked.user_id))
        try:
            named = UUID(turn_id)
        except ValueError:
            raise unknown_turn() from None
        return await turns.account(subject, named)

    return router
