"""The HTTP route of a user's profile."""

# Annotations are not postponed here: FastAPI evaluates those of functions inside a function.

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from projections.profile import ProfileMemory, Profiles, ProfileSection
from projections.recalled import TokenUse
from projections.routes import Authenticate, FindSubject, IsPaused, nobody_paused
from schemas.http_query import require_plain_query
from schemas.injection import InjectionForm
from schemas.text import clean_user_id
from schemas.withholding import WithheldReason


class ProfileQuery(BaseModel):
    """Whose profile, and how it is written."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    user_id: str = Field(description="Whose profile.")
    format: Literal["text", "xml"] = Field(
        default="text", description="How it is written: as text or as XML."
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class ProfileAnswer:
    """A profile as it is answered over HTTP; see :class:`~projections.profile.Profile`.

    Attributes:
        profile: the block for a prompt; empty where there is nothing.
        reason: why it is empty although nothing was looked at; ``None`` else.
    """

    profile: str
    format: str
    digest: str
    memories: tuple[ProfileMemory, ...]
    left_out: Mapping[ProfileSection, int]
    tokens: TokenUse
    generation: str
    reason: WithheldReason | None


def profile_router(
    *,
    profiles: Profiles,
    authenticate: Authenticate,
    find_subject: FindSubject,
    is_paused: IsPaused = nobody_paused,
) -> APIRouter:
    """Return the router of ``GET /v1/profile``.

    Args:
        profiles: makes profiles.
        authenticate: tells the tenant of a request.
        find_subject: tells the subject of a tenant's user.
        is_paused: tells whether a tenant's user has paused memory.
    """
    router = APIRouter()

    @router.get("/v1/profile", summary="Show what stands for a user, for the cached prefix")
    async def get_profile(
        request: Request,
        tenant: Annotated[str, Depends(authenticate)],
        asked: Annotated[ProfileQuery, Query()],
    ) -> ProfileAnswer:
        """Return a block of what bears on any conversation, the same until a fact of it changes.

        Of a user who has paused memory nothing is looked at, and the profile is empty.
        """
        require_plain_query(request.scope["query_string"])
        user_id = clean_user_id(asked.user_id)
        paused = await is_paused(tenant, user_id)
        subject = None if paused else await find_subject(tenant, user_id)
        found = await profiles.profile(subject, InjectionForm(asked.format))
        return ProfileAnswer(
            profile=found.block,
            format=asked.format,
            digest=found.digest,
            memories=found.memories,
            left_out=found.left_out,
            tokens=found.tokens,
            generation=found.generation,
            reason=WithheldReason.PAUSED if paused else None,
        )

    return router
