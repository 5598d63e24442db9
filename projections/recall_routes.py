"""The HTTP route that tells what a recall served."""

# Annotations are not postponed here: FastAPI evaluates those of functions inside a function.

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from projections.recalls import PostgresRecalls, RecallAccount, unknown_recall
from projections.routes import Authenticate, FindSubject
from schemas.http_query import require_plain_query
from schemas.text import clean_user_id


class ServedQuery(BaseModel):
    """Whose recall to show."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    user_id: str = Field(description="Whose memories it served.")


def recall_router(
    *, recalls: PostgresRecalls, authenticate: Authenticate, find_subject: FindSubject
) -> APIRouter:
    """Return the router of ``GET /v1/recalls/{recall_id}``.

    Args:
        recalls: knows what was served.
        authenticate: tells the tenant of a request.
        find_subject: tells the subject of a tenant's user.
    """
    router = APIRouter()

    @router.get("/v1/recalls/{recall_id}", summary="Show what a recall served")
    async def get_recall(
        request: Request,
        recall_id: str,
        tenant: Annotated[str, Depends(authenticate)],
        asked: Annotated[ServedQuery, Query()],
    ) -> RecallAccount:
        """Show which memories a recall served, by which policy, and the very notes that it gave.

        Where one of the memories was deleted or forgotten since, that is told instead of the notes.
        """
        require_plain_query(request.scope["query_string"])
        subject = await find_subject(tenant, clean_user_id(asked.user_id))
        try:
            named = UUID(recall_id)
        except ValueError:
            raise unknown_recall() from None
        return await recalls.account(subject, named)

    return router
