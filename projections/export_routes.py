"""The HTTP routes that hand over all that is stored of a user, as one document."""

# Annotations are not postponed here: FastAPI evaluates those of functions inside a function.

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from projections.export import Export, Exported
from projections.routes import Authenticate, FindSubject
from schemas.http_query import require_plain_query
from schemas.text import clean_user_id

FILE_NAME: Final = "memories.json"
"""What a browser calls the document: it does not tell whose memories those are."""


class ExportQuery(BaseModel):
    """Whose memories to hand over."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    user_id: str = Field(description="Whose memories.")


def export_router(
    *, export: Export, authenticate: Authenticate, find_subject: FindSubject
) -> APIRouter:
    """Return the router of ``GET /v1/export``.

    Args:
        export: makes the document.
        authenticate: tells the tenant of a request.
        find_subject: tells the subject of a tenant's user.
    """
    router = APIRouter()

    @router.get("/v1/export", summary="Export all that is kept on a user")
    async def get_export(
        request: Request,
        tenant: Annotated[str, Depends(authenticate)],
        asked: Annotated[ExportQuery, Query()],
    ) -> StreamingResponse:
        """Hand over memories with their history, files, summaries and flags, as one JSON document.

        It is sent while it is read. One that broke off is no JSON: its last member, `complete`, is
        missing.
        """
        require_plain_query(request.scope["query_string"])
        user_id = clean_user_id(asked.user_id)
        subject = await find_subject(tenant, user_id)
        return await exported(export, Exported(tenant=tenant, user_id=user_id, subject=subject))

    return router


async def exported(export: Export, whose: Exported) -> StreamingResponse:
    """Return the answer that streams a user's document.

    Raises:
        ReadModelUnavailable: the read model cannot be reached.
    """
    return StreamingResponse(
        await export.begin(whose),
        media_type="application/json",
        headers={
            "Content-Disposition": f'attachment; filename="{FILE_NAME}"',
            "Cache-Control": "no-store",
        },
    )
