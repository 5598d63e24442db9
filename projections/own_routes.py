"""The HTTP routes by which users see what is remembered of them, with a token of their own."""

# Annotations are not postponed here: FastAPI evaluates those of functions inside a function.

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, Depends, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from projections.export import Export, Exported
from projections.export_routes import exported
from projections.memories import LIMIT_DEFAULT, LIMIT_MAX, Memories, MemoryPage, unknown_memory
from projections.memory_search import QUERY_CHARACTERS_MAX, MemorySearch
from projections.question_body import documented_question, read_question
from projections.routes import FindSubject
from projections.turns import PostgresTurns, TurnAccount, unknown_turn
from schemas.http_body import JsonBodies
from schemas.http_query import require_no_query, require_plain_query
from schemas.user_tokens import UserToken

REQUEST_BYTES_MAX: Final = 16 * 1024
"""Holds the longest search with every character escaped, and a cursor."""

HELD_BYTES_MAX: Final = 1024 * 1024
"""The most bytes of all searches that are read or answered at one time."""

Holder = Callable[[Request], Awaitable[UserToken]]
"""Returns whose token a request carries; nothing else of the request tells whose data is meant.

Raises ``InvalidUserToken`` or ``KeyringUnavailable``.
"""


class PageQuery(BaseModel):
    """Which page of a listing."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cursor: str | None = Field(default=None, description="next_cursor of the page before.")
    limit: int = Field(
        default=LIMIT_DEFAULT, ge=1, le=LIMIT_MAX, description="The most memories of a page."
    )


class SearchBody(BaseModel):
    """What to search for. In a body, since addresses are written into logs."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    query: str = Field(
        description=f"Words, at most {QUERY_CHARACTERS_MAX} characters: what holds every one of "
        "them is found."
    )
    cursor: str | None = Field(default=None, description="next_cursor of the page before.")
    limit: int = Field(
        default=LIMIT_DEFAULT, ge=1, le=LIMIT_MAX, description="The most memories of a page."
    )


def own_router(
    *,
    memories: Memories,
    search: MemorySearch,
    export: Export,
    turns: PostgresTurns,
    holder: Holder,
    find_subject: FindSubject,
) -> APIRouter:
    """Return the router of what the holder of a user token may see of that user.

    Args:
        memories: lists what there is, and its history.
        search: searches it for words.
        export: makes one document of it.
        turns: knows what became of changes.
        holder: tells whose token a request carries.
        find_subject: tells the subject of a tenant's user.
    """
    router = APIRouter(dependencies=[Depends(keep_nowhere)])
    bodies = JsonBodies(
        bytes_max=REQUEST_BYTES_MAX, held_bytes_max=HELD_BYTES_MAX, remedy="search for less"
    )
    documented: dict[str, Any] = {"requestBody": documented_question(SearchBody)}

    async def subject_of(
        request: Request, user: Annotated[UserToken, Depends(holder)]
    ) -> UUID | None:
        require_plain_query(request.scope["query_string"])
        return await find_subject(user.tenant, user.user_id)

    async def subject_alone(
        request: Request, subject: Annotated[UUID | None, Depends(subject_of)]
    ) -> UUID | None:
        require_no_query(request.scope["query_string"])
        return subject

    @router.get("/v1/me/memories", summary="List what is remembered of you")
    async def list_own(
        subject: Annotated[UUID | None, Depends(subject_of)],
        asked: Annotated[PageQuery, Query()],
    ) -> MemoryPage:
        """List what holds now, the latest recorded first, each with the words that caused it."""
        return await memories.list_memories(subject, cursor=asked.cursor, limit=asked.limit)

    @router.post("/v1/me/search", summary="Search your memories", openapi_extra=documented)
    async def search_own(
        request: Request,
        subject: Annotated[UUID | None, Depends(subject_alone)],
    ) -> MemoryPage:
        """Find what holds now and has every word, in itself or in the words that caused it.

        A page may be empty and have a `next_cursor`: it looked at as many memories as a page may.
        """
        async with bodies.read(request) as content:
            asked = read_question(content, SearchBody, needs="query")
            return await search.search(subject, asked.query, cursor=asked.cursor, limit=asked.limit)

    @router.get("/v1/me/memories/{memory_id}/history", summary="Show what a memory was")
    async def show_history(
        memory_id: str,
        subject: Annotated[UUID | None, Depends(subject_of)],
        asked: Annotated[PageQuery, Query()],
    ) -> MemoryPage:
        """Show every version of a memory with the words that caused it, the latest first.

        Memories that it was made of by a consolidation are among them.
        """
        try:
            named = UUID(memory_id)
        except ValueError:
            raise unknown_memory() from None
        return await memories.history_of(subject, named, cursor=asked.cursor, limit=asked.limit)

    @router.get("/v1/me/turns/{turn_id}", summary="Show what became of a change of yours")
    async def show_turn(
        turn_id: str,
        subject: Annotated[UUID | None, Depends(subject_alone)],
    ) -> TurnAccount:
        """Show how a change closed, by the `turn_id` that it was answered with."""
        try:
            named = UUID(turn_id)
        except ValueError:
            raise unknown_turn() from None
        return await turns.account(subject, named)

    @router.get("/v1/me/export", summary="Export all that is kept on you")
    async def export_own(
        user: Annotated[UserToken, Depends(holder)],
        subject: Annotated[UUID | None, Depends(subject_alone)],
    ) -> StreamingResponse:
        """Hand over all that is kept on you, as one JSON document."""
        whose = Exported(tenant=user.tenant, user_id=user.user_id, subject=subject)
        return await exported(export, whose)

    return router


async def keep_nowhere(response: Response) -> None:
    """Tell browsers, and whoever stands between, to keep no copy of an answer."""
    response.headers["Cache-Control"] = "no-store"
