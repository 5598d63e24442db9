"""The HTTP routes that ask: recall and the listing of memories."""

# Annotations are not postponed here: FastAPI evaluates those of functions inside a function.

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from projections.injection import Injection, headers_of, injection
from projections.memories import LIMIT_DEFAULT as PAGE_DEFAULT
from projections.memories import LIMIT_MAX as PAGE_MAX
from projections.memories import Memories, MemoryPage
from projections.moments import read_moment
from projections.question_body import documented_question, read_question
from projections.recall import (
    BUDGET_TOKENS_MAX,
    LIMIT_DEFAULT,
    LIMIT_MAX,
    QUERY_CHARACTERS_MAX,
    EmptyReason,
    Explanation,
    LeftOut,
    Recall,
    RecalledMemory,
    RecallResult,
    TokenUse,
)
from projections.recall_log import Asked
from schemas.http_body import JsonBodies
from schemas.http_query import require_plain_query
from schemas.injection import InjectionForm
from schemas.text import clean_user_id
from schemas.withholding import WithheldReason

REQUEST_BYTES_MAX: Final = 128 * 1024
"""Holds the longest question and user id with every character escaped."""

HELD_BYTES_MAX: Final = 8 * 1024 * 1024
"""The most bytes of all questions that are read or answered at one time: 64 of the longest."""

Authenticate = Callable[[Request], Awaitable[str]]
"""Returns the tenant of a request's API key, or raises ``InvalidApiKey``."""

FindSubject = Callable[[str, str], Awaitable[UUID | None]]
"""Returns the subject of a tenant's user, ``None`` where there is none.

Raises ``UnknownTenant`` or ``KeyringUnavailable``: neither is ever answered as "none stored".
"""

IsPaused = Callable[[str, str], Awaitable[bool]]
"""Tells whether a tenant's user has paused memory; raises likewise."""


async def nobody_paused(_tenant: str, _user_id: str) -> bool:
    """Tell that no user has paused memory: for where no keyring knows of pauses."""
    return False


OnServed = Callable[[UUID | None, RecallResult, Asked], None]
"""Is told what was served to a subject; returns at once and never fails."""


def nobody_told(_subject: UUID | None, _result: RecallResult, _asked: Asked) -> None:
    """Keep nothing of what was served: for where it is not recorded."""


