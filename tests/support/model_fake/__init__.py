"""A fake of the providers of language models, on a real socket, to which the real SDKs talk."""

from __future__ import annotations

from tests.support.model_fake.asked import Asked
from tests.support.model_fake.echo import echo
from tests.support.model_fake.replies import (
    Reply,
    cut_off,
    dripping,
    half_sent,
    item,
    malformed,
    nothing,
    prose_around,
    refused,
    said,
    schema_invalid,
    slowly,
    status,
)
from tests.support.model_fake.server import ModelFake, model_fake, model_fake_in_thread

__all__ = [
    "Asked",
    "ModelFake",
    "Reply",
    "cut_off",
    "dripping",
    "echo",
    "half_sent",
    "item",
    "malformed",
    "model_fake",
    "model_fake_in_thread",
    "nothing",
    "prose_around",
    "refused",
    "said",
    "schema_invalid",
    "slowly",
    "status",
]
