"""All that a user may reach with a token of their own: the page, and its data under /v1/me."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from uuid import UUID

from fastapi import FastAPI, Request

from deploy.processes.own_user import Admit, own_user_router, page_holder
from deploy.processes.page import page_routes
from deploy.processes.user_tokens import UserTokenHolders
from producers.curations import CurationAppender
from producers.own_routes import own_curation_router
from projections.export import Export
from projections.export_routes import export_router
from projections.memories import Memories
from projections.memory_search import MemorySearch
from projections.own_routes import own_router
from projections.own_summary_routes import own_summary_router
from projections.read_model import ReadModel
from projections.summaries import PostgresSummaries
from projections.turns import PostgresTurns
from schemas.keyring import Keyring
from schemas.user_tokens import UserTokens


@dataclass(frozen=True, kw_only=True, slots=True)
class PageDoor:
    """What the door needs of the gateway.

    Attributes:
        tokens: verify user tokens.
        keyring: knows API keys, subjects and pauses.
        read_model: the generation's tables.
        curations: appends what persons decide.
        partitions: how many partitions the topics have.
        admit: counts a request of a tenant's.
        authenticate: tells the tenant of a request with an API key.
        find_subject: tells the subject of a tenant's user.
    """

    tokens: UserTokens
    keyring: Keyring
    read_model: ReadModel
    curations: CurationAppender
    partitions: int
    admit: Admit
    authenticate: Callable[[Request], Awaitable[str]]
    find_subject: Callable[[str, str], Awaitable[UUID | None]]


def add_page_door(app: FastAPI, door: PageDoor) -> None:
    """Add the page, its data, and the export that the page shares with the holders of API keys."""
    memories = Memories(door.read_model)
    export = Export.of(door.read_model)
    holder = page_holder(UserTokenHolders(door.tokens, door.keyring), door.admit)
    app.include_router(
        own_user_router(holder=holder, pause=door.keyring.pause, set_paused=door.keyring.set_paused)
    )
    app.include_router(
        own_router(
            memories=memories,
            search=MemorySearch(memories, generation=door.read_model.generation),
            export=export,
            turns=PostgresTurns(door.read_model, partitions=door.partitions),
            holder=holder,
            find_subject=door.find_subject,
        )
    )
    app.include_router(
        own_summary_router(
            summaries=PostgresSummaries(door.read_model),
            holder=holder,
            find_subject=door.find_subject,
        )
    )
    app.include_router(own_curation_router(door.curations, holder))
    app.include_router(
        export_router(export=export, authenticate=door.authenticate, find_subject=door.find_subject)
    )
    app.routes.extend(page_routes())
