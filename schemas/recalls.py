"""The record of what a recall served: enough to write the same block again, and no word of it."""

from __future__ import annotations

import hashlib
import hmac
from typing import Final
from uuid import UUID

from pydantic import Field

from schemas.injection import InjectionForm
from schemas.memory import Record, UtcDatetime

DIGEST_BYTES: Final = 32  # of SHA-256

MEMORIES_MAX: Final = 1_000
"""The most memories of one record: ten times what a recall may serve."""


class ServedMemory(Record):
    """A memory that was served.

    Attributes:
        memory_id: the version. What it says, of whom and since when never changes.
        score: how near the policy held it to be; ``None`` where it was not compared.
        until: the date until when it held, as its note told it; ``None`` where it told none. It
            may have been learnt, or moved, since.
    """

    memory_id: UUID
    score: float | None = Field(allow_inf_nan=False)
    until: str | None = Field(max_length=10)


class ServedRecall(Record):
    """What one recall served.

    Attributes:
        recall_id: the recall, as it was answered.
        served_at: when.
        generation: the generation that was asked.
        policy: the name of the rule that chose.
        reason: why nothing was served; ``None`` where something was.
        form: how the notes were handed over.
        template: the version of how the block is written.
        budget_tokens: how many tokens there was room for, where that was told.
        as_of, known_at: the moments that were asked for.
        memories: what was served, in order.
        digest: of the block, under a secret of the subject; see :func:`block_digest`.
    """

    recall_id: UUID
    served_at: UtcDatetime
    generation: str = Field(max_length=31)
    policy: str = Field(max_length=200)
    reason: str | None = Field(max_length=64)
    form: InjectionForm
    template: int = Field(ge=1, lt=2**15)
    budget_tokens: int | None = Field(ge=0, lt=2**31)
    as_of: UtcDatetime | None
    known_at: UtcDatetime | None
    memories: tuple[ServedMemory, ...] = Field(max_length=MEMORIES_MAX)
    digest: bytes = Field(min_length=DIGEST_BYTES, max_length=DIGEST_BYTES)


def block_digest(id_secret: bytes, recall_id: UUID, block: str) -> bytes:
    """Return the digest by which a block is known again.

    It is bound to the recall and made under the subject's secret: whoever has the digest alone
    cannot try what a memory said that was forgotten since.

    Args:
        id_secret: the subject's 32-byte secret.
        recall_id: the recall.
        block: the block, as a model read it.
    """
    message = b"recall-block" + recall_id.bytes + block.encode()
    return hmac.digest(id_secret, message, hashlib.sha256)