class RecallBody(BaseModel):
    """A question. Which tenant asks follows from the API key alone."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    user_id: str = Field(description="Whose memories.")
    query: str = Field(
        description=f"The question, not blank, at most {QUERY_CHARACTERS_MAX} characters."
    )
    limit: int = Field(
        default=LIMIT_DEFAULT,
        ge=1,
        le=LIMIT_MAX,
        description="The most memories that the question brings; what is served whatever is asked "
        "comes on top.",
    )
    budget_tokens: int | None = Field(
        default=None,
        ge=1,
        le=BUDGET_TOKENS_MAX,
        description="The most tokens of the notes; by default the policy's.",
    )
    min_similarity: float | None = Field(
        default=None,
        ge=-1,
        le=1,
        description="Absolute cosine threshold; by default the embedder's own.",
    )
    at_least: str | None = Field(
        default=None,
        description="A position that POST /v1/turns answered: wait until the user's turns up to it "
        "are processed. Answered with 504 where that takes too long.",
    )
    as_of: str | None = Field(
        default=None,
        description="What was true at this moment: ISO 8601 with its zone, or a date alone, which "
        "means its end in UTC.",
    )
    known_at: str | None = Field(
        default=None, description="What the ledger knew at this moment; told likewise."
    )
    explain: bool = Field(default=False, description="Tell why this was served.")
    incognito: bool = Field(
        default=False,
        description="Whether it is asked in an incognito chat: then nothing is served, and nothing "
        "of the question is looked at or kept.",
    )
    format: InjectionForm = Field(
        default=InjectionForm.TEXT,
        # Its names are texts, which a strict model would not take for them.
        strict=False,
        description="How `injection` hands the notes over: as a block of text or of XML, or as a "
        "message for the middle of the messages of Anthropic's or OpenAI's interface.",
    )


class MemoriesQuery(BaseModel):
    """What to list."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    user_id: str = Field(description="Whose memories.")
    history: bool = Field(
        default=False,
        description="Also what was superseded, retracted, merged or has expired.",
    )
    as_of: str | None = Field(
        default=None,
        description="What was true at this moment: ISO 8601 with its zone, or a date alone, which "
        "means its end in UTC.",
    )
    cursor: str | None = Field(default=None, description="next_cursor of the page before.")
    limit: int = Field(
        default=PAGE_DEFAULT, ge=1, le=PAGE_MAX, description="The most memories of a page."
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallAnswer:
    """A recall as it is answered over HTTP; see :class:`~projections.recall.RecallResult`.

    Attributes:
        format: how the notes are handed over.
        injection: the memories as notes for a prompt, as ``format`` has them: a block, empty where
            there are none; or a message that holds the block, null where there are none.
        injection_headers: headers that a request needs in which the message stands.
        reason: why the question brought none; where it is that nothing was to be recalled, there is
            no ``recall_id``, ``policy``, ``generation``, ``position`` and ``tokens`` either.
    """

    recall_id: UUID | None
    memories: tuple[RecalledMemory, ...]
    format: InjectionForm
    injection: Injection
    injection_headers: Mapping[str, str]
    reason: EmptyReason | WithheldReason | None
    unsearchable: int
    policy: str | None
    generation: str | None
    position: str | None
    left_out: LeftOut
    tokens: TokenUse | None
    explanation: Explanation | None


def query_router(
    *,
    recall: Recall,
    memories: Memories,
    authenticate: Authenticate,
    find_subject: FindSubject,
    is_paused: IsPaused = nobody_paused,
    on_served: OnServed = nobody_told,
) -> APIRouter:
    """Return the router of ``POST /v1/recall`` and ``GET /v1/memories``.

    A user of the tenant of whom nothing was ever heard is answered like one of whom nothing is
    stored. Errors are raised as they are: the application answers them as problem details, see
    :func:`schemas.http.install_problem_handlers`.

    Args:
        recall: answers questions.
        memories: lists memories.
        authenticate: tells the tenant of a request.
        find_subject: tells the subject of a tenant's user.
        is_paused: tells whether a tenant's user has paused memory.
        on_served: is told what was served.
    """
    router = APIRouter()
    bodies = JsonBodies(
        bytes_max=REQUEST_BYTES_MAX, held_bytes_max=HELD_BYTES_MAX, remedy="send a shorter question"
    )

    @router.post(
        "/v1/recall",
        summary="Recall what is known of a user that bears on a question",
        openapi_extra={"requestBody": documented_question(RecallBody)},
    )
    async def post_recall(
        request: Request, tenant: Annotated[str, Depends(authenticate)]
    ) -> RecallAnswer:
        """Serve what is served whatever is asked, then what bears on the question, the best first.

        Where the question brings nothing, `reason` tells `none_stored`, `none_above_threshold`,
        `none_searchable` and `none_within_budget` apart. In an `incognito` chat, and for a user who
        has `paused` memory, nothing is served, embedded or kept.
        """
        async with bodies.read(request) as content:
            body = read_question(content, RecallBody, needs="user_id and query")
            user_id = clean_user_id(body.user_id)
            if body.incognito:
                return _withheld(WithheldReason.INCOGNITO, body.format)
            if await is_paused(tenant, user_id):
                return _withheld(WithheldReason.PAUSED, body.format)
            subject = await find_subject(tenant, user_id)
            asked = _beside(body)
            result = await recall.recall(
                subject,
                body.query,
                tenant=tenant,
                limit=body.limit,
                min_similarity=body.min_similarity,
                budget_tokens=body.budget_tokens,
                as_of=asked.as_of,
                known_at=asked.known_at,
                at_least=body.at_least,
                explain=body.explain,
            )
        on_served(subject, result, asked)
        return RecallAnswer(
            recall_id=result.recall_id,
            memories=result.memories,
            format=body.format,
            injection=injection(result.memories, body.format),
            injection_headers=headers_of(body.format),
            reason=result.reason,
            unsearchable=result.unsearchable,
            policy=result.policy,
            generation=result.generation,
            position=result.position,
            left_out=result.left_out,
            tokens=result.tokens,
            explanation=result.explanation,
        )

    @router.get("/v1/memories", summary="List what is stored of a user")
    async def get_memories(
        request: Request,
        tenant: Annotated[str, Depends(authenticate)],
        asked: Annotated[MemoriesQuery, Query()],
    ) -> MemoryPage:
        """List memories, the latest recorded first, each with the words that caused it."""
        require_plain_query(request.scope["query_string"])
        return await memories.list_memories(
            await find_subject(tenant, clean_user_id(asked.user_id)),
            history=asked.history,
            as_of=None if asked.as_of is None else read_moment("as_of", asked.as_of),
            cursor=asked.cursor,
            limit=asked.limit,
        )

    return router


def _withheld(reason: WithheldReason, form: InjectionForm) -> RecallAnswer:
    """Return the answer where nothing is to be recalled: it has no id, since nothing is kept."""
    return RecallAnswer(
        recall_id=None,
        memories=(),
        format=form,
        injection=injection((), form),
        injection_headers=headers_of(form),
        reason=reason,
        unsearchable=0,
        policy=None,
        generation=None,
        position=None,
        left_out=LeftOut(),
        tokens=None,
        explanation=None,
    )


def _beside(body: RecallBody) -> Asked:
    """Return what is asked beside the question.

    Raises:
        InvalidInput: a moment is none.
    """
    return Asked(
        form=body.format,
        as_of=None if body.as_of is None else read_moment("as_of", body.as_of),
        known_at=None if body.known_at is None else read_moment("known_at", body.known_at),
    )
