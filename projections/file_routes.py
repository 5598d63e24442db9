"""The HTTP routes that list users' files."""

# Annotations are not postponed here: FastAPI evaluates those of functions inside a function.

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from projections.files.listings import (
    LIMIT_DEFAULT,
    LIMIT_MAX,
    UNREAD_DAYS_MAX,
    FileHistoryPage,
    FileListings,
    FilePage,
)
from projections.routes import Authenticate, FindSubject
from schemas.errors import UnknownFile
from schemas.http_query import require_plain_query
from schemas.text import clean_user_id

_VERSION_MAX = 2**31 - 1  # an integer of 4 bytes


class FilesQuery(BaseModel):
    """Which files to list."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    user_id: str = Field(description="Whose files.")
    unread_days: int | None = Field(
        default=None,
        ge=1,
        le=UNREAD_DAYS_MAX,
        description="Only those that were neither read nor written for so many days.",
    )
    cursor: str | None = Field(default=None, description="next_cursor of the page before.")
    limit: int = Field(
        default=LIMIT_DEFAULT, ge=1, le=LIMIT_MAX, description="The most files of a page."
    )


class FileHistoryQuery(BaseModel):
    """Whose history to list."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    user_id: str = Field(description="Whose files.")
    path: str | None = Field(
        default=None, description="Only of the files that ever lay there, wherever they lie now."
    )
    cursor: str | None = Field(default=None, description="next_cursor of the page before.")
    limit: int = Field(
        default=LIMIT_DEFAULT, ge=1, le=LIMIT_MAX, description="The most entries of a page."
    )


class FileContentQuery(BaseModel):
    """Which file to show."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    user_id: str = Field(description="Whose file.")
    path: str = Field(description="Where it lies; with a version, where it lay last.")
    version: int | None = Field(
        default=None, ge=1, le=_VERSION_MAX, description="A version of its history."
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class FileContent:
    """What a file holds.

    Attributes:
        path: where it lies, as it was asked for.
        version: the version that was asked for; ``None`` for what is there now.
        content: what it holds.
    """

    path: str
    version: int | None
    content: str


def file_router(
    *, listings: FileListings, authenticate: Authenticate, find_subject: FindSubject
) -> APIRouter:
    """Return the router of ``GET /v1/files``, ``/v1/files/history`` and ``/v1/files/content``.

    Args:
        listings: lists files.
        authenticate: tells the tenant of a request.
        find_subject: tells the subject of a tenant's user.
    """
    router = APIRouter()

    @router.get("/v1/files", summary="List the files that assistants keep about a user")
    async def get_files(
        request: Request,
        tenant: Annotated[str, Depends(authenticate)],
        asked: Annotated[FilesQuery, Query()],
    ) -> FilePage:
        """List files in order of their paths, with when each was read last.

        With `unread_days` only those that nobody read or wrote for so long: proposals for tidying.
        """
        require_plain_query(request.scope["query_string"])
        return await listings.page(
            await find_subject(tenant, clean_user_id(asked.user_id)),
            unread_days=asked.unread_days,
            cursor=asked.cursor,
            limit=asked.limit,
        )

    @router.get("/v1/files/history", summary="List what became of a user's files")
    async def get_history(
        request: Request,
        tenant: Annotated[str, Depends(authenticate)],
        asked: Annotated[FileHistoryQuery, Query()],
    ) -> FileHistoryPage:
        """List what was created, edited, renamed and deleted, the latest first."""
        require_plain_query(request.scope["query_string"])
        return await listings.history(
            await find_subject(tenant, clean_user_id(asked.user_id)),
            path=asked.path,
            cursor=asked.cursor,
            limit=asked.limit,
        )

    @router.get("/v1/files/content", summary="Show what a user's file holds")
    async def get_content(
        request: Request,
        tenant: Annotated[str, Depends(authenticate)],
        asked: Annotated[FileContentQuery, Query()],
    ) -> FileContent:
        """Show a file, or one of its versions. It does not count as read by an assistant."""
        require_plain_query(request.scope["query_string"])
        content = await listings.content(
            await find_subject(tenant, clean_user_id(asked.user_id)),
            asked.path,
            version=asked.version,
        )
        if content is None:
            raise UnknownFile(
                "the user has no such file, or no such version of it is kept: take a path from "
                "GET /v1/files, a version from GET /v1/files/history"
            )
        return FileContent(path=asked.path, version=asked.version, content=content)

    return router
